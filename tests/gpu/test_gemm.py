"""`matmul` on the chip: every element type, majors, extents that no tile divides, clusters."""

import pytest

from mlir_smem.kernels.gemm import Config, matmul, prepare

torch = pytest.importorskip("torch")

#: The element types of A, B and the result.
TYPES = {
    "bf16": ("bfloat16", "bfloat16", "bfloat16"),
    "bf16-f32": ("bfloat16", "bfloat16", "float32"),
    "f16": ("float16", "float16", "float16"),
    "tf32": ("float32", "float32", "float32"),
    "e4m3": ("float8_e4m3fn", "float8_e4m3fn", "bfloat16"),
    "e5m2-e4m3": ("float8_e5m2", "float8_e4m3fn", "float32"),
    "s8": ("int8", "int8", "int32"),
    "s8-u8": ("int8", "uint8", "int32"),
}

EXTENTS = [(256, 512, 256), (384, 264, 208), (1000, 776, 528), (16, 16, 16), (8, 4112, 4096)]

#: Half a unit in the last place, of the numbers from 1 to 2.
ROUNDING = {"bfloat16": 2**-9, "float16": 2**-12, "float32": 2**-24}


def random(rows, columns, dtype, major):
    """A matrix whose rows ("k" of A, "n" of B) or columns are contiguous."""
    shape = (rows, columns) if major == 0 else (columns, rows)
    element = getattr(torch, dtype)
    if element.is_floating_point:
        matrix = torch.randn(shape, device="cuda").to(element)
    else:
        info = torch.iinfo(element)
        matrix = torch.randint(info.min, info.max + 1, shape, device="cuda", dtype=element)
    return matrix if major == 0 else matrix.t()


def check_product(c, a, b, extra):
    """Check C. Integers are exact. The bound of a float is its own rounding, that of `k` additions in
    f32, and `extra` times the sum of the products' magnitudes."""
    a, b = a.double(), b.double()
    expected = a @ b
    if not c.is_floating_point():
        assert (c.double() == expected).all()
        return
    rounding = 2 * ROUNDING[str(c.dtype).removeprefix("torch.")] * expected.abs()
    sums = (a.shape[1] * 2**-23 + extra) * (a.abs() @ b.abs())
    assert ((c.double() - expected).abs() <= rounding + sums + 1e-30).all()


#: Additions to the bound: rounding of operands, and of sums of 8-bit floats (docs/conformance.md).
EXTRA = {"tf32": 2**-10, "e4m3": 2**-6, "e5m2-e4m3": 2**-6}


@pytest.mark.parametrize("m, n, k", EXTENTS)
@pytest.mark.parametrize("types", TYPES)
def test_types_and_extents(types, m, n, k):
    first, second, result = TYPES[types]
    a, b = random(m, k, first, 0), random(k, n, second, 1)
    c = matmul(a, b, out_dtype=getattr(torch, result))
    assert c.dtype == getattr(torch, result)
    check_product(c, a, b, EXTRA.get(types, 0))


@pytest.mark.parametrize("a_major", [0, 1])
@pytest.mark.parametrize("b_major", [0, 1])
@pytest.mark.parametrize("m, n, k", [(384, 264, 208), (1000, 776, 528)])
@pytest.mark.parametrize("types", ["bf16", "f16"])
def test_majors(types, m, n, k, a_major, b_major):
    first, second, _ = TYPES[types]
    a, b = random(m, k, first, a_major), random(k, n, second, b_major)
    check_product(matmul(a, b), a, b, 0)


@pytest.mark.parametrize("a_major, b_major", [(1, 0), (1, 1), (0, 0)])
@pytest.mark.parametrize("m, n, k", [(384, 272, 208), (1000, 776, 500), (16, 16, 3)])
@pytest.mark.parametrize("types", ["tf32", "e4m3", "e5m2-e4m3", "s8", "s8-u8"])
def test_operands_that_are_transposed(types, m, n, k, a_major, b_major):
    first, second, result = TYPES[types]

    def random_padded(rows, columns, dtype, major):
        """A matrix whose lines begin at multiples of 16 bytes."""
        along, across = (columns, rows) if major == 0 else (rows, columns)
        wide = random(across, -(-along // 16) * 16, dtype, 0)[:, :along]
        return wide if major == 0 else wide.t()

    a, b = random_padded(m, k, first, a_major), random_padded(k, n, second, b_major)
    c = matmul(a, b, out_dtype=getattr(torch, result))
    check_product(c, a, b, EXTRA.get(types, 0))


CONFIGS = [
    Config(cluster=(2, 1)),
    Config(cluster=(1, 2)),
    Config(cluster=(2, 2)),
    Config(cluster=(4, 2)),
    Config(tile=(256, 128, 64), store_columns=64),
    Config(tile=(64, 256, 64), consumers=1, store_columns=256, store_buffers=1),
    Config(tile=(192, 128, 64), consumers=3, group=1, store_columns=64),
    Config(tile=(128, 64, 128), stages=3, store_columns=32, store_buffers=4),
    Config(tile=(64, 64, 64), consumers=1, store_columns=64, store_buffers=3),
    Config(tile=(128, 96, 32), stages=7, store_columns=48, group=3),
]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("a_major, b_major", [(0, 0), (1, 1)])
def test_configurations(config, a_major, b_major):
    a, b = random(1000, 528, "bfloat16", a_major), random(528, 776, "bfloat16", b_major)
    check_product(matmul(a, b, config=config), a, b, 0)


def test_slices_of_matrices_with_odd_extents():
    """TMA writes whole 16 bytes of a row; the memory after a result must not change."""
    a, b = random(300, 256, "bfloat16", 0)[:, 8:237], random(256, 264, "bfloat16", 0)[8:237, :201]
    out = torch.full((300, 264), 7.0, device="cuda", dtype=torch.bfloat16)
    matmul(a, b, out[:, :201])
    check_product(out[:, :201], a, b, 0)
    assert (out[:, 201:] == 7).all()
    new = matmul(a, b)
    assert new.shape == (300, 201)
    check_product(new, a, b, 0)


def test_dependent_gemms():
    """Each kernel reads the result of the previous one, and may start while that runs."""
    a = torch.eye(512, device="cuda", dtype=torch.bfloat16).roll(1, 0)
    x = random(512, 512, "bfloat16", 0)
    buffers = [x.clone(), torch.empty_like(x)]
    launches = [prepare(a, buffers[i], buffers[1 - i]) for i in range(2)]
    for i in range(200):
        launches[i % 2].launch()
    torch.cuda.synchronize()
    assert (buffers[0] == x.roll(200, 0)).all()


def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy")
    a = cupy.random.standard_normal((256, 128), dtype=cupy.float32).astype(cupy.float16)
    b = cupy.random.standard_normal((128, 512), dtype=cupy.float32).astype(cupy.float16)
    c = matmul(a, b)
    assert isinstance(c, cupy.ndarray)
    check_product(*(torch.from_dlpack(x) for x in (c, a, b)), 0)


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    a = jax.random.normal(jax.random.key(1), (256, 128), jax.numpy.bfloat16)
    b = jax.random.normal(jax.random.key(2), (128, 512), jax.numpy.bfloat16)
    c = matmul(a, b)
    assert isinstance(c, jax.Array)
    check_product(*(torch.from_dlpack(x) for x in (c, a, b)), 0)
