"""Which variables a loop or a branch carries, and what it refuses."""

import sys

import numpy as np
import pytest
from kernel_failures import failure

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu

F = sl.f32
A = np.trunc(np.random.default_rng(5).standard_normal((64, 64)) * 8).astype(np.float32)


def result(function):
    """Return what a kernel of one warpgroup makes of A."""
    compiled = sl.kernel("(64,64), (64,64)", sync="manual")(function).compile(F, F, emit="nvvm")
    return run_on_cpu(compiled, None, {"A": A}, ["D"], grid=(1,))["D"]


def test_lists_and_tuples_that_are_bound_anew():
    def kernel(A, D):
        x = sl.load(A)
        both, pair, count = [x, x * 2.0], (x, (x, 0)), 0
        for _ in sl.range(3):
            both = [fragment + 1.0 for fragment in both]
            pair = (pair[0] + 2.0, (pair[1][0], pair[1][1] + 1))
            count += 1
        total = both[0] + both[1] + pair[0] + pair[1][0]
        with sl.when((pair[1][1] == 3) & (count == 3)):
            total = total * 2.0
        sl.store(total, D)

    np.testing.assert_array_equal(result(kernel), ((A + 3) + (2 * A + 3) + (A + 6) + A) * 2)


def test_lists_in_a_branch():
    def kernel(A, D):
        x = sl.load(A)
        both = [x, x]
        with sl.when(sl.block_id(0) == 0):
            both = [both[0] + 1.0, both[1] * 2.0]
        with sl.otherwise():
            both = [x * 100.0, x]
        sl.store(both[0] + both[1], D)

    np.testing.assert_array_equal(result(kernel), A + 1 + 2 * A)


def test_a_variable_of_the_body_may_have_another_type_before():
    def kernel(A, D):
        x, y = sl.load(A), sl.load(A)[:, 0:32]
        for _ in sl.range(2):
            y = x + 1.0
            x = y * 2.0
        sl.store(x, D)

    np.testing.assert_array_equal(result(kernel), ((A + 1) * 2 + 1) * 2)


def test_an_extent_becomes_another_index():
    def kernel(A, D):
        n = sl.warpgroup_id() + 3
        x = sl.load(A)
        for _ in sl.range(n):
            n = n + 1
            x = x + 1.0
        with sl.when(n == 6):
            x = x * 2.0
        sl.store(x, D)

    np.testing.assert_array_equal(result(kernel), (A + 3) * 2)


def test_an_integer_that_a_branch_of_a_loop_changes():
    """The other branch, and what follows, read what an earlier iteration has assigned."""

    def kernel(A, D):
        in_other, behind, total, count = 1, 1, 0, 0
        for i in sl.range(sl.warpgroup_id() + 5):
            with sl.when(i % 2 == 0):
                in_other = 5
            with sl.otherwise():
                total += in_other
            with sl.when(i == 1):
                behind = 7
            count += behind
        sl.store(sl.load(A) + (sl.iota(0) * 0 + total * 100 + count).to(F), D)

    np.testing.assert_array_equal(result(kernel), A + 2 * 5 * 100 + 1 + 4 * 7)


def test_an_integer_that_a_later_unrolled_step_changes():
    """The first step reads what the last step of the iteration before has assigned."""

    def kernel(A, D):
        step, unread, total = 10, 10, 0
        for i in sl.range(sl.warpgroup_id() + 4):
            for j in range(2):
                if j == 1:
                    step = i
                else:
                    unread = 2
                total += step
                for _ in range(unread):
                    total += 100
        sl.store(sl.load(A) + (sl.iota(0) * 0 + total).to(F), D)

    total = 10 + 0 + 0 + 1 + 1 + 2 + 2 + 3 + 4 * 2 * 2 * 100
    np.testing.assert_array_equal(result(kernel), A + total)


