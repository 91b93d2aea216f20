"""Rows that the warpgroups of a partition exchange through a tile."""

import re

import numpy as np
import pytest
from exchange_kernels import ROWS, ROWS_F16, exchange, product

from mlir_smem.emulator.errors import Violations
from mlir_smem.language.errors import TraceError

MESSAGE = re.compile(
    "another warpgroup of its partition may access the same bytes by the smem.load at .*; put "
    "smem.warpgroup_barrier with warpgroups = 2 between them"
)


@pytest.mark.parametrize("count", [1, 3])
def test_rows_are_exchanged(count):
    c = np.zeros_like(ROWS)
    exchange(sync="auto", count=count)[1](ROWS, c, on="cpu")
    assert np.array_equal(c, np.roll(ROWS, 64, 0))


@pytest.mark.parametrize("sync", ["auto", "manual"])
def test_all_read_what_each_writes(sync):
    b, c = np.eye(64, dtype=np.float16)[::-1].copy(), np.zeros_like(ROWS)
    product(sync)[1](ROWS_F16, b, c, on="cpu")
    assert np.array_equal(c, ROWS_F16[:, ::-1])


@pytest.mark.parametrize(
    "barriers", [{"write": 2}, {"write": 2, "read": 2, "count": 3}, {"write": 2, "read": 1}]
)
def test_a_barrier_of_both_is_enough(barriers):
    assert exchange(**barriers).check("f32", "f32") == ()


@pytest.mark.parametrize(
    "barriers",
    [
        {"write": 1},
        {"write": 1, "read": 2, "count": 2},
        {"write": 2, "read": 1, "count": 2},
    ],
)
def test_a_barrier_of_one_is_not(barriers):
    kernel = exchange(**barriers)
    assert any(MESSAGE.search(str(remark)) for remark in kernel.check("f32", "f32"))
    with pytest.raises(Violations):
        kernel[1](ROWS, np.zeros_like(ROWS), on="cpu")


def test_a_fence_comes_before_the_barrier_of_both():
    with pytest.raises(TraceError, match=r"put smem\.fence between them"):
        product(fences=(False, False)).check("f16", "f16", "f32")
    (remark,) = product(fences=(False, True)).check("f16", "f16", "f32")
    assert "put smem.fence and smem.warpgroup_barrier with warpgroups = 2" in str(remark)
