"""Python's statements and expressions on conditions of the kernel do what Python does."""

import functools
import operator

import numpy as np
import pytest
from kernel_failures import failure

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu


class Counter:
    """A counter with a list, as an author may bring one along."""

    def __init__(self):
        self.count = 0
        self.last = [0, 0]

    def add(self, number, limit=4):
        if number > 2 or self.count > limit:
            self.count += number
            self.last[1] = number
        elif number == 1:
            self.last[0] = self.count + 7


def choose_branch(i, n):
    if i < n:
        total = i + 1
    elif i == n:
        total = 100
    else:
        total = i * 2
    return total


def branch_in_branches(i, n):
    x = 3
    if i > 0:
        if i > n:
            x = x + i
        x = x + 10
        if not (i == n or x == 14):
            x = 5
    else:
        x = 9
    return x


def conditions(i, n):
    return (
        (1 if i < n and n < 5 and i else 2)
        + (10 if i == 3 or i > n or n == 0 else 20)
        + (100 if not i < n else 200)
    )


def compare_in_chains(i, n):
    return (1 if 1 <= i < n else 2) + (10 if 0 < i <= 3 != n else 20)


def guard_operands(i, n):
    return 7 if i != 0 and 12 // i > n else (0 if i == 0 or 12 % i == 0 else 1)


def loops(i, n):
    total, seen = 0, False
    for k in range(i + 1):
        for j in range(1, n, 2):
            if j == k:
                seen = True
            elif seen:
                total += j
        total += k if k % 2 else 10
    return total + (1000 if seen else 0)


def state(i, n):
    counter = Counter()
    for k in range(n):
        counter.add(k + i)
    counter.add(i, limit=1)
    return counter.count * 100 + counter.last[0] + counter.last[1]


def closures(i, n):
    step = 2 if i > n else 1
    larger = lambda x: x + step if x > 2 else x - step + 5  # noqa: E731

    def twice(function, x):
        return function(function(x)) if x < 9 else x

    return twice(larger, i) + functools.partial(twice, larger)(n)


def on_python_values(i, n):
    """Nothing here is of the kernel, but the numbers that are added."""
    total = i
    for k in range(5):
        if k == 1:
            continue
        if k == 3:
            break
        total += [k, 10][k > 0 and True] if k or None else 5
    names = [name for name in ("a", "b") if name != "a" and name != "c"]
    while len(names) < 3 and names:
        names.append("d")
    return total + len(names) + ord((n == 0 and "e") or names[0])


def first(i, n):
    """Python's early return, as its condition is Python's."""
    if n is None:
        return 0
    for x in (1, 2, 3):
        if x == 2:
            return i + x
    return -1


def early(i, n):
    if i < 2:
        return 1
    if i == 3:
        return 30
    return n + i


def early_in_a_branch(i, n):
    if i > 0:
        if i == n:
            return 100
        i = i + 1
    return i * 2


def early_in_a_loop(i, n):
    for k in range(n + 3):
        for j in range(2):
            if k * k + j >= i:
                return k * 10 + j
    return 99


def continues(i, n):
    total = 0
    for k in range(n + 2):
        if k == i:
            continue
        if k > i + 2:
            total = total + 100
            continue
        total = total + k
    return total


def breaks(i, n):
    total = 0
    for k in range(n + 3):
        if k > i:
            break
        total = total + k + 1
    else:
        total = total + 1000
    return total


def unroll_loops(i, n):
    total = 0
    for k in range(5):
        if k == i:
            break
        for j in range(3):
            if j == k:
                continue
            if j > i:
                break
            total = total + 1
        total = total + 10
    return total


def bisection(i, n):
    low, high = 0, 8
    for _ in range(4):
        if low >= high:
            break
        middle = (low + high) // 2
        if middle * 2 < i:
            low = middle + 1
        else:
            high = middle
    return low


FUNCTIONS = [
    *(
        choose_branch,
        branch_in_branches,
        conditions,
        compare_in_chains,
        guard_operands,
        loops,
        state,
        closures,
        first,
        early,
    ),
    *(early_in_a_branch, early_in_a_loop, continues, breaks, unroll_loops, bisection),
]
BLOCKS = 6


def test_they_do_what_python_does():
    @sl.kernel("(384,16)", sync="manual")
    def kernel(C):
        i, n = sl.block_id(0), sl.warpgroup_id() + 3
        row = sl.zeros((64, 16), sl.f32)
        for column, function in enumerate(FUNCTIONS):
            number = (sl.iota(0) * 0 + function(i, n)).to(sl.f32)
            row = sl.where(sl.iota(1) == column, number, row)
        sl.store(row, C[sl.ds(i * 64, 64), :])

    compiled = kernel.compile(sl.f32, emit="nvvm")
    results = run_on_cpu(compiled, None, {}, ["C"], grid=(BLOCKS,))["C"]
    expected = [[function(i, 3) for function in FUNCTIONS] for i in range(BLOCKS)]
    np.testing.assert_array_equal(results[::64, : len(FUNCTIONS)], expected)


