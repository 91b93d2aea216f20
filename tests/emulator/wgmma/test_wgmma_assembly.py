"""wgmma in inline assembly: A in registers, scale-d at run time, sparse A; against NumPy, exactly."""

from dataclasses import replace

import numpy as np
import pytest
from wgmma_assembly import B_AT, WgmmaKernel, needs_ptxas

from mlir_smem.emulator.tensor_core.arithmetic import multiply_add
from mlir_smem.emulator.tensor_core.multiplicands import MULTIPLICANDS
from mlir_smem.emulator.wgmma.metadata import kept_elements
from mlir_smem.layout import Swizzle
from mlir_smem.layout.swizzle import WIDEST_FIRST

_FLOAT_8, _INTEGER_8 = ("e4m3", "e5m2"), ("s8", "u8")
MIXES = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("tf32", "tf32", "f32"),
    *((a, b, d) for a in _FLOAT_8 for b in _FLOAT_8 for d in ("f32", "f16")),
    *((a, b, "s32") for a in _INTEGER_8 for b in _INTEGER_8),
    ("b1", "b1", "s32"),
]
SPARSE = [mix for mix in MIXES if "b1" not in mix]

#: Values of N, of one and of more register pairs, each with a swizzle of B.
SWIZZLES = list(zip((8, 24, 64, 16), WIDEST_FIRST[::-1], strict=True))


def check(kernel, **options):
    """Check that a kernel computes the exact D."""
    d = kernel.run(**options)
    assert (d == kernel.expected_d(options.get("scale_d", 1))).all()


@pytest.mark.parametrize("mix", MIXES, ids="-".join)
@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
def test_every_mix_of_types(mix, in_registers):
    for n, swizzle in SWIZZLES:
        check(WgmmaKernel(*mix, n=n, in_registers=in_registers, b_swizzle=swizzle))


@pytest.mark.parametrize("mix", SPARSE, ids="-".join)
@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
def test_every_mix_of_types_with_a_sparse_a(mix, in_registers):
    # Three instructions: selectors 0, 1 and 0 of types whose instructions share a word.
    for n, swizzle in SWIZZLES:
        check(
            WgmmaKernel(
                *mix,
                n=n,
                scale_d=(1, 1, 1),
                sparse=True,
                in_registers=in_registers,
                a_swizzle=WIDEST_FIRST[swizzle.value],
                b_swizzle=swizzle,
            )
        )


@needs_ptxas
@pytest.mark.parametrize("mix", MIXES, ids="-".join)
@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
def test_ptxas_accepts_the_same_text(mix, in_registers):
    for sparse in (False, True) if mix in SPARSE else (False,):
        kernel = WgmmaKernel(
            *mix, n=16, scale_d=(1, "$", 1), sparse=sparse, in_registers=in_registers
        )
        kernel.assemble()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("b_swizzle", WIDEST_FIRST, ids=str)
@pytest.mark.parametrize("m_major, in_registers", [(True, False), (False, False), (False, True)])
def test_n_major_and_m_major(m_major, in_registers, b_swizzle, sparse):
    check(
        WgmmaKernel(
            "bf16",
            "bf16",
            "f32",
            n=128,
            scale_d=(1, 1),
            sparse=sparse,
            in_registers=in_registers,
            m_major=m_major,
            n_major=True,
            a_swizzle=Swizzle.B64,
            b_swizzle=b_swizzle,
        )
    )


@pytest.mark.parametrize("signs", [(-1, 1), (1, -1), (-1, -1)])
@pytest.mark.parametrize("mix", [MIXES[0], MIXES[3], MIXES[4]], ids="-".join)
def test_negated(mix, signs):
    check(WgmmaKernel(*mix, signs=signs, in_registers=True))
    check(WgmmaKernel(*mix, signs=signs, sparse=True))


@pytest.mark.parametrize("in_registers", [False, True])
def test_saturation(in_registers):
    kernel = WgmmaKernel("s8", "s8", "s32", in_registers=in_registers, satfinite=True)
    top = 2**31 - 1
    # The accumulator begins at the largest i32.
    limit = (("%d0 = llvm.mlir.zero", "%zero = llvm.mlir.zero"),)
    struct = "!llvm.struct<(i32, i32, i32, i32)>"
    lines = "\n".join(f"%s{i + 1} = llvm.insertvalue %top, %s{i}[{i}] : {struct}" for i in range(4))
    start = f"%top = arith.constant {top} : i32\n%s0 = llvm.mlir.poison : {struct}\n{lines}"
    renamed = "nvvm.wgmma.fence.aligned" if not in_registers else "%l0 = "
    limit += ((renamed, f"{start}\n{renamed}"), ("%d0[", "%s4["))
    d = kernel.run(edit=limit)
    a, b = (matrix.astype(np.int64) for matrix in kernel.matrices)
    once = np.minimum(top + a[:, :32] @ b[:32], top)
    assert (d == np.minimum(once + a[:, 32:] @ b[32:], top)).all()
    wrapped = replace(kernel, satfinite=False).run(edit=limit)
    assert (wrapped == (top + a @ b).astype(np.int32)).all()


# Scale-d at run time.


