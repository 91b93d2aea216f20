"""Warnings of spilled registers and of wgmma that ptxas serializes: Python's, at the kernel's line."""

import re
import warnings

import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.codegen import Report
from mlir_smem.codegen.errors import CompileError
from mlir_smem.codegen.ptxas import find_ptxas
from mlir_smem.language.performance import warn_of_code


@sl.kernel("(64,64):bf16, (64,64):bf16, (64,64):f32", min_blocks=8)
def wide(A, B, C):
    """A thread has 64 registers, and two accumulators in flight take all of them."""
    a, b = sl.alloc((64, 64), sl.bf16), sl.alloc((64, 64), sl.bf16)
    sl.copy(A, a)
    sl.copy(B, b)
    acc = other = sl.zeros((64, 64), sl.f32)
    for _ in sl.range(sl.block_id(0)):
        acc, other = sl.mma(a, b, acc), sl.mma(a, b, other)
    sl.store(acc * other, C)


def warnings_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return caught


@pytest.fixture
def ptxas():
    try:
        find_ptxas()
    except CompileError as error:
        pytest.skip(str(error))


def test_accumulators_that_do_not_fit_are_spilled_and_serialized(ptxas, monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    for call in (wide.cubin, wide.cubin):  # the second one reads the cache
        serialized, spills = warnings_of(call)
        assert re.fullmatch(
            r"ptxas on wide: wgmma.mma_async instructions are serialized due to .* \(C75\d\d\)",
            str(serialized.message),
        )
        assert re.fullmatch(
            r"wide spills registers: \d{4,} bytes of loads and stores, at 64 registers a thread; "
            "smaller fragments or more warpgroups need fewer, a smaller min_blocks gives more",
            str(spills.message),
        )
        for warning in (serialized, spills):
            assert warning.category is sl.PerformanceWarning
            assert (warning.filename, warning.lineno) == (
                __file__,
                wide.function.__code__.co_firstlineno,
            )


def test_earlier_stages_and_the_emulator_warn_of_nothing():
    arrays = [np.zeros(shape, dtype) for shape, dtype in EMULATED]

    def calls():
        wide.ptx()
        small[1](*arrays, on="cpu")

    assert warnings_of(calls) == []


EMULATED = [((64, 64), np.float32)] * 2


@sl.kernel("(64,64), (64,64)")
def small(A, B):
    sl.store(sl.load(A[:, :]), B)


def test_pythons_default_filter_shows_a_warning_once():
    def kernel(): ...

    def calls():
        warnings.simplefilter("default")
        for spills in (8, 8, 16):
            warn_of_code(kernel, Report(40, spills, ("warning: something else",)))

    assert [str(warning.message).split()[3] for warning in warnings_of(calls)] == ["8", "16"]
