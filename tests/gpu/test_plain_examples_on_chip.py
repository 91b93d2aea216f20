"""Attention, softmax, convolution and SSD of `examples/` on the chip, against float64."""

import plain_examples as cases
import pytest

from mlir_smem.examples import plain_loops
from mlir_smem.examples.convolution import convolution
from mlir_smem.examples.softmax import softmax
from mlir_smem.examples.ssd import ssd

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "kernel, case",
    [
        (plain_loops.attention, cases.attention(2, 3, 512, 128, True)),
        (plain_loops.attention, cases.attention(1, 2, 384, 64, False)),
        (plain_loops.matmul[5], cases.matmul(1152, 512, 192)),
        (softmax, cases.softmax(512, 136, 1000)),
        (softmax, cases.softmax(384, 512, 1024)),
        (convolution, cases.convolution(2, 16, 32, 72, 256, 16)),
        (ssd, cases.ssd(5, 512)),
    ],
    ids=[
        "causal attention",
        "attention",
        "persistent product",
        "softmax",
        "softmax of two CTAs",
        "convolution",
        "ssd",
    ],
)
def test_an_example(kernel, case):
    arguments, constants, results = case
    on_gpu = [_to_gpu(array) for array in arguments]
    kernel(*on_gpu, **constants)
    for index, *_ in results:
        arguments[index][...] = on_gpu[index].float().cpu().numpy()
    cases.check(case)


def _to_gpu(array):
    """A tensor with the array's strides."""
    is_bf16 = array.dtype.name == "bfloat16"
    tensor = torch.from_numpy(array.astype("float32") if is_bf16 else array)
    return (tensor.bfloat16() if is_bf16 else tensor).cuda()