@pytest.mark.parametrize("value", [0, 1, 2, -7, 1 << 30])
@pytest.mark.parametrize("sparse, in_registers", [(False, False), (False, True), (True, True)])
def test_scale_d_at_run_time(sparse, in_registers, value):
    kernel = WgmmaKernel(
        "f16", "f16", "f32", scale_d=(1, "$"), sparse=sparse, in_registers=in_registers
    )
    check(kernel, scale_d=value)
    whole, half = kernel.expected_d(1), kernel.expected_d(0)
    assert (whole != half).any()


def test_warpgroups_may_scale_differently():
    kernel = WgmmaKernel("bf16", "bf16", "f32", scale_d=(1, "$"), in_registers=True)
    products = kernel.run(threads=256, scale_d=np.repeat([0, 3], 128))
    assert (products[0] == kernel.expected_d(0)).all()
    assert (products[1] == kernel.expected_d(1)).all()


@pytest.mark.parametrize("d", ["f32", "f16"])
@pytest.mark.parametrize("scale_d", [(0, 1), ("$", 1)])
def test_poison_accumulator_that_is_not_read(d, scale_d):
    check(WgmmaKernel("f16", "f16", d, scale_d=scale_d, start="poison"), scale_d=0)


def test_results_over_poison_have_the_accumulators_type():
    kernel = WgmmaKernel("f16", "f16", "f32", scale_d=(0,), start="poison")
    edit = tuple(
        (f"memref.store %r{r},", f"%n{r} = arith.negf %r{r} : f32\nmemref.store %n{r},")
        for r in range(4)
    )
    assert (kernel.run(edit=edit) == -kernel.expected_d()).all()


# Sparse arithmetic.


def test_pruned_elements_are_not_multiplied():
    kernel = WgmmaKernel("bf16", "bf16", "f32", sparse=True, scale_d=(1,))
    a, b = kernel.matrices
    b[2] = np.inf
    a[:, 0:2] = 1
    a[:, 2:4] = 0
    assert (kernel.stored_a[1] & 15 == 4).any()
    d = kernel.run()
    assert np.isfinite(d).all()
    b[2] = 0
    assert (d == kernel.expected_d()).all()


def test_each_row_multiplies_its_own_rows_of_b():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(64, 8)).astype(np.float16).astype(np.float64)
    b = rng.normal(size=(16, 8)).astype(np.float16).astype(np.float64)
    rows_of_b = np.sort(rng.permuted(np.tile(np.arange(16), (64, 1)), axis=1)[:, :8], axis=1)
    c = rng.normal(size=(64, 8)).astype(np.float32)
    types = (MULTIPLICANDS["f16"],) * 2
    products = multiply_add(a, b[rows_of_b.T], c, types)
    for row in range(64):
        alone = multiply_add(a[row : row + 1], b[rows_of_b[row]], c[row : row + 1], types)
        assert (products[row] == alone[0]).all()


def test_special_values_in_the_rows_of_b():
    a, b = np.ones((64, 2)), np.ones((2, 64, 4))
    b[1, 3, 2], b[0, 5, 1], b[1, 5, 1] = np.inf, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        products = multiply_add(a, b, np.zeros((64, 4), np.float32), (MULTIPLICANDS["f16"],) * 2)
    assert products[3, 2] == np.inf and products.view(np.uint32)[5, 1] == 0x7FFFFFFF
    assert np.count_nonzero(products == 2) == 64 * 4 - 2


@pytest.mark.parametrize("name, selector", [("f16", 0), ("f16", 1), ("tf32", 0), ("tf32", 1)])
def test_metadata_of_threads_that_are_not_selected_is_ignored(name, selector):
    # The selector takes threads 0 and 1 of four, or 2 and 3; the others' words are arbitrary.
    words = np.full((32, 4), 0xFFFF_FFFF, np.uint32)
    words[:, 2 * selector : 2 * selector + 2] = 0xE444_4444
    size = {"f16": 2, "tf32": 4}[name]
    elements = kept_elements(words.reshape(128), size, selector)
    first = [[0, 1], [4, 5], [8, 9], [12, 13]] if name == "f16" else [[0], [2], [4], [6]]
    low, last = np.ravel(first), [14, 15] if name == "f16" else [7]
    half = 8 * (16 // size) // 4
    assert elements[0, : len(low)].tolist() == low.tolist()
    assert elements[8, len(low) - len(last) : len(low)].tolist() == last
    assert elements.shape == (64, 16 // size * 2) and (elements[:, len(low)] == half).all()


def test_sparse_mma_reads_twice_the_k_of_b():
    # The mma reads 64 bytes of each column of B, not 32, and no other bytes.
    kernel = WgmmaKernel("s8", "s8", "s32", sparse=True, scale_d=(1,), b_swizzle=Swizzle.B32)
    image = kernel.image()
    raw = image.view(np.int8)
    used = np.zeros(len(raw), bool)
    used[B_AT + kernel.tiles[1].offsets()] = True
    used[kernel.tiles[0].offsets()] = True
    assert np.count_nonzero(used) == 64 * 32 + 8 * 64
    raw[~used] = 127
    assert (kernel.run(image=image) == kernel.expected_d()).all()
