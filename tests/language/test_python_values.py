"""Variables that hold Python values, and names that branches define, after loops and branches."""

import numpy as np
import pytest
from kernel_failures import failure
from two_blocks import GIVEN, is_second, number, result, store

import mlir_smem.language as sl


class State:
    """An object."""


def refusal(function):
    return failure(function, "(64,16), (2,64,16)")[0]


def test_variables_that_hold_python_values():
    """Rebound in a branch or a loop: an error if the variable is read afterwards, and none if not."""

    def of_both(A, D):
        with sl.when(is_second()):
            name = "a"
        with sl.otherwise():
            name = "b"
        store(sl.load(A) * float(len(name)), D)

    assert refusal(of_both).startswith("name is 'b' before the branch in line")

    def none_before(A, D):
        x = None
        with sl.when(is_second()):
            x = State()
        store(sl.load(A) * (1.0 if x is None else 2.0), D)

    assert refusal(none_before).startswith("x is None before the branch in line")

    def in_a_loop(A, D):
        x = None
        for _ in sl.range(3):
            x = State()
        store(sl.load(A) * (1.0 if x is None else 2.0), D)

    assert refusal(in_a_loop).startswith("x is None before the loop in line")

    def of_one_thread(A, D):
        x = None
        with sl.elect():
            x = State()
        store(sl.load(A) * float(x.n), D)

    assert "x is None before the elected thread's block in line" in refusal(of_one_thread)

    def unread(A, D):
        x = sl.load(A)
        for i in range(2):
            x = x + float(i)
        mode = "a"
        with sl.when(is_second()):
            for i in sl.range(3):
                mode = "b"
                x = x + number(i)
        mode = "c"
        store(x + float(len(mode)), D)

    np.testing.assert_array_equal(result(unread), np.stack([GIVEN + 2, GIVEN + 5]))


def test_a_variable_that_a_loop_without_iterations_would_have_changed():
    def text(A, D):
        mode = "a"
        for _ in range(2):
            for _ in sl.range(0):
                mode = "bb"
        store(sl.load(A) * float(len(mode)), D)

    assert "mode is used here, but the loop in line" in refusal(text)

    def of_another_kind(A, D):
        x = sl.load(A)
        for _ in sl.range(0):
            x = 5.0
        store(sl.load(A) + x, D)

    assert "x is used here, but the loop in line" in refusal(of_another_kind)


def test_a_variable_that_is_read_where_a_later_branch_is_not_taken():
    """A block of `sl.when` that assigns it does not hide it: other thread blocks do not execute it."""

    def count(stop):
        for k in sl.range(stop):  # noqa: UP028
            yield k

    def kernel(A, D):
        n = 1
        for _ in count(sl.block_id(0) * 2):
            n = 5
        with sl.when(is_second()):
            n = 7
        store(sl.load(A) + number(n), D)

    np.testing.assert_array_equal(result(kernel), np.stack([GIVEN + 1, GIVEN + 7]))


def test_a_variable_of_one_thread_or_partition():
    def of_one_thread(A, D):
        x = None
        with sl.elect():
            x = 1
        store(sl.load(A) * (1.0 if x is None else 2.0), D)

    assert "for some threads alone; use another variable" in refusal(of_one_thread)

    def of_a_partition(A, D):
        x = None
        with sl.warp_specialize():
            with sl.partition():
                x = 1
            with sl.partition():
                assert x is None
        store(sl.load(A) * (1.0 if x is None else 2.0), D)

    with pytest.raises(sl.TraceError, match="x is None before the partition in line"):
        sl.kernel("(64,16), (2,64,16)", warpgroups=2, sync="manual")(of_a_partition).trace(
            sl.f32, sl.f32
        )


def test_numbers_that_both_branches_define():
    def kernel(A, D):
        with sl.when(is_second()):
            k, same = 5, 3
        with sl.otherwise():
            k, same = 7, 3
        store(sl.load(A) + number(k) + float(same), D)

    np.testing.assert_array_equal(result(kernel), np.stack([GIVEN + 10, GIVEN + 8]))
