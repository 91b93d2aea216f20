"""The search on a simulated chip: its clock falls, its measurements are noisy, it starts cool."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from mlir_smem.kernels.gemm import Config
from mlir_smem.runtime.tuning.halving import FINAL_ROUNDS, batches, halving

CONFIGS = [Config(stages=stages) for stages in range(2, 18)]
DEFAULT = CONFIGS[0]


class WarmingChip:
    """A `Measure` of true times on a chip whose clock falls from batch to batch.

    Args:
        times: the true seconds of each configuration.
        drift: the part of its clock that the chip loses over the search.
        noise: the relative standard deviation of a batch.
        cool: the part by which the first five batches are faster.
    """

    def __init__(self, times, drift=0.0, noise=0.0, cool=0.0, seed=0):
        self.times, self.drift, self.noise, self.cool = times, drift, noise, cool
        self.random = Random(seed)
        self.batches, self.all = 0, batches(len(times))

    def __call__(self, configs):
        for config in configs:
            clock = 1 - self.drift * self.batches / self.all
            clock *= 1 + self.cool * (self.batches < 5)
            self.batches += 1
            yield self.times[config] / clock * (1 + self.random.gauss(0, self.noise))


def select(chip):
    return halving(list(chip.times), chip).config


@settings(max_examples=60, deadline=None)
@given(
    ratios=st.lists(st.floats(0.9, 1.3), min_size=1, max_size=15),
    drift=st.floats(0, 0.1),
    noise=st.floats(0, 0.005),
    cool=st.floats(0, 0.1),
    seed=st.integers(0, 2**32),
)
def test_the_result_is_not_slower_than_the_default(ratios, drift, noise, cool, seed):
    times = dict(zip(CONFIGS, [1.0, *ratios], strict=False))
    chip = WarmingChip(times, drift, noise, cool, seed)
    # A configuration that is slower by less than the noise is as good as the default.
    assert times[select(chip)] <= 1 + 2 * noise + 1e-9
    assert chip.batches == chip.all


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), fast=st.integers(1, 15))
def test_a_configuration_that_is_faster_by_five_percent_is_found(seed, fast):
    times = dict.fromkeys(CONFIGS, 1.0) | {CONFIGS[fast]: 0.95}
    assert select(WarmingChip(times, drift=0.1, noise=0.005, cool=0.05, seed=seed)) == CONFIGS[fast]


def test_a_slower_one_that_meets_a_cool_chip_does_not_win():
    times = {DEFAULT: 1.0} | dict.fromkeys(CONFIGS[1:], 1.02)
    for seed in range(50):
        chip = WarmingChip(times, drift=0.1, noise=0.002, cool=0.05, seed=seed)
        # The first batches are those of slower configurations: their first times are the best.
        assert select(chip) == DEFAULT


def test_equals_rarely_replace_the_default():
    times = dict.fromkeys(CONFIGS, 1.0)
    defaults = sum(select(WarmingChip(times, noise=0.01, seed=s)) == DEFAULT for s in range(300))
    # The level is 1 %: more than 9 of 300 have a probability of 0.1 %.
    assert defaults >= 300 - 9
    assert FINAL_ROUNDS >= 15


def test_the_times_of_the_result_are_those_of_equal_clocks():
    times = dict(zip(CONFIGS, [1.0 + 0.05 * i for i in range(16)], strict=True))
    result = halving(CONFIGS, WarmingChip(times, drift=0.1))
    for config, time in times.items():
        ratio = result.seconds[config] / result.seconds[DEFAULT]
        assert abs(ratio - time) < 0.02 * time
