"""Attention of few queries, whose keys are split into parts that a second launch combines.

Each kernel that is emulated is compiled once, and proven (`attention_kernels.proven`).
"""

from dataclasses import replace

import numpy as np
import pytest
from test_attention import arrays, check

from mlir_smem.kernels.attention import Config, Problem, default_config
from mlir_smem.kernels.attention.call import emulated, split
from mlir_smem.kernels.attention.call.operands import AttentionExtents
from mlir_smem.kernels.attention.generator.problem import DIMS


@pytest.fixture
def combined_problems(monkeypatch):
    """The problems whose parts are combined; each block of a few keys is a part."""
    problems = []
    kernel = emulated.combining_kernel

    def combining_kernel(problem):
        problems.append(problem)
        return kernel(problem)

    monkeypatch.setattr(split, "COMBINING", 0)
    monkeypatch.setattr(emulated, "combining_kernel", combining_kernel)
    return problems


@pytest.mark.parametrize("config", [Config(1, 32, 2, 1), Config(1, 48, 2, 2)])
@pytest.mark.parametrize(
    ("shape", "lengths"),
    [
        # Four tiles: two batches of two heads of keys.
        pytest.param((2, 4, 2), (1, 50), id="lengths0"),
        # The kernel that combines reads eight parts at a time, and one more of 32 keys.
        pytest.param((1, 2, 1), (7, 257), id="lengths1"),
        pytest.param((1, 2, 1), (64, 65), id="lengths2"),
        # One block, which is no part.
        pytest.param((1, 2, 1), (40, 20), id="lengths3"),
        pytest.param((1, 2, 1), (64, 32), id="lengths4"),
    ],
)
@pytest.mark.parametrize("causal", [False, True])
def test_parts_of_the_keys(config, shape, lengths, causal, combined_problems):
    check(*arrays(*shape, *lengths, 64), causal=causal, config=config)
    assert bool(combined_problems) == (lengths[1] > config.keys)


def test_a_part_with_no_key_that_a_query_sees(combined_problems):
    """The first queries of a mask see the first keys alone, or none."""
    config = Config(1, 32, 2, 1)
    check(*arrays(1, 1, 1, 60, 70, 64), causal=True, config=config)
    check(*arrays(1, 1, 1, 64, 40, 64), causal=True, config=config)
    check(*arrays(1, 1, 1, 33, 70, 64), window=(None, 5), config=config)
    assert len(combined_problems) == 3


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_one_query_of_each_dimension(dim, dtype, combined_problems):
    keys = default_config(Problem(dim=dim), queries=1).keys + 3
    check(*arrays(1, 3, 1, 1, keys, dim, np.dtype(dtype)))
    assert len(combined_problems) == 1


def test_scores_of_very_different_size(combined_problems):
    """A part has all of the weight, and the others underflow."""
    q, k, v = arrays(1, 1, 1, 8, 70, 64)
    k[:, :, 40] *= 30
    check(q, k, v, config=Config(1, 32, 2, 1))
    assert len(combined_problems) == 1


@pytest.mark.parametrize(
    ("batches", "heads", "queries", "keys", "parts"),
    [
        (1, 1, 8, 8192, 8),  # 64 blocks in parts of 8; 16 parts of 4 would take as long
        (1, 1, 8, 65536, 32),  # 512 blocks in parts of 16, as long as combining them takes
        (2, 8, 8, 8192, 8),  # 8 CTAs for each of 16 heads
        (16, 8, 8, 8192, 1),  # 128 heads fill 132 multiprocessors
        (1, 1, 8, 640, 1),  # 5 blocks
        (1, 1, 65, 8192, 1),  # two tiles
        (1, 7, 8, 128 * 37, 8),  # 9 parts of 5 blocks would leave one empty
    ],
)
def test_the_number_of_parts(batches, heads, queries, keys, parts):
    extents = AttentionExtents(batches, heads, heads, queries, keys, 128)
    config = default_config(Problem(), queries, keys)
    assert split.parts_of(Problem(), extents, config) == parts
    assert split.parts_of(Problem(left=True), extents, config) == 1
    # Four heads in a tile are so many fewer tiles.
    if heads % 4 == 0:
        of_four = split.parts_of(Problem(heads=4), extents, config)
        fewer = replace(extents, heads=heads // 4, queries=4 * queries)
        assert of_four == split.parts_of(Problem(), fewer, config)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("right", [False, True])
def test_both_kernels_are_proven(dim, right):
    problem = Problem(dim=dim, right=right, lse=True, split=True)
    emulated.attention_kernel(problem, default_config(problem, 1))
    emulated.combining_kernel(problem)
