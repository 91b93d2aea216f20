"""`while` on conditions of the kernel does what Python's `while` does."""

import random

import numpy as np
import pytest
from kernel_failures import failure
from ml_dtypes import bfloat16

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu

BLOCKS = 6


class State:
    """A number that functions change."""

    def __init__(self):
        self.steps = 0

    def is_below(self, limit):
        self.steps += 1
        return self.steps < limit


def doubles(i, n):
    x = 1
    while x < i * 7:
        x = x * 2
    return x


def never_begins(i, n):
    x = i
    while x > n + 100:
        x = x + 1
    return x


def breaks_and_continues(i, n):
    x, total = 0, 0
    while x < n * 3:
        x = x + 1
        if x == i:
            continue
        if x * 2 > i + n:
            break
        total = total + x
    return total * 10 + x


def begins_on_pythons_value(i, n):
    x = 0
    while True:
        x = x + i + 1
        if x > n:
            break
    return x


def is_pythons_value(i, n):
    x, parts = 4, []
    while x > 0:
        parts.append(i * x)
        x -= 2
    parts.append(n)
    return sum(parts)


def becomes_the_kernels(i, n):
    x, found = 0, False
    while not found:
        x = x + 2
        found = x > i
    return x


def has_else(i, n):
    x = 0
    while x < n:
        if x == i:
            break
        x = x + 1
    else:
        x = x + 50
    return x


def returns(i, n):
    x = 0
    while x < 10:
        if x * x > i + n:
            return x
        x = x + 1
    return 77


def loops_nest(i, n):
    x, total = 0, 0
    while x < i:
        y = 0
        while y < x and total < 20:
            total = total + 1
            y = y + 1
        for z in range(n):
            if z == y:
                break
            total = total + z
        x = x + 1
    return total


def returns_from_loops(i, n):
    for x in range(i):
        for y in range(3):
            if y == 1:
                break
        if x == 2:
            return x + y
    return i * 10


def begins_again_around_a_loop(i, n):
    x, y = 0, i
    while y < x % 2 + 1:
        y = y + 1
        z = 0
        while z < 3 and n <= i + x:
            z = z + 1
            x = (x + i) % 4
    for _ in range(i):
        if x == 9:
            continue
        y = y + 2
    return x + y * 10


def in_a_branch(i, n):
    x = i
    if i > 2:
        while x < n + 9:
            x = x + 4
    return x


def has_state(i, n):
    state, seen = State(), [0, 0]
    while state.is_below(i + 2):
        seen[1] = seen[1] + state.steps
    return state.steps * 100 + seen[1]


def assigns_in_its_condition(i, n):
    x = 0
    while (x := x + 3) < i + n:
        pass
    return x


def counts_by_a_number(i, n):
    x = i
    while x:
        x = sl.unsigned(x - 1) if isinstance(x, sl.Index) else x - 1
    return x + 5


def smallest_and_largest(i, n):
    return (
        min(i, n)
        + 10 * max(i, 2, n - 1)
        + 100 * min([i + 1, n, 4])
        + 1000 * max(x * i for x in (1, 2))
        + 10000 * min(3, 2)
        + 20000 * max([], default=1)
    )


def truths_of_numbers(i, n):
    x = (i and n) or 7
    y = not i
    z = 1 if 0 <= i < i + 1 <= n != i * 2 else 0
    return x + (100 if y else 200) + z * 1000 + (i or 5) * 10000


FUNCTIONS = [
    *(doubles, never_begins, breaks_and_continues, begins_on_pythons_value, is_pythons_value),
    *(becomes_the_kernels, has_else, returns, loops_nest, in_a_branch, has_state),
    *(returns_from_loops, begins_again_around_a_loop, assigns_in_its_condition, counts_by_a_number),
    *(smallest_and_largest, truths_of_numbers),
]


@pytest.fixture(scope="module")
def results():
    @sl.kernel(f"({64 * BLOCKS},24)", sync="manual")
    def kernel(C):
        i, n = sl.block_id(0), sl.warpgroup_id() + 3
        row = sl.zeros((64, 24), sl.f32)
        for column, function in enumerate(FUNCTIONS):
            number = (sl.iota(0) * 0 + function(i, n)).to(sl.f32)
            row = sl.where(sl.iota(1) == column, number, row)
        sl.store(row, C[sl.ds(i * 64, 64), :])

    compiled = kernel.compile(sl.f32, emit="nvvm")
    return run_on_cpu(compiled, None, {}, ["C"], grid=(BLOCKS,))["C"][::64]


@pytest.mark.parametrize("column", range(len(FUNCTIONS)), ids=[f.__name__ for f in FUNCTIONS])
def test_a_while_loop_does_what_python_does(results, column):
    expected = [FUNCTIONS[column](i, 3) for i in range(BLOCKS)]
    assert results[:, column].tolist() == expected


def test_the_larger_of_two_floats():
    """As Python's: the second one if a comparison with it holds."""

    @sl.kernel("(64,16), (64,16), (64,16)", sync="manual")
    def kernel(A, B, C):
        a, b = sl.load(A[:, :]), sl.load(B[:, :])
        sl.store(max(a, b) + min(A[0, 0], 2.0, B[0, 0]), C[:, :])

    nan = float("nan")
    a, b, c = (np.zeros((64, 16), np.float32) for _ in range(3))
    a[0, :4], b[0, :4] = [4, nan, 1, 2], [3, 1, nan, 5]
    kernel[1](a, b, c, on="cpu")
    pairs = zip(a[0, :4], b[0, :4], strict=True)
    np.testing.assert_array_equal(c[0, :4], [2 + max(pair) for pair in pairs])


