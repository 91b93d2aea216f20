"""Contenders are measured alternately, in a random order each round, for the time that the mode gives."""

import pytest
from interleaved import MODES, Mode, Times, finalists, measure


class Fake:
    """A contender whose units take a given time, and that logs its batches."""

    def __init__(self, name, seconds, log, gemms=1):
        self.name, self.gemms = name, gemms
        self._seconds, self._log = seconds, log

    def batch(self, units):
        self._log.append((self.name, units))
        return units * self._seconds, (units + 1) * self._seconds


COOL = Mode("cool", work=0.004, pause=10, warm_up=0)
WARM = Mode("warm", work=0.004, pause=0, warm_up=0.1)


def fakes(log, **seconds):
    return [Fake(name, duration, log) for name, duration in seconds.items()]


def test_rounds_have_different_orders():
    log, rests = [], []
    measure(fakes(log, a=0.001, b=0.001, c=0.001, d=0.001), COOL, 20, rests.append)
    names = "".join(name for name, _ in log[8:])
    rounds = [names[i : i + 4] for i in range(0, len(names), 4)]
    assert len(rounds) == 20
    assert all(sorted(order) == list("abcd") for order in rounds)
    # Each contender follows each other one.
    assert {x + y for x in "abcd" for y in "abcd" if x != y} <= {
        order[i : i + 2] for order in rounds for i in range(3)
    }


def test_a_contender_runs_for_the_lead_time_before_it_is_timed():
    log = []
    mode = Mode("led", work=0.004, pause=0, warm_up=0, lead=0.008)
    times = measure(fakes(log, a=0.001), mode, 2)["a"]
    assert log[2:] == [("a", 8), ("a", 4)] * 2
    assert times.gpu == pytest.approx([0.001] * 2)


def test_batches_take_the_time_of_the_mode():
    log = []
    measure(fakes(log, fast=0.001, slow=0.002, slower=1.0), COOL, 1, lambda _: None)
    assert sorted(log[6:]) == [("fast", 4), ("slow", 2), ("slower", 1)]


def test_mode_with_a_pause_pauses_after_every_batch():
    log, rests = [], []
    measure(fakes(log, a=0.001), COOL, 2, rests.append)
    # Two batches of 1 + 1 units measure the time of a unit; then each batch has 1 + 4 units.
    assert rests == pytest.approx([10 * 0.002] * 2 + [10 * 0.005] * 2)


def test_mode_with_a_warm_up_runs_before_the_first_round_and_never_pauses():
    log, rests = [], []
    measure(fakes(log, a=0.001, b=0.001), WARM, 1, rests.append)
    assert rests == []
    # Each batch has five units. Both contenders take 10 ms, repeated until 0.1 s are over.
    before = log[4:-2]
    assert before == [("a", 4), ("b", 4)] * (len(before) // 2)
    assert len(before) // 2 in (10, 11)  # because of rounding


def test_times_are_those_of_one_gemm():
    times = measure([Fake("a", 0.001, [], gemms=5)], COOL, 3, lambda _: None)["a"]
    assert times.gpu == pytest.approx([0.0002] * 3)
    assert times.host == pytest.approx([0.0002] * 3)


def test_results_are_medians():
    times = Times(gpu=[3.0, 1.0, 2.0], host=[4.0, 5.0, 9.0])
    assert (times.seconds, times.host_seconds, times.spread) == (2.0, 5.0, 1.0)


def test_names_are_unique():
    with pytest.raises(ValueError, match="need names of their own, these are a, a"):
        measure([*fakes([], a=0.001), *fakes([], a=0.002)], COOL, 1)


@pytest.mark.parametrize("seconds, rounds", [({}, 3), ({"a": 0.001}, 0)])
def test_nothing_to_measure_is_refused(seconds, rounds):
    message = f"{len(seconds)} contenders in {rounds} rounds are nothing to measure"
    with pytest.raises(ValueError, match=message):
        measure(fakes([], **seconds), COOL, rounds)


def test_finalists_are_the_fastest():
    chosen = finalists(fakes([], a=0.003, b=0.001, c=0.002), 2)
    assert [contender.name for contender in chosen] == ["b", "c"]


def test_few_contenders_are_not_measured():
    log = []
    assert len(finalists(fakes(log, a=0.003, b=0.001), 2)) == 2
    assert log == []


def test_sustained_mode_warms_up_and_burst_mode_pauses():
    sustained, burst = MODES["sustained"], MODES["burst"]
    assert sustained.pause == 0 and sustained.warm_up > 0
    assert burst.pause > 0 and burst.warm_up == 0 and burst.work < sustained.work