def test_a_text_that_a_later_unrolled_step_changes():
    def kernel(A, D):
        x, way = sl.load(A), "up"
        for _ in sl.range(sl.warpgroup_id() + 4):
            for j in range(2):
                if j == 1:
                    way = "down"
                x = x + (1.0 if way == "up" else -1.0)
        sl.store(x, D)

    message, line, _ = failure(kernel, "(64,64), (64,64)")
    assert line == 'x = x + (1.0 if way == "up" else -1.0)'
    assert message.startswith("way is 'up' before the loop in line")
    assert "'down' after its body, which is traced once; a loop carries integers" in message


def test_integers_and_truth_values_are_known_after_a_loop():
    def kernel(A, D):
        last, is_done = 5, False
        for i in sl.range(sl.warpgroup_id() + 3):
            last = i
            is_done = True
        x = sl.load(A) + (sl.iota(0) * 0 + last).to(F)
        if is_done:
            x = x + 10.0
        sl.store(x, D)

    np.testing.assert_array_equal(result(kernel), A + 2 + 10)


def test_while_a_debugger_traces_each_line():
    def kernel(A, D):
        x = sl.load(A)
        total = x
        for _ in sl.range(3):
            total = total + x
            with sl.when(sl.block_id(0) == 0):
                total = total + 1.0
        sl.store(total, D)

    lines = []

    def follow(frame, event, argument):
        if frame.f_code.co_name == "kernel":
            lines.append((frame.f_lineno, len(frame.f_locals)))
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        d = result(kernel)
    finally:
        sys.settrace(before)
    assert len(lines) > 8
    np.testing.assert_array_equal(d, 4 * A + 3)


def test_after_an_error_another_kernel_is_traced():
    def wrong(A, D):
        for _ in sl.range(3):
            with sl.when(sl.block_id(0) < 1):
                raise KeyError("of the author")

    def right(A, D):
        sl.store(sl.load(A), D)

    with pytest.raises(KeyError, match="of the author"):
        sl.kernel("(64,64), (64,64)", sync="manual")(wrong).trace(F, F)
    np.testing.assert_array_equal(result(right), A)


def test_a_kernel_is_traced_in_another():
    def outer(A, D):
        def inner(B):
            sl.store(sl.load(B), B)

        x = sl.load(A)
        sl.kernel("(64,64)", sync="manual")(inner).trace(F)
        sl.store(x + 1.0, D)

    np.testing.assert_array_equal(result(outer), A + 1)


@pytest.mark.parametrize("wrap", [enumerate, list, lambda numbers: zip(numbers, [1], strict=False)])
def test_a_range_that_something_else_iterates_over(wrap):
    def kernel(A, B):
        for pair in wrap(sl.range(sl.block_id(0))):
            del pair

    with pytest.raises(sl.TraceError, match="is not what a for statement iterates over") as error:
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)
    assert "write for k in sl.range(n):" in error.value.message

    def of_numbers(A, D):
        x = sl.load(A)
        for _ in wrap(sl.range(1, 4, 2)):
            x = x + 1.0
        sl.store(x, D)

    repeated = sum(1 for _ in wrap(range(1, 4, 2)))
    np.testing.assert_array_equal(result(of_numbers), A + repeated)


def test_a_text_that_a_branch_changes():
    def kernel(A, B):
        mode = "a"
        with sl.when(sl.block_id(0) < 1):
            mode = "b"
        del mode

    assert failure(kernel)[0].startswith("mode is 'a' before the branch in line")


def test_a_deleted_variable():
    def kernel(A, B):
        x = sl.load(A[0:64, :])
        for _ in sl.range(3):
            x = x + 1.0
            del x

    assert "x is a fragment 64x64 of f32 before the loop in line" in failure(kernel)[0]


def test_an_expression_is_computed_once():
    def kernel(A, D):
        p = sl.exp2(sl.load(A))
        sl.store(p * 2.0 - p.max(axis=1) + p, D)

    traced = sl.kernel("(64,64), (64,64)", sync="manual")(kernel)
    assert traced.mlir(F, F).count("math.exp2") == 1


