"""State that Python keeps outside of variables: carried by loops and branches, or refused by its name."""

import collections
import contextlib
import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest
from kernel_failures import failure
from two_blocks import GIVEN, is_second, number, result, store

import mlir_smem.language as sl

#: Globals that kernels change.
counters = {"n": 0}
calls = 0


class State:
    """An object with attributes, as CuTe's users write the state of a pipeline."""

    created = 0

    def __init__(self, **values):
        self.__dict__.update(values)

    def advance(self):
        self.index = self.index + 1


class Slotted:
    __slots__ = ("__hidden", "x")

    def __init__(self, x, hidden):
        self.x, self.__hidden = x, hidden

    def step(self):
        self.__hidden = self.__hidden + 1
        return self.__hidden


@dataclass
class Record:
    x: object
    inner: list = field(default_factory=list)


def test_what_a_loop_carries():
    """Attributes, slots, elements of lists and dictionaries, globals, closures, methods; nested."""

    def kernel(A, D):
        x = sl.load(A)
        state, slotted = State(index=0, x=x), Slotted(x, 3)
        record, table, alias = Record(x, [1, x]), {"n": 0, "in": {"x": x}}, state
        seen = 0

        def count():
            nonlocal seen
            seen = seen + 2

        for _ in sl.range(3):
            state.advance()
            state.x = state.x + 1.0
            slotted.x = slotted.x * 2.0
            last = slotted.step()
            record.inner[0] += 5
            record.inner[1] = record.inner[1] + number(alias.index)
            for _ in sl.range(2):
                table["n"] += 1
                table["in"]["x"] = table["in"]["x"] + 10.0
            count()
        del last
        total = state.x + slotted.x + record.inner[1] + table["in"]["x"]
        store(total + number(state.index + record.inner[0] + table["n"] + seen + slotted.step()), D)

    expected = (GIVEN + 3) + GIVEN * 8 + (GIVEN + 1 + 2 + 3) + (GIVEN + 60) + (3 + 16 + 6 + 6 + 7)
    np.testing.assert_array_equal(result(kernel), np.stack([expected, expected]))


def test_globals_and_attributes_of_classes():
    def kernel(A, D):
        global calls  # noqa: PLW0603
        x = sl.load(A)
        calls, counters["n"], State.created = 0, 1, 2
        for _ in sl.range(sl.block_id(0) + 1):
            calls = calls + 1
            counters["n"] = counters["n"] * 2
            State.created += 1
        with sl.when(is_second()):
            calls = calls + 10
        store(x * 0.0 + number(calls * 10000 + counters["n"] * 100 + State.created), D)
        calls, counters["n"], State.created = 0, 0, 0

    d = result(kernel)[:, 0, 0]
    assert list(d) == [10203, 120404]


def test_what_a_branch_carries():
    def kernel(A, D):
        x = sl.load(A)
        state, both = State(n=1, x=x), [x, x]
        with sl.when(is_second()):
            state.n = 5
            state.x = x * 2.0
            both[0] = both[0] + 100.0
        with sl.otherwise():
            state.n += 6
            both[1] = both[1] + 1000.0
        with sl.when(~is_second()):
            state.x = state.x + 1.0
        store(state.x + both[0] + both[1] + number(state.n), D)

    d = result(kernel)
    np.testing.assert_array_equal(d[0], (GIVEN + 1) + GIVEN + (GIVEN + 1000) + 7)
    np.testing.assert_array_equal(d[1], 2 * GIVEN + (GIVEN + 100) + GIVEN + 5)


def test_a_list_that_changes_and_is_bound_anew():
    def kernel(A, D):
        counts, both = [1, 2], [sl.load(A), sl.load(A)]
        with sl.when(is_second()):
            counts[0] += 10
            counts = [counts[0], 5]
            both[0] = both[0] * 2.0
            both = [both[1], both[0]]
        for _ in sl.range(2):
            counts[1] += 100
            counts = [counts[1], counts[0]]
        last = [1, 2]
        with sl.when(is_second()):
            last[0] = 1000
        with sl.otherwise():
            last = [2000, last[0]]
        counts[0] += (last[0] - sl.where(is_second(), 1000, 2000)) + last[1] - 1
        with sl.when(is_second()):
            counts[0] -= 1
        store(both[0] + both[1] * 3.0 + number(counts[0] * 2 + counts[1]), D)

    d = result(kernel)
    np.testing.assert_array_equal(d[0], GIVEN * 4 + (101 * 2 + 102))
    np.testing.assert_array_equal(d[1], GIVEN * 7 + (111 * 2 + 105))


def test_a_generator_and_a_helper_around_statements():
    """The variables of the function that calls them are carried, too."""

    def count(stop):
        for k in sl.range(stop):  # noqa: UP028
            yield k

    @contextlib.contextmanager
    def guard(condition):
        with sl.when(condition):
            yield

    def kernel(A, D):
        x, n = sl.load(A), 0
        for k in count(3):
            x = x + number(k)
            n += 1
        with guard(is_second()):
            x = x * 2.0
        store(x + number(n), D)

    d = result(kernel)
    np.testing.assert_array_equal(d[0], GIVEN + 6)
    np.testing.assert_array_equal(d[1], (GIVEN + 3) * 2 + 3)


