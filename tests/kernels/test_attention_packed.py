"""Attention of packed sequences on the emulator, each against the same sequence alone in float64."""

import re

import numpy as np
import pytest
from test_attention import BF16, BOUNDS, reference

from mlir_smem.kernels.attention import Config, Problem, ProblemError, attention, default_config
from mlir_smem.kernels.attention.call.emulated import attention_kernel
from mlir_smem.kernels.attention.generator.problem import DIMS


def lengths_for(config):
    """Return lengths of queries and keys: no queries, no keys, neither, one query, more than a tile with
    fewer keys than queries, several blocks."""
    return [(0, 5), (1, config.keys + 1), (9, 0), (config.rows + 2, 40), (0, 0), (20, 70)]


def starts(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def packed_sequences(lengths, heads, groups, dim, dtype=BF16, seed=0):
    random = np.random.default_rng(seed)
    of_queries, of_keys = map(starts, zip(*lengths, strict=True))
    shapes = (of_queries[-1], heads, dim), *[(of_keys[-1], groups, dim)] * 2
    return [random.standard_normal(shape).astype(dtype) for shape in shapes], (of_queries, of_keys)


def check(lengths, heads=2, groups=1, dim=64, dtype=BF16, causal=False, window=None, **options):
    (q, k, v), (of_queries, of_keys) = packed_sequences(lengths, heads, groups, dim, dtype)
    out = np.full(q.shape, np.nan, dtype)
    o, lse = attention(
        q,
        k,
        v,
        causal=causal,
        window=window,
        cu_seqlens_q=of_queries,
        cu_seqlens_k=of_keys,
        max_seqlen_q=max(queries for queries, _ in lengths),
        out=out,
        return_lse=True,
        on="cpu",
        **options,
    )
    assert o is out and lse.shape == (heads, len(q))
    left, right = window or (None, None)
    for sequence, (_, keys) in enumerate(lengths):
        rows, columns = (
            slice(*offsets[sequence : sequence + 2]) for offsets in (of_queries, of_keys)
        )
        parts = (x.swapaxes(0, 1)[None] for x in (q[rows], k[columns], v[columns]))
        if not keys:
            assert not o[rows].any() and np.isneginf(lse[:, rows]).all()
            continue
        expected, logarithms = reference(*parts, left=left, right=0 if causal else right)
        bound = BOUNDS[np.dtype(dtype)] * np.abs(v.astype(np.float32)).max()
        wrong = o[rows].swapaxes(0, 1).astype(np.float64) - expected[0]
        assert np.abs(wrong).max(initial=0) <= bound
        np.testing.assert_allclose(lse[:, rows], logarithms[0], atol=1e-4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("config", [Config(1, 32, 2, 1), Config(1, 32, 2, 2), Config(2, 48, 2, 2)])
def test_sequences_of_all_lengths(config, causal):
    heads = 2 if config == Config(1, 32, 2, 1) else 1
    check(lengths_for(config), heads, causal=causal, config=config)


def test_windows():
    config = Config(1, 32, 2, 2)
    lengths = lengths_for(config)
    check(lengths, 1, window=(16, 8), config=config)
    check(lengths, 1, window=(40, None), config=Config(1, 32, 2, 1))
    check(lengths, 1, window=(16, None), causal=True, config=config)


def test_f16_and_heads_that_share_keys():
    check([(20, 40), (33, 20)], heads=6, groups=2, dtype=np.float16, causal=True)


@pytest.mark.parametrize("dim", DIMS)
def test_head_dimensions(dim):
    check([(66, 90), (30, 10)], 1, dim=dim, causal=True)


def test_one_query_each():
    check([(1, 70), (1, 10), (1, 0)], heads=2)
    check([(1, 70), (1, 10)], heads=2, causal=True)


def test_heads_before_tokens():
    (q, k, v), (of_queries, of_keys) = packed_sequences([(20, 30), (10, 20)], 2, 2, 64)
    options = {"cu_seqlens_q": of_queries, "cu_seqlens_k": of_keys, "max_seqlen_q": 64, "on": "cpu"}
    expected = attention(q, k, v, **options)
    by_heads = (x.swapaxes(0, 1).copy() for x in (q, k, v))
    o = attention(*by_heads, layout="bhsd", **options)
    assert (o.swapaxes(0, 1) == expected).all()


@pytest.mark.parametrize("dim", [64, 128, 256])
@pytest.mark.parametrize(("left", "right"), [(False, False), (False, True), (True, True)])
def test_the_order_is_proven_for_all_lengths(dim, left, right):
    problem = Problem(dim=dim, left=left, right=right, lse=True, packed=True)
    attention_kernel(problem, default_config(problem))


(Q, K, _), (OF_QUERIES, OF_KEYS) = packed_sequences([(40, 50), (30, 20)], 2, 1, 64)
GIVEN = {"cu_seqlens_q": OF_QUERIES, "cu_seqlens_k": OF_KEYS, "max_seqlen_q": 40}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"cu_seqlens_k": None},
            "cu_seqlens_k is missing; packed sequences need cu_seqlens_q, cu_seqlens_k and max_seqlen_q",
        ),
        (
            {"cu_seqlens_q": None, "max_seqlen_q": None},
            "cu_seqlens_q and max_seqlen_q are missing; packed",
        ),
        ({"max_seqlen_q": 0}, "max_seqlen_q is 0; expected 1 or more"),
        ({"cu_seqlens_q": 3}, "cu_seqlens_q is 3; expected a vector of i32"),
        ({"max_seqlen_q": 39}, "max_seqlen_q is 39, but cu_seqlens_q has a sequence of 40 queries"),
        (
            {"cu_seqlens_q": np.array([0, 40, 71], np.int32)},
            "cu_seqlens_q is [0, 40, 71]; expected to begin with 0, to fall nowhere, and to end with 70, "
            "as many tokens as q has",
        ),
        (
            {"cu_seqlens_k": np.array([0, 80, 70], np.int32)},
            "cu_seqlens_k is [0, 80, 70]; expected",
        ),
        (
            {"cu_seqlens_k": np.array([1, 50, 70], np.int32)},
            "cu_seqlens_k is [1, 50, 70]; expected",
        ),
        (
            {"cu_seqlens_k": np.array([0, 70], np.int32)},
            "cu_seqlens_k has the shape [2] of i32, with strides of [1]; expected a contiguous vector of "
            "i32, of 3 elements as cu_seqlens_q, one more than there are sequences",
        ),
        (
            {"cu_seqlens_k": OF_KEYS.astype(np.int64)},
            "cu_seqlens_k has the shape [3] of i64, with strides of [1]",
        ),
        (
            {"cu_seqlens_q": np.zeros(1, np.int32), "cu_seqlens_k": np.zeros(1, np.int32)},
            "cu_seqlens_q has the shape [1] of i32, with strides of [1]; expected a contiguous vector of "
            "i32, of 2 elements",
        ),
    ],
)
def test_arguments_that_do_not_go_together(changed, message):
    with pytest.raises(ProblemError, match=re.escape(message)):
        attention(Q, K, K, on="cpu", **GIVEN | changed)


def test_packed_arrays_have_no_batches():
    with pytest.raises(ProblemError, match=r"q has the shape .*; expected 3 dimensions, shd"):
        attention(Q[None], K, K, on="cpu", **GIVEN)
