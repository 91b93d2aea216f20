"""The GEMM of `kernels/gemm` on the emulator.

Its results are exact; the emulator reports violations when it is damaged.
"""

import re

import ml_dtypes
import numpy as np
import pytest
from emulated import faults_of, run_text

import mlir_smem
import mlir_smem.language as sl
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm.generator.config import Config
from mlir_smem.kernels.gemm.generator.fusion import EpilogueOperand, trace_epilogue
from mlir_smem.kernels.gemm.generator.kernel import build
from mlir_smem.kernels.gemm.generator.problem import Problem
from mlir_smem.runtime.arguments import DTYPES

BF16 = ml_dtypes.bfloat16


def compile_gemm(problem, config):
    with new_context(), ir.Location.unknown():
        text = str(build(problem, config))
    return mlir_smem.compile(text, emit="nvvm")


def matrices(problem, m, n, k):
    random = np.random.default_rng(m + n + k)
    majors = ("C" if problem.a_major == "k" else "F", "C" if problem.b_major == "n" else "F")
    a, b = (
        np.asarray(random.integers(-3, 4, shape).astype(BF16), order=major)
        for shape, major in zip(((m, k), (k, n)), majors, strict=True)
    )
    return a, b, np.zeros((m, n), BF16, order="C" if problem.c_major == "n" else "F")


def options(kernel, config, grid):
    shared = kernel.manifest["kernels"][0]["shared_bytes"]
    return {"block": 128 * (1 + config.consumers), "grid": grid, "shared": shared}


@pytest.mark.parametrize(
    "problem, cluster, consumers, extents",
    [
        (Problem(), (1, 1), 2, (256, 128, 128)),
        (Problem(), (2, 1), 2, (200, 264, 136)),
        (Problem(b_major="k"), (1, 2), 2, (136, 256, 64)),
        # More K blocks than stages: CTAs wait for others of their row and column.
        (Problem(a_major="m"), (2, 2), 1, (256, 256, 200)),
        (Problem(a_major="m", b_major="k", c_major="m"), (1, 1), 2, (200, 136, 136)),
    ],
)
def test_gemm_is_exact(problem, cluster, consumers, extents):
    config = Config(tile=(128, 128, 64), cluster=cluster, consumers=consumers, stages=2)
    kernel = compile_gemm(problem, config)
    a, b, c = matrices(problem, *extents)
    run_text(kernel.bytecode, "gemm", (a, b, c), **options(kernel, config, cluster))
    # Sums of small integers are exact in f32.
    assert (c == (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16)).all()


def integers(rng, shape, dtype):
    """Small integers, whose sums of products are exact."""
    return rng.integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize(
    "batch, extents",
    [(("ab",), (3,)), (("ab", "b"), (3, 2)), (("a", "b", "ab"), (2, 3, 2)), (("a",), (2,))],
)
def test_batches(batch, extents):
    """A operand lacks the leading dimensions along which it is broadcast."""
    config = Config(tile=(64, 64, 64), consumers=1, stages=3, store_columns=64)
    kernel = compile_gemm(Problem(batch=batch), config)
    random, m, n, k = np.random.default_rng(7), 72, 80, 72

    def operand(name, *shape):
        leading = [e if name in having else 1 for e, having in zip(extents, batch, strict=True)]
        whole = random.integers(-3, 4, (*leading, *shape)).astype(BF16)
        had = [e for e, having in zip(leading, batch, strict=True) if name in having]
        return whole, whole.reshape(*had, *shape)

    (a, first), (b, second) = operand("a", m, k), operand("b", k, n)
    c = np.zeros((*extents, m, n), BF16)
    run_text(kernel.bytecode, "gemm", (first, second, c), **options(kernel, config, (4, 1)))
    assert (c == (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16)).all()


def add_and_scale(x, row, col, bias, scale, residual, alpha):
    """Every kind of operand, and a mask by place."""
    y = sl.maximum(x * scale * alpha + bias, 0.0) + residual
    return sl.where(col < row + 100, y, -1.0)


FUSIONS = {
    by_tma: trace_epilogue(
        add_and_scale,
        [
            EpilogueOperand("bias", "bf16", "n"),
            EpilogueOperand("scale", "f32", "m"),
            EpilogueOperand("residual", "bf16", "mn", by_tma),
            EpilogueOperand("alpha", "f32", "number"),
        ],
        "f32",
    )
    for by_tma in (False, True)
}


