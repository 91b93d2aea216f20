"""The example with 4-bit weights on the emulator."""

import re

import numpy as np
import pytest
from int4_weights import operands

import mlir_smem.language as sl
from mlir_smem.examples.int4_matmul import int4_matmul

TYPES = (sl.u8, sl.f32, sl.bf16, sl.f32)


@pytest.mark.parametrize("m, n, k", [(128, 16, 256), (192, 32, 768)])
def test_product(m, n, k):
    w, s, x, product = operands(m, n, k)
    c = np.zeros((m, n), np.float32)
    int4_matmul(w, s, x, c, on="cpu")
    assert np.array_equal(c, product)


def test_order_is_proven():
    assert not int4_matmul.check(*TYPES)


def test_weights_are_converted_in_pairs():
    ptx = int4_matmul.ptx(*TYPES)
    assert len(re.findall(r"(add|sub)\.rn\.bf16x2", ptx)) == 64 // 2
    assert ptx.count("ldmatrix.sync.aligned.m8n8.x4") == 2
    assert "cvt.rn" not in ptx
