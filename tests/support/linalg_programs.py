"""Programs of PyTorch and JAX in linalg: how many kernels they have, and how exact they are."""

import importlib
from collections import defaultdict
from unittest.mock import patch

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.bindings import PACKAGE, ir, passmanager
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import bufferize
from mlir_smem.runtime.arguments import DTYPES

#: The launches of each program's kernels of the libraries.
PROGRAMS = {
    "dynamo_gelu_backward": 1,
    "dynamo_residual_dyn": 1,
    "dynamo_swiglu": 1,
    "dynamo_weight_gradient": 1,
    "jax_attention": 1,
    "jax_attention_window": 1,
    "jax_conv_3x3": 0,
    "jax_e4m3": 1,
    "jax_einsum_heads": 1,
    "jax_int8_dequant": 1,
    "jax_linear_gelu": 1,
    "jax_linear_swish": 1,
    "jax_mlp": 2,
    "jax_mm": 1,
    "jax_mm_f32": 1,
    "torch_addmm_gelu": 1,
    "torch_attention": 1,
    "torch_attention_mask": 2,
    "torch_bmm": 1,
    "torch_conv_1x1": 1,
    "torch_conv_1x1_bias": 1,
    "torch_conv_3x3": 0,
    "torch_einsum_heads": 1,
    "torch_einsum_mk_nk": 1,
    "torch_einsum_out": 1,
    "torch_geglu": 1,
    "torch_heads": 5,
    "torch_int_mm_dequant": 1,
    "torch_int_mm_wrap": 1,
    "torch_layer": 6,
    "torch_linear": 1,
    "torch_linear_gelu_tanh": 1,
    "torch_linear_hardtanh": 1,
    "torch_linear_leaky_relu": 1,
    "torch_linear_relu": 1,
    "torch_linear_relu_squared": 1,
    "torch_linear_residual": 1,
    "torch_linear_row_scale": 1,
    "torch_linear_sigmoid": 1,
    "torch_linear_silu": 1,
    "torch_linear_tanh": 1,
    "torch_mlp": 2,
    "torch_mm": 1,
    "torch_mm_dyn": 1,
    "torch_mm_f16": 1,
    "torch_mm_f32": 0,
    "torch_mv": 1,
    "torch_odd_rows": 1,
    "torch_sdpa": 1,
    "torch_sdpa_causal": 1,
    "torch_swiglu": 1,
    "torch_two_users": 1,
}

#: Programs that sum in bf16, and round each partial sum, which kernels do not.
ROUNDED_SUMS = {"jax_einsum_heads", "jax_linear_gelu", "jax_linear_swish", "jax_mlp", "jax_mm"}


def causal_attention(q, k, v):
    """softmax(q @ k.T / sqrt(dim)) @ v, of the keys up to the query's place."""
    q, k, v = (matrix.astype(np.float32) for matrix in (q, k, v))
    row, key = np.ogrid[: q.shape[-2], : k.shape[-2]]
    scores = np.where(key <= row, q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True) @ v).astype(ml_dtypes.bfloat16)


#: Upstream does not bufferize torch-mlir's ops.
NO_REFERENCE = {"torch_sdpa_causal": causal_attention}

#: Errors relative to the largest element: one rounding to the type, after sums in another order.
BOUNDS = {np.dtype(np.float32): 2**-18, np.dtype(np.float16): 2**-10}
BF16_BOUND, ROUNDED_SUMS_BOUND = 2**-6, 2**-5

#: Tensor cores keep 13 bits after the point of the largest product of e4m3 (measured).
E4M3_BOUND = 2**-11


#: What a dynamic extent is: 72 rows cut a tile; `torch_layer` has batches of 64 rows.
DYNAMIC = defaultdict(lambda: 72, torch_layer=3)


def arrays(program, dynamic, seed=0):
    """Random arguments for a program; `dynamic` is every extent that is dynamic."""
    random = np.random.default_rng(seed)
    (function,) = (op for op in program.body.operations if op.operation.name == "func.func")
    unknown = ir.ShapedType.get_dynamic_size()
    arguments = []
    for type_ in ir.TypeAttr(function.operation.attributes["function_type"]).value.inputs:
        shape = [dynamic if extent == unknown else extent for extent in type_.shape]
        dtype = DTYPES[str(type_.element_type)]
        if np.issubdtype(dtype, np.integer):
            arguments.append(random.integers(-9, 9, shape).astype(dtype))
        else:
            arguments.append((random.standard_normal(shape) / 4).astype(dtype))
    return arguments


def compile_program(text, lower, dynamic, **options):
    """Return an executable, its arguments, and the program."""
    with new_context():
        program = parse_program(text)
        arguments = arrays(program, dynamic)
        lower(program)
        return Executable(program, on="cpu", **options), arguments, str(program)


def compile_for_host(text, dynamic):
    """Return the same by upstream's loops, which LLVM compiles."""
    host_code = "mlir_smem.frontend.host_code"
    with patch(f"{host_code}.launch_generics"), patch(f"{host_code}.launch_stores"):
        return compile_program(text, bufferize, dynamic, mixed=True)


def parse_program(text):
    """Parse a program; skip the test if it needs torch-mlir's ops and the bindings lack them."""
    if "tm_tensor." in text:
        if PACKAGE != "torch_mlir":
            pytest.skip(f"{PACKAGE} has not torch-mlir's ops")
        importlib.import_module(f"{PACKAGE}._mlir_libs._torchMlir")  # registers the passes
        manager = passmanager.PassManager.parse("builtin.module(func.func(tm-tensor-bufferize))")
        manager.run(ir.Module.create().operation)
    return parse_module(text)


def as_tuple(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


def check(name, actual, expected):
    assert actual.dtype == expected.dtype
    if np.issubdtype(actual.dtype, np.integer):
        assert np.array_equal(actual, expected)
        return
    bound = BOUNDS.get(actual.dtype, BF16_BOUND)
    if name in ROUNDED_SUMS:
        bound = ROUNDED_SUMS_BOUND
    if "e4m3" in name:
        bound = E4M3_BOUND
    difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    assert difference.max() <= bound * np.abs(expected.astype(np.float64)).max()
