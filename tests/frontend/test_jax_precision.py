"""`from_jax`: a product of f32 that asks for more than tf32 stays, and runs on the CPU in f32."""

import numpy as np
import pytest

from mlir_smem.bindings import PACKAGE
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import from_jax, lower_linalg
from mlir_smem.frontend.jax_functions import export_jax
from mlir_smem.frontend.stablehlo import linalg_of

jax = pytest.importorskip("jax", exc_type=ImportError)
if PACKAGE != "torch_mlir":
    pytest.skip(f"{PACKAGE} has no StableHLO", allow_module_level=True)

X = jax.ShapeDtypeStruct((32, 32), "float32")
HALF = jax.ShapeDtypeStruct((32, 32), "bfloat16")
HIGHEST, HIGH = jax.lax.Precision.HIGHEST, jax.lax.Precision.HIGH
PRESET = jax.lax.DotAlgorithmPreset
ROUNDED = 'smem.precision = "highest", but tensor cores round f32 to tf32'


def dot(precision):
    return lambda x, w: jax.lax.dot(x, w, precision=precision)


def in_context(x, w):
    with jax.default_matmul_precision("float32"):
        return jax.nn.relu(x @ w)


def in_a_batch(x, w):
    """Products with dimensions of extent 1, transposed operands and reshapes, which upstream folds."""
    return jax.numpy.einsum("aij,kj->aki", x[None], w, precision=HIGHEST)[0] + 1


def convolution(precision):
    names = ("NHWC", "HWIO", "NHWC")

    def apply(x, w):
        image, filters = x.reshape(1, 4, 8, 32), w.reshape(1, 1, 32, 32)
        return jax.lax.conv_general_dilated(
            image, filters, (1, 1), "SAME", dimension_numbers=names, precision=precision
        )

    return apply


def attention(of_weights):
    def apply(q, k, v):
        f32 = "float32"
        scores = jax.numpy.matmul(q, k.T, precision=HIGHEST, preferred_element_type=f32)
        weights = jax.nn.softmax(scores * 0.125).astype(of_weights)
        v = v.astype(of_weights)
        o = jax.numpy.matmul(weights, v, precision=HIGHEST, preferred_element_type=f32)
        return o.astype(q.dtype)

    return apply


LONG = jax.ShapeDtypeStruct((64, 64), "bfloat16")
CASES = {
    "nothing": (dot(None), (X, X), True),
    "high": (dot(HIGH), (X, X), True),
    "highest": (dot(HIGHEST), (X, X), False),
    "highest of one": (dot((jax.lax.Precision.DEFAULT, HIGHEST)), (X, X), False),
    "f32": (dot(PRESET.F32_F32_F32), (X, X), False),
    "three products of bf16": (dot(PRESET.BF16_BF16_F32_X3), (X, X), False),
    "six products of bf16": (dot(PRESET.BF16_BF16_F32_X6), (X, X), False),
    # It asks for less than tf32 has.
    "bf16": (dot(PRESET.BF16_BF16_F32), (X, X), True),
    "a context": (in_context, (X, X), False),
    "a batch": (in_a_batch, (X, X), False),
    "a convolution": (convolution(HIGHEST), (X, X), False),
    "any convolution": (convolution(None), (X, X), True),
    # Products of bf16 are exact in f32, by whatever they are computed.
    "highest of bf16": (dot(HIGHEST), (HALF, HALF), True),
    "highest of bf16 in a batch": (in_a_batch, (HALF, HALF), True),
    "f32 of bf16": (dot(PRESET.F32_F32_F32), (HALF, HALF), True),
    "attention with weights of bf16": (attention("bfloat16"), (LONG,) * 3, True),
}


@pytest.mark.parametrize("name", CASES)
def test_which_products_are_kernels(name):
    function, inputs, is_kernel = CASES[name]
    remarks = []
    with new_context(), remark_handler(lambda _, message: remarks.append(message)):
        program = parse_module(export_jax(function, inputs).text)
        lower_linalg(program, f32="tf32")
        assert str(program).count("gpu.launch_func") == is_kernel
    assert any(ROUNDED in remark for remark in remarks) != is_kernel


def test_weights_that_attention_would_round():
    remarks = []
    with new_context(), remark_handler(lambda _, message: remarks.append(message)):
        lower_linalg(parse_module(export_jax(attention("float32"), (LONG,) * 3).text), f32="tf32")
    assert '"highest", but the kernel rounds weights to 16 bits' in remarks[0]


def test_exact_sums_of_8_bit_floats():
    """The CPU's JAX does not lower such an algorithm, so its attribute is put in place by hand."""
    eighth = jax.ShapeDtypeStruct((32, 32), "float8_e4m3fn")
    product = jax.jit(lambda x, w: jax.lax.dot(x, w, preferred_element_type="float32"))
    precision = "precision = [DEFAULT, DEFAULT]"
    before, after = product.lower(eighth, eighth).as_text().split(precision)
    for fast in ("true", "false"):
        algorithm = ", ".join(
            [
                *(f"{side}_precision_type = f8E4M3FN" for side in ("lhs", "rhs")),
                "accumulation_type = f32",
                *(f"{side}_component_count = 1" for side in ("lhs", "rhs")),
                "num_primitive_operations = 1",
                f"allow_imprecise_accumulation = {fast}",
            ]
        )
        program = linalg_of(f"{before}{precision}, algorithm = <{algorithm}>{after}")
        assert ("smem.precision" in program) == (fast == "false")


def test_a_product_that_stays():
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal((32, 32)).astype(np.float32) for _ in "xw")
    product = from_jax(dot(HIGHEST), x, w, on="cpu", f32="tf32")
    assert not any("gemm" in name for name in product.kernels)
    wanted = x.astype(np.float64) @ w
    assert np.abs(product(x, w) - wanted).max() < 1e-6 * np.abs(wanted).max()
