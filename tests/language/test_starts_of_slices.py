"""Slices of tiles at run-time starts: errors and remarks at the line, and on the emulator."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.emulator import Violations
from mlir_smem.language.errors import TraceError


def operands(rows, k):
    source = np.random.default_rng(0)
    shapes = ((rows, k), (k, 64))
    return [source.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in shapes]


def product(a, b):
    return a.astype(np.float32) @ b.astype(np.float32)


@pytest.mark.parametrize("rows", [64, 128])
def test_the_rows_of_a_second_warpgroup(rows):
    @sl.kernel(f"({rows},64), (64,64), (128,64)", warpgroups=2)
    def kernel(A, B, C):
        a, b = sl.alloc((rows, 64), A.dtype), sl.alloc((64, 64), B.dtype)
        sl.copy(A[:, :], a)
        sl.copy(B[:, :], b)
        row = sl.warpgroup_id() * 64
        sl.store(sl.mma(a[sl.ds(row, 64), :], b), C[sl.ds(row, 64), :])

    if rows == 64:
        with pytest.raises(TraceError, match=r"begins at row 64, .* expected row 0") as error:
            kernel.check("bf16", "bf16", "f32")
        assert "a[sl.ds(row, 64), :]" in str(error.value)
        return
    assert kernel.check("bf16", "bf16", "f32") == ()
    a, b = operands(128, 64)
    c = np.zeros((128, 64), np.float32)
    kernel[1](a, b, c, on="cpu")
    np.testing.assert_allclose(c, product(a, b), atol=1e-4)


def test_a_condition_leaves_the_starts_beyond_the_tile_out():
    @sl.kernel("(64,64), (64,64), (64,64)")
    def kernel(A, B, C):
        a, b = sl.alloc((128, 64), A.dtype), sl.alloc((64, 64), B.dtype)
        sl.copy(B[:, :], b)
        acc = sl.zeros((64, 64), sl.f32)
        for i in sl.range(4):
            part = a[sl.ds(i * 64, 64), :]
            with sl.when(i < 2):
                sl.copy(A[:, :], part)
                acc = sl.mma(part, b, acc)
        sl.store(acc, C[:, :])

    assert kernel.check("bf16", "bf16", "f32") == ()
    a, b = operands(64, 64)
    c = np.zeros((64, 64), np.float32)
    kernel[1](a, b, c, on="cpu")
    np.testing.assert_allclose(c, 2 * product(a, b), atol=1e-4)


@pytest.mark.parametrize("modulus", [4, 0])
def test_stages_of_a_loop_of_any_length(modulus):
    @sl.kernel("(64,K), (K,64), (64,64)")
    def kernel(A, B, C):
        a, b = sl.alloc((4, 64, 64), A.dtype), sl.alloc((4, 64, 64), B.dtype)
        acc = sl.zeros((64, 64), sl.f32)
        for i in sl.range(sl.cdiv(A.shape[1], 64)):
            stage = i % modulus if modulus else i
            sl.copy(A[:, sl.ds(i * 64, 64)], a[stage])
            sl.copy(B[sl.ds(i * 64, 64), :], b[stage])
            acc = sl.mma(a[stage], b[stage], acc)
        sl.store(acc, C)

    remarks = kernel.check("bf16", "bf16", "f32")
    if modulus:
        assert remarks == ()
    else:
        assert len(remarks) == 4
        assert all("begins at stage 0 or above" in remark.message for remark in remarks)
    for k in (256, 384):
        a, b = operands(64, k)
        c = np.zeros((64, 64), np.float32)
        if k > 256 and not modulus:
            with pytest.raises(Violations, match=r"4 stages .* it compares 4 with 3"):
                kernel[1](a, b, c, on="cpu")
            continue
        kernel[1](a, b, c, on="cpu")
        np.testing.assert_allclose(c, product(a, b), atol=1e-3)
