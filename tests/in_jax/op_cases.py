"""`jax_op.matmul` in programs of XLA on the CPU: NumPy multiplies where the kernel would."""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mlir_smem.kernels.gemm import jax_op
from mlir_smem.kernels.gemm.generator.problem import ProblemError
from mlir_smem.runtime import xla_ffi


def in_memory(array, pointer):
    """The elements of an array at an address, in the memory of XLA."""
    matrix = array.matrix
    last = sum((extent - 1) * s for extent, s in zip(matrix.shape, matrix.strides, strict=True))
    raw = (ctypes.c_char * ((last + 1) * matrix.item_bytes)).from_address(pointer)
    strides = [stride * matrix.item_bytes for stride in matrix.strides]
    return np.ndarray(matrix.shape, array.dtype, raw, strides=strides)


class Product:
    """A launch whose kernel is NumPy."""

    count = 0

    def __init__(self, a, b, outs, config):
        Product.count += 1
        self.operands = a, b, outs[0]

    def start(self, a, b, outs, stream):
        first, second, out = (
            in_memory(*pair) for pair in zip(self.operands, (a, b, *outs), strict=True)
        )
        product = first.astype(np.float64) @ second.astype(np.float64)
        out[...] = product.astype(out.dtype)


@pytest.fixture(autouse=True)
def cpu(monkeypatch):
    monkeypatch.setattr(jax_op, "GemmLaunch", Product)
    monkeypatch.setattr(xla_ffi.CustomCall, "stream", 7)
    monkeypatch.setattr(xla_ffi.CustomCall, "device", 0)
    monkeypatch.setattr(Product, "count", 0)
    jax_op._LAUNCHES.clear()


jax.ffi.register_ffi_target(jax_op.TARGET, xla_ffi.handler(jax_op._start), platform="cpu")


def integers(*shape, dtype=jnp.float32):
    """Small integers, whose products have no error."""
    return jnp.asarray(np.random.default_rng(0).integers(0, 4, shape), dtype)


SHAPES = [
    ((5, 8), (8, 4)),
    ((5, 7), (7, 3)),
    ((2, 3, 5, 7), (3, 7, 6)),
    ((16, 7), (4, 7, 16)),
    ((4, 1, 9, 8), (3, 8, 5)),
]


def draw_operands(shapes, transposed, dtype):
    """Operands, of which some are stored transposed, and the matrices that they mean."""
    stored = []
    for (*leading, rows, columns), flag in zip(shapes, transposed, strict=True):
        stored.append(
            integers(*leading, *((columns, rows) if flag else (rows, columns)), dtype=dtype)
        )
    return stored, [x.mT if flag else x for x, flag in zip(stored, transposed, strict=True)]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int8"])
@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products(shapes, transposed, dtype):
    (a, b), (first, second) = draw_operands(shapes, transposed, dtype)
    flags = {"transpose_a": bool(transposed[0]), "transpose_b": bool(transposed[1])}
    product = jax.jit(lambda a, b: jax_op.matmul(a, b, **flags))(a, b)
    assert product.dtype == (jnp.int32 if dtype == "int8" else dtype)
    assert jnp.array_equal(product.astype(float), first.astype(float) @ second.astype(float))


@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_gradients(shapes, transposed):
    stored, _ = draw_operands(shapes, transposed, jnp.float32)
    flags = {"transpose_a": bool(transposed[0]), "transpose_b": bool(transposed[1])}

    def reference(a, b):
        return (a.mT if transposed[0] else a) @ (b.mT if transposed[1] else b)

    actual, expected = (
        jax.jit(jax.grad(lambda a, b, f=f: (f(a, b) ** 2).sum(), (0, 1)))(*stored)
        for f in (lambda a, b: jax_op.matmul(a, b, **flags), reference)
    )
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.shape == theirs.shape
        assert jnp.array_equal(ours, theirs)


@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0), (1, 2)])
def test_vmap_adds_a_leading_dimension(in_axes):
    shapes = [[5, 7], [3, 7, 6]]
    for shape, axis in zip(shapes, in_axes, strict=True):
        if axis is not None:
            shape.insert(axis, 4)
    a, b = (integers(*shape) for shape in shapes)
    actual, expected = (jax.vmap(f, in_axes)(a, b) for f in (jax_op.matmul, jnp.matmul))
    assert jnp.array_equal(actual, expected)


def test_a_shape_is_planned_once():
    program = jax.jit(jax_op.matmul)
    for _ in range(3):
        program(integers(5, 8), integers(8, 4)).block_until_ready()
    assert Product.count == 1
    program(integers(6, 8), integers(8, 4)).block_until_ready()
    assert Product.count == 2


def test_a_program_copies_nothing_where_rows_are_aligned():
    text = jax.jit(jax_op.matmul).lower(integers(8, 8), integers(8, 16)).as_text()
    assert "pad" not in text.replace("mlir_smem", "")
    assert "slice" not in text
    text = jax.jit(jax_op.matmul).lower(integers(8, 7), integers(7, 15)).as_text()
    assert text.count("stablehlo.pad") == 2
    assert "stablehlo.slice" in text


def test_the_type_of_the_result():
    a, b = integers(8, 8, dtype="bfloat16"), integers(8, 8, dtype="bfloat16")
    assert jax_op.matmul(a, b).dtype == "bfloat16"
    assert jax_op.matmul(a, b, out_dtype=jnp.float32).dtype == "float32"
    assert jax_op.matmul(a, b, out_dtype="float16").dtype == "float16"


REFUSED = {
    "no matrix": ((8,), (8, 8), {}, "A has the shape [8]; expected a matrix, or several"),
    "no elements": ((0, 8), (8, 8), {}, "A has no elements in [0, 8]"),
    "K": (
        (4, 8),
        (7, 8),
        {},
        "A is 4x8 and B is 7x8; expected a B of 8 rows, the number of A's columns",
    ),
    "K of a transposed B": (
        (4, 8),
        (8, 5),
        {"transpose_b": True},
        "A is 4x8 and B is 8x5, transposed; expected a B of 8 rows, the number of A's columns",
    ),
    "leading dimensions": (
        (2, 4, 8),
        (3, 8, 8),
        {},
        "A has the leading dimensions [2] and B has [3], which do not broadcast: 2 and 3",
    ),
    "result": (
        (4, 8),
        (8, 8),
        {"out_dtype": "int32"},
        "a GEMM of f32 does not store i32; expected f32 or bf16 or f16",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_program_is_refused_as_it_is_traced(name):
    a, b, options, message = REFUSED[name]
    with pytest.raises(ProblemError) as error:
        jax.jit(lambda a, b: jax_op.matmul(a, b, **options))(jnp.zeros(a), jnp.zeros(b))
    assert str(error.value) == message


def test_other_elements_are_refused():
    with pytest.raises(ProblemError, match="A has elements of int16; expected bf16"):
        jax_op.matmul(jnp.zeros((8, 8), "int16"), jnp.zeros((8, 8), "int16"))


def test_integers_have_no_gradient_and_stop_none():
    a, b = integers(8, 8, dtype="int8"), integers(8, 8, dtype="int8")
    scaled = jax.grad(lambda s: (jax_op.matmul(a, b) * s).sum())(2.0)
    assert scaled == (a.astype(int) @ b.astype(int)).sum()