def test_python_values_stay_pythons():
    texts = []

    @sl.kernel("(64,64)", sync="manual")
    def kernel(C):
        texts.append([on_python_values(4, 3), first(4, 3), choose_branch(2, 2), conditions(4, 3)])
        sl.store(sl.zeros((64, 64), sl.f32), C)

    text = kernel.mlir(sl.f32)
    assert texts == [[on_python_values(4, 3), first(4, 3), choose_branch(2, 2), conditions(4, 3)]]
    assert "scf" not in text and "arith.cmpi" not in text


def test_conditions_without_effects_are_not_branches():
    @sl.kernel("(64,64)", sync="manual")
    def kernel(C):
        i, n = sl.block_id(0), sl.block_id(1)
        x = 1 if (i < n and n < 5) or i == 3 else n
        sl.store(sl.zeros((64, 64), sl.f32) + (sl.iota(0) * 0 + x).to(sl.f32), C)

    text = kernel.mlir(sl.f32)
    assert "scf.if" not in text
    assert [text.count(f"arith.{name} ") for name in ("andi", "ori", "select")] == [1, 1, 1]


def test_an_element_is_read_in_its_branch():
    """Behind the end of the array, the emulator stops."""

    @sl.kernel("(320,64), (3)", sync="manual")
    def kernel(C, P):
        i = sl.block_id(0)
        x = P[i] if i < 3 else P[0]
        y = sl.zeros((64, 64), sl.f32)
        if i < 3 and P[i] == 20:
            y = y + 1.0
        sl.store(y + x.to(sl.f32), C[sl.ds(i * 64, 64), :])

    compiled = kernel.compile(sl.f32, "i32", emit="nvvm")
    P = np.array([10, 20, 30], np.int32)
    results = run_on_cpu(compiled, None, {"P": P}, ["C"], grid=(5,))["C"]
    assert list(results[::64, 0]) == [10, 21, 30, 10, 10]


def test_a_function_without_source():
    namespace = {"sl": sl}
    exec("def f(i):\n    return 1 if i < 3 else 2", namespace)

    def kernel(A, B):
        namespace["f"](sl.block_id(0))

    with pytest.raises(sl.TraceError, match="is used as a Python truth value"):
        sl.kernel("(M,64), (M,64)")(kernel).trace(sl.f32, sl.f32)


def test_a_kernel_that_returns_early():
    @sl.kernel("(320,64), (320,64)")
    def kernel(A, C):
        i = sl.block_id(0)
        rows = sl.ds(i * 64, 64)
        if i == 3:
            return
        x = sl.load(A[rows, :])
        for k in range(i):
            if k == 2:
                return
            x = x + 1.0
        sl.store(x, C[rows, :])

    compiled = kernel.compile(sl.f32, sl.f32, emit="nvvm", insert_sync=True)
    A = np.arange(320 * 64, dtype=np.float32).reshape(320, 64)
    C = np.full_like(A, -1.0)
    results = run_on_cpu(compiled, None, {"A": A, "C": C}, ["C"], grid=(5,))["C"]
    expected = np.concatenate([A[:64], A[64:128] + 1, A[128:192] + 2, C[192:]])
    np.testing.assert_array_equal(results, expected)


def returns_nothing(i):
    if i < 3:
        return i


def returns_two_types(i):
    if i < 3:
        return i
    return 2.5


@pytest.mark.parametrize(
    "function, message",
    [
        (
            returns_nothing,
            "what the function returns is None before the branch in line LINE, and changes in it; begin "
            "with a value of the kernel, for example sl.zeros",
        ),
        (
            returns_two_types,
            "what the function returns is 2.5 before the branch in line LINE, and changes in it; begin "
            "with a value of the kernel, for example sl.zeros",
        ),
    ],
)
def test_jumps_that_cannot_be(function, message):
    def kernel(A, B):
        function(sl.block_id(0))

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)")(kernel).trace(sl.f32, sl.f32)
    first = function.__code__.co_firstlineno
    assert caught.value.message in (message.replace("LINE", str(first + k)) for k in range(5))
    assert first < caught.value.position.line < first + 5


def test_values_of_two_types():
    def kernel(A, B):
        i = sl.block_id(0)
        _ = i if i < 3 else sl.load(A[0:64, :])

    message, line, _ = failure(kernel)
    assert message == (
        "the values for a condition of the kernel are an index and a fragment 64x64 of f32; expected "
        "two of one shape and type"
    )
    assert line == "_ = i if i < 3 else sl.load(A[0:64, :])"

    def other(A, B):
        i = sl.block_id(0)
        _ = i < 3 and operator.add(i, 1)

    message, line, _ = failure(other)
    assert message == "a condition and an index; expected two conditions"
