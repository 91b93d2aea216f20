"""Successive halving, with invented measurements."""

from collections import Counter
from itertools import count

import pytest

from mlir_smem.kernels.gemm import Config
from mlir_smem.runtime.tuning.halving import (
    FINAL_ROUNDS,
    FINALISTS,
    ROUNDS,
    TuningError,
    batches,
    halving,
)

CONFIGS = [Config(stages=stages) for stages in range(2, 18)]


class Chip:
    """A `Measure` whose times come from a function; it records its calls."""

    def __init__(self, time):
        self.time = time
        self.rounds = []

    def __call__(self, configs):
        self.rounds.append(list(configs))
        for config in configs:
            yield self.time(config)


def test_the_fastest_is_found():
    for fastest in CONFIGS:
        result = halving(CONFIGS, Chip(lambda c, f=fastest: 1.0 + abs(c.stages - f.stages)))
        assert result.config == fastest
        assert set(result.seconds) == set(CONFIGS)
        assert result.dropped == {}


def test_each_set_of_rounds_measures_half_beside_the_default():
    chip = Chip(lambda config: float(config.stages))
    halving(CONFIGS, chip)
    sizes_ = [16] * ROUNDS + [9] * ROUNDS + [5] * ROUNDS + [3] * FINAL_ROUNDS
    assert list(map(len, chip.rounds)) == sizes_
    assert set(chip.rounds[-1]) == set(CONFIGS[:3])
    assert sum(map(len, chip.rounds)) == batches(16)


@pytest.mark.parametrize("count", range(1, 20))
def test_the_number_of_batches_is_known(count):
    chip = Chip(lambda config: float(config.stages))
    halving([Config(stages=2 + i) for i in range(count)], chip)
    assert sum(map(len, chip.rounds)) == batches(count)


def test_each_round_has_its_own_order():
    chip = Chip(lambda config: 1.0)
    halving(CONFIGS[:4], chip)
    assert len({order[0] for order in chip.rounds[:ROUNDS] + chip.rounds[-FINAL_ROUNDS:]}) == 4
    assert all(Counter(order) == Counter(CONFIGS[:4]) for order in chip.rounds[:ROUNDS])


def test_one_slow_round_does_not_count():
    calls = Counter()

    def time(config):
        calls[config] += 1
        return (
            100.0 if config == CONFIGS[3] and calls[config] == 1 else 1.0 + (config != CONFIGS[3])
        )

    result = halving(CONFIGS, Chip(time))
    assert result.config == CONFIGS[3]
    assert result.seconds[CONFIGS[3]] == 1.0


def test_the_first_of_equals_wins():
    assert halving(CONFIGS, Chip(lambda config: 1.0)).config == CONFIGS[0]


def test_duplicates_are_measured_once():
    chip = Chip(lambda config: 1.0)
    halving([*CONFIGS[:2], *CONFIGS[:2]], chip)
    assert list(map(len, chip.rounds)) == [2] * (ROUNDS + FINAL_ROUNDS)


def test_a_failure_is_dropped_with_its_reason():
    chip = Chip(lambda config: "it hangs" if config.stages < 10 else float(config.stages))
    result = halving(CONFIGS, chip, dropped={Config(group=3): "too late"})
    assert result.config == Config(stages=10)
    reasons = dict.fromkeys(CONFIGS[:8], "it hangs")
    assert result.dropped == {Config(group=3): "too late", **reasons}
    assert set(result.seconds) == set(CONFIGS[8:])
    # The ninth takes the place of the default.
    assert list(map(len, chip.rounds)) == [16, *[8] * 5, *[5] * ROUNDS, *[3] * FINAL_ROUNDS]


def test_a_late_failure_is_dropped():
    calls = count()
    chip = Chip(lambda config: float(config.stages) if next(calls) < 8 else "the chip is lost")
    with pytest.raises(TuningError):
        halving(CONFIGS[:4], chip)


def test_a_single_configuration_is_measured():
    chip = Chip(lambda config: 2.0)
    result = halving(CONFIGS[:1], chip)
    assert (result.config, result.seconds) == (CONFIGS[0], {CONFIGS[0]: 2.0})
    assert len(chip.rounds) == 1


def test_the_error_has_every_reason():
    with pytest.raises(TuningError) as error:
        halving(CONFIGS[:2], Chip(lambda config: f"{config.stages} is a bad number"))
    reasons = {f"\n  {c}: {c.stages} is a bad number" for c in CONFIGS[:2]}
    message = str(error.value)
    assert message.startswith("no configuration could be measured\n")
    assert all(reason in message for reason in reasons)


def test_nothing_to_measure():
    with pytest.raises(TuningError, match=r"^no configuration could be measured$"):
        halving([], Chip(lambda config: 1.0))


@pytest.mark.parametrize("rounds", [1, 2, 5, 9])
def test_a_budget_ends_the_selection_but_not_the_final_comparison(rounds):
    chip = Chip(lambda config: 18.0 - config.stages)
    result = halving(CONFIGS, chip, is_over=lambda: len(chip.rounds) >= rounds)
    assert len(chip.rounds) == rounds + FINAL_ROUNDS
    assert {len(order) for order in chip.rounds[rounds:]} == {1 + FINALISTS}
    assert result.config == CONFIGS[-1]