@pytest.mark.parametrize("by_tma", FUSIONS)
@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("consumers", [1, 2])
def test_epilogues(exchanged, consumers, by_tma, capfd):
    problem = Problem(fusion=FUSIONS[by_tma])
    config = Config((64 * consumers, 64, 64), 3, (1, 1), consumers, 16, 32, exchanged=exchanged)
    kernel = compile_gemm(problem, config)
    # The order of loads and reads is proven.
    assert capfd.readouterr().err == ""
    mapped = {tensor_map["argument"] for tensor_map in kernel.manifest["kernels"][0]["tensor_maps"]}
    assert ("residual" in mapped) == (by_tma and not exchanged)
    m, n = 136, 200
    arrays = matrices(config.kernel_problem(problem), *((n, m) if exchanged else (m, n)), 128)
    random = np.random.default_rng(7)
    bias, residual = random.normal(size=n).astype(BF16), random.normal(size=(m, n)).astype(BF16)
    scale, alpha = random.normal(size=m).astype(np.float32), np.float32(0.5)
    arguments = (*arrays, bias, scale, residual, alpha)
    run_text(kernel.bytecode, "gemm", arguments, **options(kernel, config, (4, 1)))
    a, b, c = (array.T for array in arrays) if exchanged else arrays
    a, b = (b, a) if exchanged else (a, b)
    product = a.astype(np.float32) @ b.astype(np.float32)
    i, j = np.indices(product.shape)
    expected = np.maximum(product * scale[:, None] * alpha + bias.astype(np.float32), 0)
    expected = np.where(j < i + 100, expected + residual.astype(np.float32), -1)
    assert (c == expected.astype(BF16)).all()


@pytest.mark.parametrize("consumers, buffers", [(2, 1), (2, 2), (3, 2)])
def test_a_matrix_of_an_epilogue_of_many_parts(consumers, buffers, capfd):
    """Its loads and the buffers for results come to the warpgroups in one order."""
    fusion = trace_epilogue(
        lambda x, y: x + y, [EpilogueOperand("y", "bf16", "mn", by_tma=True)], "f32"
    )
    problem = Problem(fusion=fusion)
    config = Config((64 * consumers, 64, 64), 2, (1, 1), consumers, 16, 8, buffers)
    kernel = compile_gemm(problem, config)
    assert capfd.readouterr().err == ""
    m, n = 3 * 64 * consumers, 128
    a, b, c = matrices(problem, m, n, 64)
    y = np.random.default_rng(7).integers(-9, 9, (m, n)).astype(BF16)
    run_text(kernel.bytecode, "gemm", (a, b, c, y), **options(kernel, config, (2, 1)))
    product = a.astype(np.float32) @ b.astype(np.float32) + y.astype(np.float32)
    assert (c == product.astype(BF16)).all()


def test_an_epilogue_of_integers():
    """The product of integers is scaled to floats, which are stored."""
    fusion = trace_epilogue(
        lambda x, scale: x.to(sl.f32) * scale, [EpilogueOperand("scale", "f32", "n")], "i32"
    )
    problem = Problem("i8", "i8", "bf16", b_major="k", fusion=fusion)
    config = Config((64, 64, 128), 2, consumers=1, store_columns=64)
    kernel = compile_gemm(problem, config)
    random = np.random.default_rng(7)
    a, b = (random.integers(-9, 9, (64, 128), np.int8) for _ in "ab")
    scale, c = random.normal(size=64).astype(np.float32), np.zeros((64, 64), BF16)
    run_text(kernel.bytecode, "gemm", (a, b.T, c, scale), **options(kernel, config, (1, 1)))
    product = a.astype(np.int32) @ b.T.astype(np.int32)
    assert (c == (product.astype(np.float32) * scale).astype(BF16)).all()


@pytest.mark.parametrize(
    "b_major, config",
    [
        ("k", Config((64, 64, 64), 2, consumers=1, store_columns=32)),
        ("n", Config((128, 64, 64), 2, store_columns=64)),
        ("k", Config((128, 32, 64), 2, (2, 1), store_columns=32)),
    ],
)
def test_gated_products(b_major, config):
    """Both products of a tile are in the same threads."""
    fusion = trace_epilogue(lambda gate, x: sl.maximum(gate, 0.0) * x, [], "f32", 2)
    problem = Problem(b_major=b_major, fusion=fusion, gated=True)
    kernel = compile_gemm(problem, config)
    a, b, c = matrices(problem, 200, 136, 200)
    _, b2, _ = matrices(problem, 8, 136, 200)
    run_text(kernel.bytecode, "gemm", (a, b, c, b2), **options(kernel, config, (4, 1)))
    a, b, b2 = (matrix.astype(np.float32) for matrix in (a, b, b2))
    assert (c == (np.maximum(a @ b, 0) * (a @ b2)).astype(BF16)).all()


@pytest.mark.parametrize("consumers, buffers", [(1, 1), (2, 3)])
def test_two_results(consumers, buffers):
    """The activation, and what it was made of."""
    fusion = trace_epilogue(lambda x: (sl.maximum(x, 0.0), x), [], "f32")
    problem = Problem(fusion=fusion, d="f32")
    config = Config((64 * consumers, 64, 64), 2, (1, 1), consumers, 16, 32, buffers)
    kernel = compile_gemm(problem, config)
    a, b, c = matrices(problem, 200, 136, 128)
    d = np.zeros((200, 136), np.float32)
    run_text(kernel.bytecode, "gemm", (a, b, c, d), **options(kernel, config, (4, 1)))
    product = a.astype(np.float32) @ b.astype(np.float32)
    assert (d == product).all()
    assert (c == np.maximum(product, 0).astype(BF16)).all()


