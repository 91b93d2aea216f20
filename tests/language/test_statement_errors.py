"""Mistakes in loops, branches and declarations of a kernel."""

import contextlib
import inspect

import pytest
from kernel_failures import F, failure

import mlir_smem.language as sl


def test_a_variable_changes_its_shape_in_a_loop():
    def kernel(A, B):
        x = sl.load(A[0:64, :])
        for _ in sl.range(4):
            x = x[:, 0:32]

    assert failure(kernel)[0].startswith("x is a fragment 64x64 of f32 before the loop in line")
    assert (
        "and a fragment 64x32 of f32 after it; a variable keeps its shape and type"
        in (failure(kernel)[0])
    )


def test_an_accumulator_is_waited_for_in_the_loop_alone():
    def kernel(A, B):
        a = sl.alloc((64, 64), sl.bf16)
        acc = sl.mma(a, a)
        for _ in sl.range(4):
            acc = sl.wait(sl.mma(a, a, acc))

    assert failure(kernel)[0] == (
        "acc is in flight before the loop, and readable after its body; put sl.wait before the loop, or "
        "at the end of its body"
    )


def test_a_python_number_that_depends_on_the_iteration():
    def kernel(A, B):
        x = 1.0
        for _ in sl.range(4):
            x = x * 2.0

    message = failure(kernel)[0]
    assert message.startswith("x is 1.0 before the loop in line")
    assert "and 2.0 after its body, which is traced once; a loop carries integers" in message


def test_an_index_that_may_become_negative():
    def kernel(A, B):
        i = 10
        for _ in sl.range(4):
            i = i - 1

    message = failure(kernel)[0]
    assert message.startswith("i is 0 or more before the loop in line")
    assert "write sl.unsigned(...) around a difference that is not, or sl.signed(...)" in message


def test_a_break_through_a_context():
    def kernel(A, B):
        for _ in sl.range(4):
            with contextlib.nullcontext():
                break
        sl.barrier()

    message, line, _ = failure(kernel)
    assert "the loop in line" in message and "was left before its end" in message
    assert line == "for _ in sl.range(4):"


def test_a_return_through_a_context():
    def kernel(A, B):
        for _ in sl.range(4):
            with contextlib.nullcontext():
                return

    message, line, _ = failure(kernel)
    assert "was left before its end, by a jump out of the block of a with statement" in message
    assert line == "for _ in sl.range(4):"


def test_a_step_below_one():
    def kernel(A, B):
        for _ in sl.range(0, 4, 0):
            pass

    assert failure(kernel)[0] == "sl.range has the step 0; expected 1 or more"


def test_an_otherwise_without_a_when():
    def kernel(A, B):
        with sl.otherwise():
            pass

    assert failure(kernel)[0] == "sl.otherwise() does not follow the block of an sl.when"


def test_an_otherwise_after_something_else():
    def kernel(A, B):
        with sl.when(sl.block_id(0) < 1):
            pass
        sl.barrier()
        with sl.otherwise():
            pass

    assert failure(kernel)[0] == "sl.otherwise() does not follow the block of an sl.when"


def test_a_condition_that_is_none():
    def kernel(A, B):
        with sl.when(sl.block_id(0)):
            pass

    assert failure(kernel)[0] == "expected a condition, for example k < n, not an index"


def test_a_branch_changes_what_was_no_value():
    def kernel(A, B):
        x = 1.5
        with sl.when(sl.block_id(0) < 1):
            x = sl.load(A[0:64, :])
        sl.store(x, B[0:64, :])

    assert "x is 1.5 before the branch in line" in failure(kernel)[0]


def test_the_grid_is_declared_twice():
    def kernel(A, B):
        sl.grid(A.shape[0])
        sl.grid(A.shape[0])

    assert failure(kernel)[0] == "the grid is declared twice; call sl.grid once"


def test_a_grid_of_something_else():
    def kernel(A, B):
        sl.grid(A.shape[0] * 2)

    message = failure(kernel)[0]
    assert "the grid along x is an index; expected sl.cdiv(extent, number) of an extent" in message


def test_a_multiple_of_something_else():
    def kernel(A, B):
        sl.multiple_of(A.shape[0] * 2, 64)

    assert (
        "sl.multiple_of takes an extent of an array, such as M, K = A.shape; not an index"
        in (failure(kernel)[0])
    )


def test_a_fixed_extent_that_is_no_multiple():
    def kernel(A, B):
        sl.multiple_of(A.shape[1], 48)

    assert failure(kernel)[0] == "the extent 64 is not a multiple of 48"


def test_dividing_by_zero():
    def kernel(A, B):
        _ = sl.block_id(0) // 0

    assert failure(kernel)[0] == "an index is divided by 0"


def test_a_kernel_returns_a_value():
    def kernel(A, B):
        return A

    with pytest.raises(
        sl.TraceError, match="the kernel kernel returns a value; it writes its results"
    ):
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)


def test_a_rule_of_an_op_is_an_error_at_the_line():
    def kernel(A, B):
        a = sl.alloc((64, 8), sl.bf16)
        b = sl.alloc((8, 64), sl.bf16)
        sl.mma(a, b)

    message, line, text = failure(kernel)
    assert message == "sl.mma has K = 8; expected a multiple of 16 for bf16"
    assert line == "sl.mma(a, b)"
    assert text.splitlines()[2].strip().startswith("^")


def test_a_mistake_in_a_function_that_the_kernel_calls():
    def helper(A):
        return A[0:64, 0:128]

    def kernel(A, B):
        helper(A)

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)
    assert "0 : 128 of dimension 1" in caught.value.message
    _, first = inspect.getsourcelines(helper)
    assert caught.value.position.line == first + 1


def test_the_traceback_has_no_frames_of_the_language():
    def kernel(A, B):
        A[0:64, 0:128]

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)
    files = [entry.path.name for entry in caught.traceback]
    assert files[0] == files[-1] == "test_statement_errors.py"
    assert set(files[1:-1]) == {"traced_function.py"}


def test_the_language_outside_of_a_kernel():
    with pytest.raises(sl.TraceError, match="no kernel is being traced"):
        sl.alloc((64, 64), sl.f32)