def test_a_while_loop_of_pythons_values_is_unrolled():
    def kernel(C):
        x = 0
        while x < 3:
            sl.store(sl.zeros((64, 16), sl.f32) + float(x), C[:, :])
            x += 1

    text = sl.kernel("(64,16)")(kernel).mlir(sl.f32)
    assert text.count('"smem.store"') == 3 and "scf." not in text


def test_tiles_and_products_in_a_while_loop():
    """The prover follows an `scf.while`: waits, fences and barriers are inserted, and all is proven."""

    @sl.kernel("(64,K), (K,64), (64,64):f32")
    def kernel(A, B, C):
        K = sl.multiple_of(A.shape[1], 64)
        a, b = sl.alloc((2, 64, 64), sl.bf16), sl.alloc((64, 64), sl.bf16)
        acc, k, stage = sl.zeros((64, 64), sl.f32), 0, 0
        while k < K:
            sl.copy(A[:, sl.ds(k, 64)], a[stage % 2])
            sl.copy(B[sl.ds(k, 64), :], b)
            acc = sl.mma(a[stage % 2], b, acc)
            k, stage = k + 64, stage + 1
        sl.store(acc, C[:, :])

    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(-3, 4, shape).astype(bfloat16) for shape in ((64, 256), (256, 64)))
    compiled = kernel.compile(sl.bf16, sl.bf16, sl.f32, emit="nvvm")
    results = run_on_cpu(compiled, None, {"A": a, "B": b}, ["C"], grid=(1,))["C"]
    np.testing.assert_array_equal(results, a.astype("f4") @ b.astype("f4"))
    assert not kernel.check(sl.bf16, sl.bf16, sl.f32)


def test_threads_that_do_not_loop_alike_are_not_proven():
    def kernel(A):
        a, k = sl.alloc((64, 64), sl.bf16), sl.thread_id()
        while k < 70:
            sl.copy(A[:, :], a)
            sl.barrier()
            sl.store(sl.load(a), A[:, :])
            k = k + 1

    kernel = sl.kernel("(64,64)", sync="manual")(kernel)
    remarks = [remark.message for remark in kernel.check(sl.bf16)]
    assert any("its condition is not known to be the same for all threads" in x for x in remarks)


def test_a_while_loop_without_an_end():
    def kernel(A, B):
        numbers = random.Random(3)  # true, of the kernel, then true in the loop
        while numbers.random() < 0.5 or sl.block_id(0) < 3:
            pass

    message, line, _ = failure(kernel)
    assert message.startswith("the loop in line")
    assert message.endswith(" does not end: its condition is always true")
    assert line == "while numbers.random() < 0.5 or sl.block_id(0) < 3:"


def test_a_list_that_grows():
    def kernel(A, B):
        parts = []
        while sl.block_id(0) > len(parts):
            parts.append(1)

    message, line, _ = failure(kernel)
    assert "parts" in message and "gets or loses values" in message
    assert line == "while sl.block_id(0) > len(parts):"


def test_what_follows_an_early_return_may_change_what_python_keeps():
    """Nothing sees the kernel's state after its end."""

    @sl.kernel(f"({64 * BLOCKS},16)", sync="manual")
    def kernel(C):
        numbers, parts = iter([5, 7]), []
        if sl.block_id(0) > 3:
            return
        for _ in range(2):
            parts.append(next(numbers))
        sl.store(
            sl.zeros((64, 16), sl.f32) + float(sum(parts)), C[sl.ds(sl.block_id(0) * 64, 64), :]
        )

    c = np.ones((64 * BLOCKS, 16), np.float32)
    kernel[BLOCKS](c, on="cpu")
    assert c[::64, 0].tolist() == [12, 12, 12, 12, 1, 1]


def chooses_fragments(x, i):
    if i == 1:
        return x + 1.0
    y = x * 2.0
    for k in range(i + 1):
        if k == 2:
            return y + 10.0
        y = y + 1.0
    return y


def test_fragments_returned_from_branches_and_loops():
    @sl.kernel(f"({64 * BLOCKS},16), ({64 * BLOCKS},16)", sync="manual")
    def kernel(A, C):
        i = sl.block_id(0)
        rows = sl.ds(i * 64, 64)
        sl.store(chooses_fragments(sl.load(A[rows, :]), i), C[rows, :])

    a = np.arange(64 * BLOCKS * 16, dtype=np.float32).reshape(-1, 16)
    c = np.zeros_like(a)
    kernel[BLOCKS](a, c, on="cpu")
    for i, (x, y) in enumerate(zip(np.split(a, BLOCKS), np.split(c, BLOCKS), strict=True)):
        np.testing.assert_array_equal(y, chooses_fragments(x, i))


def test_a_fragment_that_cannot_be_returned_from_a_branch():
    def kernel(A, B):
        def operand(tile, i):
            for k in range(i):
                if k == 3:
                    return sl.load(tile, a=True)
            return sl.load(tile, a=True)

        operand(sl.alloc((64, 64), sl.bf16), sl.block_id(0))

    message, line, _ = failure(kernel)
    assert message == (
        "a function returns an A fragment 64x64 of bf16 from a branch, and goes on after it; put what is "
        "done otherwise into else"
    )
    assert line == "if k == 3:"