@pytest.mark.parametrize("columns", [8, 16, 24])
@pytest.mark.parametrize("consumers", [1, 2])
def test_few_rows(columns, consumers):
    """A few rows times a large matrix, as the product of the exchanged matrices."""
    problem = Problem(a_major="k", b_major="n").exchanged
    config = Config((64 * consumers, columns, 64), 4, consumers=consumers, store_columns=columns)
    kernel = compile_gemm(problem, config)
    a, b, c = matrices(problem, 200, columns - 3, 320)
    run_text(kernel.bytecode, "gemm", (a, b, c), **options(kernel, config, (2, 1)))
    assert (c == (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16)).all()


@pytest.mark.parametrize(
    "a, b, c, config",
    [
        ("i8", "i8", "i32", Config(tile=(128, 256, 128), store_columns=64)),
        ("f32", "f32", "f32", Config(tile=(128, 256, 32), store_columns=64)),
        (
            "f8E4M3FN",
            "f8E5M2",
            "bf16",
            Config(tile=(128, 128, 128), store_buffers=3, store_columns=32),
        ),
        (
            "bf16",
            "bf16",
            "f32",
            Config(tile=(64, 64, 64), consumers=1, store_buffers=4, store_columns=32),
        ),
    ],
)
def test_types_and_buffers(a, b, c, config):
    """Two CTAs compute several tiles each, so that buffers and phases are used again."""
    majors = ("k", "k") if a != "bf16" else ("k", "n")
    kernel = compile_gemm(Problem(a, b, c, *majors), config)
    rng, dtypes = np.random.default_rng(7), [DTYPES[name] for name in (a, b, c)]
    m, n, k = 2 * config.tile[0] + 8, 2 * config.tile[1] + 16, config.tile[2] + 16
    first = integers(rng, (m, k), dtypes[0])
    second = np.asarray(integers(rng, (k, n), dtypes[1]), order="F" if majors[1] == "k" else "C")
    product = np.zeros((m, n), dtypes[2])
    run_text(kernel.bytecode, "gemm", (first, second, product), **options(kernel, config, (2, 1)))
    expected = first.astype(np.float32) @ second.astype(np.float32)
    assert (product == expected.astype(dtypes[2])).all()


CONFIG = Config(tile=(128, 128, 64), cluster=(2, 1), stages=2)


@pytest.fixture(scope="module")
def default_gemm():
    return compile_gemm(Problem(), CONFIG)


def drop_lines(text, op, *which):
    """The text without some of the lines that contain an op; `which` counts them from 0, default all."""
    lines = text.splitlines(keepends=True)
    numbers = [number for number, line in enumerate(lines) if re.search(op, line)]
    removed = {numbers[i] for i in which} if which else set(numbers)
    assert removed
    return "".join(line for number, line in enumerate(lines) if number not in removed)


#: The lines that are removed, and violations of which the emulator reports at least one.
FAULTS = {
    "the consumers' waits for full stages": (
        (r"try_wait\.parity", 2, 3),
        {ViolationKind.COPY_IN_FLIGHT, ViolationKind.UNINITIALISED},
    ),
    "the producer's wait for empty stages": (
        (r"try_wait\.parity", 0),
        {ViolationKind.OVERWRITTEN, ViolationKind.COPY_IN_FLIGHT, ViolationKind.BARRIER},
    ),
    "the bytes of A": ((r"mbarrier\.expect_tx", 0), {ViolationKind.BARRIER}),
    "the wait for mma before a stage is released": (
        (r"wgmma\.wait\.group",),
        {ViolationKind.OVERWRITTEN},
    ),
    "the arrivals in other CTAs": ((r"mbarrier\.arrive .*ptr<7>",), {ViolationKind.DEADLOCK}),
    "the fence before a store": ((r"fence\.proxy",), {ViolationKind.UNFENCED}),
    "the wait for a buffer that is written": (
        (r"try_wait\.parity", 1),
        {ViolationKind.RACE, ViolationKind.UNINITIALISED},
    ),
    "the wait for a buffer that is free": ((r"try_wait\.parity", 4), {ViolationKind.OVERWRITTEN}),
    "the wait before a buffer is released": ((r"bulk\.wait_group 1",), {ViolationKind.OVERWRITTEN}),
    "the commit of stores": ((r"bulk\.commit",), {ViolationKind.OVERWRITTEN}),
    "the last barrier of the cluster": ((r"cluster\.(arrive|wait) ", 2, 3), {ViolationKind.EXITED}),
    "the first barrier of the cluster": ((r"cluster\.(arrive|wait) ", 0, 1), {ViolationKind.RACE}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_damage_is_found(name, default_gemm):
    edit, kinds = FAULTS[name]
    arrays = matrices(Problem(), 512, 128, 256)
    text = drop_lines(default_gemm.located, *edit)
    faults = faults_of(text, "gemm", arrays, **options(default_gemm, CONFIG, (2, 1)))
    assert {fault.kind for fault in faults} & kinds, faults