def test_an_a_is_converted_once():
    def kernel(A, D):
        p, v = sl.exp2(sl.load(A)).to(sl.f16), sl.alloc((64, 64), sl.f16)
        sl.store(sl.wait(sl.mma(p, v, sl.mma(p, v))), D)

    text = sl.kernel("(64,64), (64,64)", sync="manual")(kernel).mlir(F, F)
    assert text.count("smem.convert") == text.count("math.exp2") == 1


def test_an_expression_of_a_branch_is_computed_again_outside():
    def kernel(A, D):
        x = sl.load(A)
        p, y = x * 3.0, x
        with sl.when(sl.block_id(0) == 0):
            y = p + 1.0
            sl.store(p, D)
        with sl.otherwise():
            y = p - 1.0
            sl.store(p, D)
        for _ in sl.range(2):
            sl.store(p, D)
        sl.store(p + y, D)

    np.testing.assert_array_equal(result(kernel), 6 * A + 1)


def test_a_function_counts_an_integer_of_the_kernel():
    def kernel(A, D):
        x, n = sl.load(A), 0

        def bump():
            nonlocal x, n
            x, n = x + 1.0, n + 1

        for _ in sl.range(3):
            bump()
            bump()
        with sl.when(n == 6):
            x = x * 2.0
        sl.store(x, D)

    np.testing.assert_array_equal(result(kernel), (A + 6) * 2)


def test_a_variable_is_yielded_that_is_another_ones_argument():
    def kernel(A, D):
        x = sl.load(A)
        y = x * 2.0
        for _ in sl.range(2):
            for _ in sl.range(2):
                y = x
                with sl.when(sl.block_id(0) > 5):
                    x = x + 1.0
        sl.store(y + x, D)

    np.testing.assert_array_equal(result(kernel), 2 * A)


def test_a_tile_is_not_carried():
    def kernel(A, B):
        tiles = sl.alloc((2, 64, 64), sl.f32)
        now = tiles[0]
        for k in sl.range(4):
            sl.copy(A[0:64, :], now)
            now = tiles[k % 2]

    message = failure(kernel)[0]
    assert message.startswith("now is a tile 64x64 of f32 before the loop in line")
    assert message.endswith("a loop carries an index: take the stages of one tile by it, t[k % 2]")


def test_a_list_of_constants_that_depends_on_the_iteration():
    def kernel(A, B):
        sizes = [1, 2]
        for _ in sl.range(4):
            sizes = [*sizes, 3]

    assert failure(kernel)[0].startswith("sizes is [1, 2] before the loop in line")


def test_a_constant_of_a_loops_body_is_not_defined_after_it():
    def scale(A, B):
        number = 1.0
        for _ in sl.range(sl.block_id(0)):
            number = 2.0
        sl.store(sl.load(A[0:64, :]) * number, B[0:64, :])

    assert "number is used here, but the loop in line" in failure(scale)[0]


def test_constants_of_a_partition():
    def kernel(A, D):
        factor = 1
        with sl.warp_specialize():
            with sl.partition():
                factor = 2
                sl.store(sl.load(A) * factor, D)
            with sl.partition():
                sl.store(sl.load(A) * factor, D)

    decorate = sl.kernel("(64,64), (64,64)", warpgroups=2, sync="manual")
    text = decorate(kernel).mlir(F, F)
    assert "2.000000e+00" in text and "1.000000e+00" in text

    def after(A, B):
        factor = 1
        with sl.elect():
            factor = 2
        sl.store(sl.load(A[0:64, :]) * factor, B[0:64, :])

    assert "factor" in failure(after)[0]


def test_one_of_two_indices_or_numbers():
    def kernel(A, D):
        n = sl.where(sl.block_id(0) == 0, sl.block_id(0) + 2, 7)
        factor = sl.where(n == 2, A[0, 0], 5.0)
        sl.store(sl.load(A) * factor, D)

    np.testing.assert_array_equal(result(kernel), A * A[0, 0])


def test_a_number_is_no_index():
    def kernel(A, B):
        for _ in sl.range(A[0, 0]):
            pass

    assert failure(kernel)[0] == (
        "expected an index or an integer, not a number of f32; x.to(sl.index) converts it, and x // "
        "y is a whole quotient"
    )
