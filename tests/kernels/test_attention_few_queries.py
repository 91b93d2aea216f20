"""Attention of few queries whose heads share keys: several heads have their queries in one tile."""

import ml_dtypes
import numpy as np
import pytest
from test_attention import BF16, arrays, check
from test_attention_split import combined_problems  # noqa: F401, a fixture

from mlir_smem.kernels.attention import Config, ConfigError, Problem, attention, default_config
from mlir_smem.kernels.attention.call.checked import heads_of_tile
from mlir_smem.kernels.attention.call.emulated import attention_kernel, combining_kernel
from mlir_smem.kernels.attention.generator.problem import DIMS


@pytest.mark.parametrize(
    ("queries", "sharing", "heads"),
    [
        (1, 8, 8),
        (8, 8, 8),
        (9, 8, 4),
        (17, 8, 2),
        (32, 8, 2),
        # One head fills more than half of a tile.
        (33, 8, 1),
        (4096, 8, 1),
        # Rows of a head are a multiple of 8.
        (2, 64, 8),
        # Some of the heads that share keys.
        (4, 12, 4),
        (4, 7, 1),
        (4, 1, 1),
    ],
)
def test_heads_of_a_tile(queries, sharing, heads):
    assert heads_of_tile(queries, sharing) == heads


@pytest.mark.parametrize("mask", [{}, {"causal": True}, {"window": (30, 2)}], ids=str)
@pytest.mark.parametrize(
    ("heads", "groups", "lengths"),
    [(8, 1, (2, 70)), (8, 1, (8, 40)), (4, 2, (13, 90)), (12, 2, (13, 64)), (6, 3, (20, 7))],
)
def test_heads_that_share_keys(mask, heads, groups, lengths):
    batches = 2 if groups == 1 else 1
    check(*arrays(batches, heads, groups, *lengths, 64), **mask)


#: Heads of a tile, by the head dimension.
HEADS = {64: 8, 96: 4, 128: 2, 192: 4, 256: 8}


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("causal", [False, True])
def test_keys_in_parts(dim, causal, combined_problems):  # noqa: F811
    keys = default_config(Problem(dim=dim), 64).keys + 3
    groups = 2 if dim == 64 else 1
    check(*arrays(1, HEADS[dim] * groups, groups, 5, keys, dim), causal=causal)
    assert [problem.heads for problem in combined_problems] == [HEADS[dim]]


@pytest.mark.parametrize("config", [Config(1, 32, 2, 1), Config(2, 32, 2, 2)])
def test_warpgroups_have_whole_heads(config):
    check(*arrays(1, 8, 1, 6, 40, 64), causal=True, config=config)
    check(*arrays(1, 4, 2, 20, 40, 64), causal=True, config=config)


def test_a_configuration_with_an_odd_number_of_warpgroups():
    """Three warpgroups have no whole heads of eight, so a tile has one head."""
    check(*arrays(1, 8, 1, 6, 40, 64), config=Config(3, 64, 2, 1))


def test_e4m3():
    q, k, v = arrays(1, 8, 2, 5, 40, 64, np.dtype(ml_dtypes.float8_e4m3fn))
    factors = np.float32([[0.5, 2.0]])
    o = attention(q, k, v, layout="bhsd", causal=True, k_descale=factors, on="cpu")
    wide = [x.astype(BF16) for x in (q, k, v)]
    wide[1] *= factors.astype(BF16)[..., None, None]
    expected = attention(*wide, layout="bhsd", causal=True, on="cpu")
    assert o.dtype == BF16
    difference = np.abs(o.astype(float) - expected.astype(float))
    assert difference.mean() <= 2**-5 * np.abs(expected.astype(float)).mean()


@pytest.mark.parametrize(("dim", "heads"), [(64, 8), (128, 2), (192, 4), (256, 8)])
def test_both_kernels_are_proven(dim, heads):
    for split in (False, True):
        problem = Problem(dim=dim, right=True, lse=True, split=split, heads=heads)
        attention_kernel(problem, default_config(problem, 64))
        if split:
            combining_kernel(problem)


@pytest.mark.parametrize(
    ("config", "heads", "message"),
    [
        (
            Config(3, 64),
            8,
            "a tile of 3 consumers has 192 rows for the queries of 8 heads; expected a multiple of 64 "
            "rows, and of 3 heads",
        ),
        (
            Config(1, 64),
            16,
            "a tile of 1 consumers has 64 rows for the queries of 16 heads; expected a multiple of 128 "
            "rows, and of 1 heads",
        ),
    ],
)
def test_tiles_that_have_no_whole_heads(config, heads, message):
    with pytest.raises(ConfigError, match=message):
        config.check(Problem(heads=heads))
