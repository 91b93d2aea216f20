"""Names that branches define, and what is left of a trace that ends with an error in one."""

import gc

import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.language.errors import TraceError
from mlir_smem.runtime import run_on_cpu

GIVEN = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)


def check(body):
    return sl.kernel("(M,N), (M,N)")(body).check(GIVEN, GIVEN)


def test_a_name_may_stand_for_something_else_in_each_branch():
    @sl.kernel("(M,N), (M,N)")
    def kernel(A, C):
        with sl.when(sl.block_id(0) < 1):
            x = sl.load(A[0:64, 0:32])
            sl.store(x + 1.0, C[0:64, 0:32])
        with sl.otherwise():
            x = sl.block_id(0) * 32
            sl.store(sl.load(A[0:64, sl.ds(x, 32)]), C[0:64, sl.ds(x, 32)])

    compiled = kernel.compile(GIVEN, GIVEN, emit="nvvm")
    c = run_on_cpu(compiled, None, {"A": GIVEN}, ["C"], grid=(2,))["C"]
    assert np.array_equal(c[:, :32], GIVEN[:, :32] + 1)
    assert np.array_equal(c[:, 32:], GIVEN[:, 32:])


def test_a_name_that_both_branches_define_alike_has_a_value_after_them():
    @sl.kernel("(M,N), (M,N)")
    def kernel(A, C):
        with sl.when(sl.block_id(0) < 1):
            x = sl.load(A[0:64, 0:64])
            y = x * 2.0
        with sl.otherwise():
            y = sl.load(A[0:64, 0:64])
        sl.store(y, C[0:64, 0:64])

    compiled = kernel.compile(GIVEN, GIVEN, emit="nvvm")
    c = run_on_cpu(compiled, None, {"A": GIVEN}, ["C"], grid=(1,))["C"]
    assert np.array_equal(c, GIVEN * 2)


def other_kind(A, C):
    with sl.when(sl.block_id(0) < 1):
        x = sl.load(A[0:64, 0:64])
    with sl.otherwise():
        x = sl.load(A[0:64, 0:32])
    sl.store(x, C[0:64, 0:64])


def one_branch(A, C):
    with sl.when(sl.block_id(0) < 1):
        x = sl.load(A[0:64, 0:64])
    with sl.otherwise():
        sl.store(sl.load(A[0:64, 0:64]), C[0:64, 0:64])
    sl.store(x, C[0:64, 0:64])


def of_the_other(A, C):
    with sl.when(sl.block_id(0) < 1):
        x = sl.load(A[0:64, 0:64])
    with sl.otherwise():
        sl.store(x, C[0:64, 0:64])


@pytest.mark.parametrize(
    "body, defines",
    [(other_kind, "the other branch"), (one_branch, "the branch"), (of_the_other, "the branch")],
)
def test_a_name_of_one_branch_is_not_known_outside_of_it(body, defines):
    with pytest.raises(TraceError) as error:
        check(body)
    assert f"x is used here, but {defines} in line" in error.value.message
    assert error.value.message.endswith("give it a value before, so that it is carried out")


def fails_in_a_branch(A, C):
    t = sl.block_id(0)
    x = t + 1
    for k in sl.range(t):
        with sl.when(k < x):
            x = x + sl.load(A[0:64, 0:64])


def fails_after_a_branch(A, C):
    t = sl.block_id(0)
    x = t + 1
    with sl.when(t < 1):
        x = x * t
    with sl.otherwise():
        x = sl.load(A[0:64, sl.ds(t, 32)])
        sl.store(x, C[0:64, 0:32])
    sl.store(x, C[0:64, 0:32])


def fails_in_a_loop(A, C):
    t = sl.block_id(0)
    for _ in sl.range(t + 1):
        t = sl.load(A[sl.ds(t * 64, 64), 0:64])


@pytest.mark.parametrize("body", [fails_in_a_branch, fails_after_a_branch, fails_in_a_loop])
def test_a_trace_that_fails_leaves_no_uses_of_freed_values(body):
    """The memory of the process was corrupted, if the kernel was freed before its detached blocks."""
    kernel = sl.kernel("(M,N), (M,N)")(body)
    for _ in range(50):
        with pytest.raises(TraceError):
            kernel.check(GIVEN, GIVEN)
        gc.collect(1)  # a whole collection takes half a second in a process of many tests
