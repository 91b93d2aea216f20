"""`examples/attention_backward.py` on the chip."""

import attention_backward_example as reference
import pytest

from mlir_smem.examples.attention_backward import delta, dkdv, dq
from mlir_smem.runtime import run_on_gpu

TYPES = ["bf16", "bf16", "bf16", "bf16", "f32", "f32", "f32"]


@pytest.mark.parametrize("t, d, step", [(128, 64, 64), (256, 128, 64), (2048, 64, 32)])
def test_gradients(t, d, step):
    inputs = reference.inputs(t, d)
    forward = {name: inputs[name] for name in ("O", "dO")}
    compiled = delta.compile("f32", "bf16", "f32", d=d)
    outputs = run_on_gpu(compiled, "delta", forward, ["D"])
    operands = {name: inputs[name] for name in ("Q", "K", "V", "dO", "L", "scale")}
    operands |= {"D": outputs["D"]}
    compiled = dkdv.compile(*TYPES, "f32", "f32", d=d, queries=step)
    outputs |= run_on_gpu(compiled, "dkdv", operands, ["dK", "dV"])
    compiled = dq.compile(*TYPES, "f32", d=d, keys=step)
    outputs |= run_on_gpu(compiled, "dq", operands, ["dQ"])
    reference.check(outputs, inputs)
