"""Calls with arrays that are None, on the chip."""

import numpy as np
import pytest

import mlir_smem.language as sl


@sl.kernel("(M,64), (64), (M,64)")
def add_bias(X, bias, Y):  # noqa: N803
    row = sl.grid(sl.cdiv(sl.multiple_of(X.shape[0], 64), 64)) * 64
    x = sl.load(X[row : row + 64, :])
    sl.store(x if bias is None else x + sl.load(bias, axis=0), Y[row : row + 64, :])


def test_a_bias_or_none():
    torch = pytest.importorskip("torch")
    x, y = torch.ones(128, 64, device="cuda"), torch.zeros(128, 64, device="cuda")
    bias = torch.arange(64, device="cuda").float()
    for given in (bias, None, bias, None):
        add_bias(x, given, y)
        assert torch.equal(y, x if given is None else x + given)
    add_bias.prepare(x, None, y).launch()
    assert np.all(y.cpu().numpy() == 1)