def test_a_body_that_is_traced_again_leaves_nothing_of_the_first_time():
    def kernel(A, D):
        state = State(x=sl.load(A))
        for _ in sl.range(2):
            with sl.when(is_second()):
                state.x = sl.exp2(state.x)
            for _ in sl.range(2):
                state.x = state.x + 1.0
        store(state.x, D)

    text = sl.kernel("(64,16), (2,64,16)", sync="manual")(kernel).mlir(sl.f32, sl.f32)
    assert text.count("math.exp2") == text.count("scf.if") == 1
    assert text.count("scf.for") == 2 and text.count("arith.addf") == 1


def refusal(function):
    return failure(function, "(64,16), (2,64,16)")[0]


@pytest.mark.parametrize("value", [1.0, "a", None, True], ids=str)
def test_a_python_value_of_an_attribute_that_depends_on_the_iteration(value):
    def kernel(A, D):
        state = State(value=value)
        for _ in sl.range(3):
            state.value = 7.0 if value is None else value + value

    before = "a condition" if value is True else repr(value)
    assert refusal(kernel).startswith(f"state.value is {before} before the loop in line")

    def branch(A, D):
        state = State(value=value)
        with sl.when(is_second()):
            state.value = 7.0 if value is None else value + value

    assert refusal(branch).startswith(f"state.value is {before} before the branch in line")


def appends(A, D):
    log = []
    for _ in sl.range(3):
        log.append(1.0)


def adds_a_key(A, D):
    table = {}
    with sl.when(is_second()):
        table["x"] = sl.load(A)


def adds_an_attribute(A, D):
    state = State()
    with sl.when(is_second()):
        state.x = 1.0


def adds_to_a_set(A, D):
    seen = {1}
    with sl.when(is_second()):
        seen.add(2)


def extends_a_deque(A, D):
    queue = collections.deque([1])
    for _ in sl.range(3):
        queue.append(queue.popleft() + 1)
        queue.append(0)


def removes_from_a_nested_list(A, D):
    record = Record(0, [1, 2])
    with sl.when(is_second()):
        record.inner.pop()


@pytest.mark.parametrize(
    "function, name",
    [
        (appends, "log"),
        (adds_a_key, "table"),
        (adds_an_attribute, "state"),
        (adds_to_a_set, "seen"),
        (extends_a_deque, "queue"),
        (removes_from_a_nested_list, "record.inner"),
    ],
)
def test_what_gets_or_loses_values(function, name):
    message = refusal(function)
    assert message.startswith((f"{name} gets or loses values in the", f"{name} changes in the"))
    assert "which is traced once, however often it runs" in message


def powers():
    power = 1
    while True:
        yield power
        power *= 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: itertools.count(1),
        lambda: iter([1, 2, 3]),
        lambda: iter((1, 2, 3)),
        lambda: iter(range(9)),
        lambda: itertools.cycle([1, 2]),
        lambda: enumerate([1, 2, 3]),
        lambda: zip([1, 2], [3, 4], strict=True),
        lambda: map(abs, [1, 2]),
        lambda: iter({1: 2, 3: 4}),
        powers,
    ],
    ids=lambda make: type(make()).__name__,
)
def test_an_iterator_that_moves_on(make):
    def loop(A, D):
        numbers = make()
        for _ in sl.range(3):
            next(numbers)

    assert refusal(loop).startswith("numbers changes in the loop in line")

    def branch(A, D):
        numbers = make()
        next(numbers)
        with sl.when(is_second()):
            sl.barrier()
        next(numbers)

    assert sl.kernel("(64,16), (2,64,16)", sync="manual")(branch).trace(sl.f32, sl.f32)


def test_an_array_of_numpy_that_changes():
    def kernel(A, D):
        table = np.zeros(4)
        for _ in sl.range(3):
            table[0] += 1

    assert refusal(kernel).startswith("table changes in the loop in line")


def test_state_of_partitions():
    """Each begins with what there was before all of them."""

    def kernel(A, D):
        state = State(n=1)
        with sl.warp_specialize():
            with sl.partition():
                state.n = state.n + 1
                store(sl.load(A) * float(state.n), D)
            with sl.partition():
                sl.store(sl.load(A) * float(state.n), D[1, :, :])

    text = sl.kernel("(64,16), (2,64,16)", warpgroups=2, sync="manual")(kernel).mlir(sl.f32, sl.f32)
    assert "2.000000e+00" in text and "1.000000e+00" in text

    def after(A, D):
        state = State(n=1)
        with sl.elect():
            state.n = 2
        store(sl.load(A) * float(state.n), D)

    assert "is used here, but the elected thread's block in line" in refusal(after)


def test_a_comprehension_over_a_loop_of_the_kernel():
    def kernel(A, D):
        x = sl.load(A)
        x = x + sum(float(k) for k in sl.range(4))
        for scale in [float(k) for k in itertools.islice(sl.range(8), 3)]:
            x = x + scale
        store(x, D)

    np.testing.assert_array_equal(result(kernel), np.stack([GIVEN + 9, GIVEN + 9]))

    def unknown(A, D):
        [k + 1 for k in sl.range(sl.block_id(0))]

    assert "sl.range is not what a for statement iterates over" in refusal(unknown)


def test_the_loops_variable_may_be_assigned():
    def kernel(A, D):
        x = sl.load(A)
        for k in sl.range(3):
            k = k + 1  # noqa: PLW2901
            x = x + number(k)
        store(x, D)

    np.testing.assert_array_equal(result(kernel), np.stack([GIVEN + 6, GIVEN + 6]))
