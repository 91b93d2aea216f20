"""`examples/attention_backward.py` on the emulator against float64."""

import attention_backward_example as reference
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.examples.attention_backward import delta, dkdv, dq

B, F = sl.bf16, sl.f32


@pytest.mark.parametrize("t, d, step", [(128, 64, 64), (256, 64, 32), (128, 128, 64)])
def test_gradients(t, d, step):
    inputs = reference.inputs(t, d)
    outputs = {name: np.zeros((t, d), np.float32) for name in ("dK", "dV", "dQ")}
    outputs["D"] = np.zeros(t, np.float32)
    delta(inputs["O"], inputs["dO"], outputs["D"], d=d, on="cpu")
    operands = [inputs[name] for name in ("Q", "K", "V", "dO", "L")]
    operands += [outputs["D"], float(inputs["scale"])]
    dkdv(*operands, outputs["dK"], outputs["dV"], d=d, queries=step, on="cpu")
    dq(*operands, outputs["dQ"], d=d, keys=step, on="cpu")
    reference.check(outputs, inputs)


@pytest.mark.parametrize("kernel, gradients", [(dkdv, 2), (dq, 1)])
def test_two_tiles_a_stage(kernel, gradients):
    """Each operand is loaded once, also where it is read by rows and by columns."""
    types = (B, B, B, B, F, F, F, *[F] * gradients)
    assert not kernel.check(*types)
    module = kernel.mlir(*types)
    assert module.count("smem.tma_load") == module.count("smem.transpose") == 2
    assert module.count("tensor<2x64x64xbf16>") and module.count('"smem.alloc"') == 4
