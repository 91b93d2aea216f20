"""Statements that leave a block early: refused at their line if the kernel would lose what follows."""

import contextlib

import numpy as np
import pytest
from kernel_failures import failure
from two_blocks import GIVEN, is_second, result, store

import mlir_smem.language as sl


def return_in_when(A, D):
    with sl.when(is_second()):
        return
    store(sl.load(A), D)


def return_on_the_line_of_when(A, D):
    # fmt: off
    with sl.when(is_second()): return  # noqa: E701
    # fmt: on
    store(sl.load(A), D)


def return_behind_a_statement(A, D):
    # fmt: off
    with sl.when(is_second()):
        x = sl.load(A); return  # noqa: E702
    # fmt: on
    store(x, D)


def return_in_otherwise(A, D):
    with sl.when(is_second()):
        pass
    with sl.otherwise():
        return
    store(sl.load(A), D)


def continue_in_when(A, D):
    for k in sl.range(3):
        with sl.when(k < 2):
            continue
        store(sl.load(A), D)


def break_of_an_unrolled_loop(A, D):
    for _ in range(3):
        with sl.when(is_second()):
            break
        store(sl.load(A), D)


def return_in_elect(A, D):
    with sl.elect():
        return
    store(sl.load(A), D)


def return_of_a_value(A, D):
    def helper(x):
        with sl.when(is_second()):
            return x + 1.0
        return x

    store(helper(sl.load(A)), D)


def return_of_a_constant(A, D):
    def helper():
        with sl.when(is_second()):
            return 5
        return 6

    store(sl.load(A) * float(helper()), D)


def return_where_python_decides(A, D):
    with sl.when(is_second()):
        if len(D.shape) == 3:
            return
        store(sl.load(A), D)
    store(sl.load(A), D)


def return_through_another_block(A, D):
    with sl.when(is_second()), contextlib.nullcontext():
        return
    store(sl.load(A), D)


def return_through_finally(A, D):
    x = sl.load(A)
    with sl.when(is_second()):
        try:
            return
        finally:
            x = x + 1.0
    store(x, D)


def continue_in_a_while(A, D):
    n = 0
    while n < 2:
        n += 1
        with sl.when(is_second()):
            continue
        store(sl.load(A), D)


REFUSED = [
    (return_in_when, "return leaves the branch", "return"),
    (
        return_on_the_line_of_when,
        "leaves the branch",
        "with sl.when(is_second()): return  # noqa: E701",
    ),
    (return_behind_a_statement, "return leaves", "x = sl.load(A); return  # noqa: E702"),
    (return_in_otherwise, "return leaves the other branch", "return"),
    (continue_in_when, "continue leaves the branch", "continue"),
    (break_of_an_unrolled_loop, "leaves the branch", "break"),
    (return_in_elect, "return leaves the elected thread's block", "return"),
    (return_of_a_value, "return leaves the branch", "return x + 1.0"),
    (return_of_a_constant, "return leaves the branch", "return 5"),
    (return_where_python_decides, "return leaves the branch", "return"),
    (return_through_another_block, "leaves the branch", "return"),
    (return_through_finally, "return leaves the branch", "x = x + 1.0"),
    (continue_in_a_while, "leaves the branch", "continue"),
]


@pytest.mark.parametrize("function, text, line", REFUSED, ids=lambda x: getattr(x, "__name__", ""))
def test_an_early_exit_is_refused_at_its_line(function, text, line):
    message, where, _ = failure(function, "(64,16), (2,64,16)")
    assert text in message and "the code behind it for all threads" in message
    assert where == line


def test_a_partition_is_not_left():
    def kernel(A, D):
        with sl.warp_specialize():
            with sl.partition():
                return
            with sl.partition():
                store(sl.load(A), D)

    decorate = sl.kernel("(64,16), (2,64,16)", warpgroups=2, sync="manual")
    with pytest.raises(sl.TraceError, match="return leaves the partition in line"):
        decorate(kernel).trace(sl.f32, sl.f32)


def test_what_python_itself_decides_may_leave():
    """A `return` before a branch, `continue` in an unrolled loop and in one of the kernel."""

    def kernel(A, D):
        def helper(x, is_done):
            if is_done:
                return x
            with sl.when(is_second()):
                x = x + 1.0
            return x

        x = helper(sl.load(A), True)
        for k in range(4):
            if k == 2:
                continue
            x = helper(x, k > 1)
            if k == 3:
                break
        for _ in sl.range(2):
            x = x + 10.0
            if D is not None:
                continue
            x = x * 0.0
        store(x, D)
        return

    expected = np.stack([GIVEN + 20, GIVEN + 22])
    np.testing.assert_array_equal(result(kernel), expected)


def test_a_block_that_ends_with_the_function_or_the_loop():
    def kernel(A, D):
        x = sl.load(A)
        for k in sl.range(2):
            with sl.when(k == sl.block_id(0)):
                store(x, D)
                # Nothing is behind it, so this is the end of the block.
                continue
        with sl.when(is_second()):
            store(x + 1.0, D)
            return

    np.testing.assert_array_equal(result(kernel), np.stack([GIVEN, GIVEN + 1]))


def test_an_exception_ends_the_trace():
    def kernel(A, D):
        x = sl.load(A)
        with contextlib.suppress(KeyError), sl.when(is_second()):
            raise KeyError("of the author")
        store(x, D)

    message = failure(kernel, "(64,16), (2,64,16)")[0]
    assert "the branch in line" in message and "was left by an exception (KeyError)" in message


def test_a_block_is_that_of_a_with_statement():
    def by_hand(A, D):
        sl.when(is_second()).__enter__()

    assert "is not entered by a with statement" in failure(by_hand, "(64,16), (2,64,16)")[0]

    def by_a_stack(A, D):
        with contextlib.ExitStack() as stack:
            stack.enter_context(sl.when(is_second()))
            store(sl.load(A), D)

    with pytest.raises(sl.TraceError, match="is not entered by a with statement"):
        sl.kernel("(64,16), (2,64,16)", sync="manual")(by_a_stack).trace(sl.f32, sl.f32)


def test_source_that_cannot_be_read():
    """As in a prompt: what leaves a block is seen in the code that runs."""
    namespace = {"sl": sl}
    exec(
        "def kernel(A, D):\n with sl.when(sl.block_id(0) > 0):\n  return\n sl.store(sl.load(A), D)",
        namespace,
    )
    with pytest.raises(sl.TraceError, match="return leaves the branch"):
        sl.kernel("(64,16), (64,16)", sync="manual")(namespace["kernel"]).trace(sl.f32, sl.f32)
