"""The examples in the kernel language on the chip."""

import attention_example as reference
import ml_dtypes
import numpy as np
import pytest

from mlir_smem.examples.attention import attention
from mlir_smem.examples.gemm import gemm
from mlir_smem.runtime import Kernel, run_on_cpu, run_on_gpu


@pytest.mark.parametrize("t", [64, 192, 1024])
@pytest.mark.parametrize("keys", [64, 32])
def test_attention(t, keys):
    inputs = reference.inputs(t)
    inputs["scale"] = inputs["Scale"][0]
    types = ["f16", "f16", "f16", "f32", "f32", "f32"]
    compiled = attention.compile(*types, keys=keys)
    arguments = {name: inputs[name] for name in ("Q", "K", "V", "scale")}
    outputs = run_on_gpu(compiled, "attention", arguments, ["O", "L"])
    reference.check(outputs, inputs)


@pytest.mark.parametrize("m, n, k", [(128, 256, 64), (200, 328, 200), (1160, 2056, 1032)])
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_gemm(m, n, k, element):
    dtype = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}[element]
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((m, k), (k, n)))
    compiled = gemm.compile(*[element] * 3)
    grid = (Kernel(compiled).resident_blocks(),)
    measured = run_on_gpu(compiled, "gemm", {"A": a, "B": b}, ["C"], grid)["C"]
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(dtype)
    assert np.array_equal(measured, expected)
    if m < 1000:
        lowered = gemm.compile(*[element] * 3, emit="nvvm")
        emulated = run_on_cpu(lowered, "gemm", {"A": a, "B": b}, ["C"], (2,))["C"]
        assert np.array_equal(measured, emulated)
