"""Attention, softmax, convolution and SSD of `examples/` on the emulator, against float64."""

import plain_examples as cases
import pytest

from mlir_smem.examples import plain_loops
from mlir_smem.examples.convolution import convolution
from mlir_smem.examples.softmax import softmax
from mlir_smem.examples.ssd import ssd

ASSUMED = "assumed, not proven: gpu.block_id x < T // 128"


@pytest.mark.parametrize(
    "kernel, case",
    [
        (plain_loops.attention, cases.attention(1, 1, 256, 64, True)),
        (plain_loops.attention, cases.attention(1, 2, 128, 64, False)),
        (plain_loops.matmul[2], cases.matmul(384, 64, 48, bm=128, bn=64, bk=16)),
        (softmax, cases.softmax(256, 72, 136)),
        (softmax, cases.softmax(128, 272, 72)),
        (convolution, cases.convolution(2, 4, 32, 8, 128, 32)),
        (convolution, cases.convolution(1, 2, 64, 64, 128, 64)),
        (ssd, cases.ssd(1, 192)),
    ],
    ids=[
        "causal attention",
        "attention",
        "persistent product",
        "softmax",
        "softmax of two CTAs",
        "two images",
        "a wide image",
        "ssd",
    ],
)
def test_an_example(kernel, case):
    arguments, constants, _ = case
    kernel(*arguments, on="cpu", **constants)
    cases.check(case)


@pytest.mark.parametrize(
    "kernel, types, assumed",
    [
        (plain_loops.attention, ["bf16"] * 4, [ASSUMED]),
        (plain_loops.matmul, ["bf16"] * 3, []),
        (softmax, ["bf16"] * 3, []),
        (convolution, ["bf16"] * 3, []),
        (ssd, ["bf16"] * 3 + ["f32"] * 2, []),
    ],
)
def test_an_example_is_proven(kernel, types, assumed):
    assert [remark.message for remark in kernel.check(*types)] == assumed
