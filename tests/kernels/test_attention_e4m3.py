"""Attention of 8-bit elements: factors, values that are transposed, weights of few bits."""

import ml_dtypes
import numpy as np
import pytest
from test_attention import reference
from test_attention_packed import packed_sequences
from test_attention_split import combined_problems  # noqa: F401, a fixture

from mlir_smem.kernels.attention import (
    Config,
    ConfigError,
    Problem,
    ProblemError,
    attention,
    default_config,
)
from mlir_smem.kernels.attention.call.emulated import attention_kernel
from mlir_smem.kernels.attention.generator.problem import DIMS

E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)

#: Weights have 4 significant bits, so each is wrong by at most 2^-4 of itself, and results by half of
#: that in the mean. Tensor cores sum products of e4m3 with about 13 bits.
BOUND, OF_LSE = 2**-5, 1e-3


def arrays(batches, heads, groups, queries, keys, dim):
    random = np.random.default_rng(0)
    shapes = (batches, heads, queries, dim), *[(batches, groups, keys, dim)] * 2
    return [random.standard_normal(shape).astype(E4M3) for shape in shapes]


def check(q, k, v, causal=False, window=None, **options):
    groups, heads = k.shape[1], q.shape[1]
    o, lse = attention(
        q,
        k,
        v,
        out=np.full(q.shape, np.nan, ml_dtypes.bfloat16),
        causal=causal,
        window=window,
        layout="bhsd",
        return_lse=True,
        on="cpu",
        **options,
    )
    factors = [np.asarray(options.get(f"{name}_descale", 1.0)) for name in "qkv"]
    factors = [np.broadcast_to(factor, (len(q), groups))[..., None, None] for factor in factors]
    of_q = np.repeat(factors[0], heads // groups, 1)
    wide = (x.astype(float) * f for x, f in zip((q, k, v), (of_q, *factors[1:]), strict=True))
    left, right = window or (None, None)
    expected, logarithms = reference(*wide, None, left, 0 if causal else right)
    assert o.dtype == ml_dtypes.bfloat16
    largest = np.abs(v.astype(float)).max() * np.abs(factors[2]).max()
    assert np.abs(o.astype(float) - expected).max() <= BOUND * largest
    assert np.abs(o.astype(float) - expected).mean() <= BOUND * np.abs(expected).mean()
    known = np.isfinite(logarithms)
    assert np.allclose(lse[known], logarithms[known], rtol=OF_LSE, atol=OF_LSE)
    assert (lse[~known] == -np.inf).all() and (o[~known] == 0).all()


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("causal", [False, True])
def test_head_dimensions_by_default(dim, causal):
    problem = Problem(element="f8E4M3FN", dim=dim, right=causal, lse=True)
    config = default_config(problem)
    kernel = attention_kernel(problem, config)
    assert kernel.manifest["kernels"][0]["shared_bytes"] == config.shared_bytes(problem)
    # Of short sequences: a block and a few keys, and two queries of the last warpgroup.
    config = default_config(problem, 66, 100)
    heads = 2 if dim == 64 else 1
    check(*arrays(1, heads, 1, config.rows - 62, config.keys + 3, dim), causal=causal)


@pytest.mark.parametrize(
    ("shape", "lengths"),
    [
        pytest.param((1, 1, 1), (64, 32), id="lengths0"),
        # Batches and heads of lines that are padded.
        pytest.param((2, 2, 2), (65, 33), id="lengths1"),
        pytest.param((1, 1, 1), (66, 81), id="lengths2"),
        # Two or three tiles; the first sees no key under a mask.
        pytest.param((1, 1, 1), (130, 40), id="lengths3"),
    ],
)
@pytest.mark.parametrize("config", [Config(2, 32, 2, 1), Config(1, 64, 3, 2)])
def test_any_lengths(shape, lengths, config):
    """Rows of transposed values are padded to 16 bytes."""
    q, k, v = arrays(*shape, *lengths, 64)
    check(q, k, v, config=config)
    for options in ({"causal": True}, {"window": (20, 3)}):
        check(q[:1, :1], k[:1, :1], v[:1, :1], config=config, **options)


def test_clusters_share_keys():
    """The last tile of each head has no query."""
    check(*arrays(1, 2, 1, 257, 66, 64), config=Config(2, 64, 2, 2, 2))


@pytest.mark.parametrize("operands", ["q", "k", "v", "qk", "qkv"])
@pytest.mark.parametrize("are_arrays", [False, True])
def test_factors(operands, are_arrays):
    numbers = {"q": 0.5, "k": 1.5, "v": -3.0}
    factors = {f"{name}_descale": numbers[name] for name in operands}
    if are_arrays:
        of_heads = np.array([[1.0, 0.5], [0.75, 1.25]], np.float32)
        factors = {name: factor * of_heads for name, factor in factors.items()}
    check(*arrays(2, 4, 2, 33, 20, 64), config=Config(1, 64, 2, 1), **factors)


def test_numbers_beside_arrays():
    of_heads = np.array([[2.0, 0.5]], np.float32)
    factors = {"q_descale": 0.25, "k_descale": of_heads, "v_descale": 4.0}
    check(*arrays(1, 2, 2, 40, 66, 64), config=Config(1, 64, 2, 1), **factors)


def test_one_query_and_keys_in_parts(combined_problems):  # noqa: F811
    check(*arrays(1, 8, 2, 1, 227, 64), v_descale=np.array([[2.0, 0.5]], np.float32))
    assert len(combined_problems) == 1


@pytest.mark.parametrize(
    ("config", "options"),
    [
        (Config(1, 32, 2, 1), {}),
        (Config(2, 64, 2, 2), {"causal": True}),
        (Config(1, 32, 2, 1), {"window": (20, 3)}),
    ],
    ids=str,
)
def test_packed_sequences(config, options):
    # Of queries and keys: sequences begin at any place of 16 bytes, have no query, no key, or a single
    # block; the longest is more than a tile.
    lengths = [(20, 70), (0, 5), (config.rows + 2, 33), (9, 0), (0, 0), (9, 3)]
    heads = 1 if options else 2
    (q, k, v), (of_queries, of_keys) = packed_sequences(lengths, heads, 1, 64, E4M3)
    descale = np.linspace(0.5, 2.0, len(lengths), dtype=np.float32)[:, None]
    out = np.full(q.shape, np.nan, ml_dtypes.bfloat16)
    o, lse = attention(
        q,
        k,
        v,
        cu_seqlens_q=of_queries,
        cu_seqlens_k=of_keys,
        max_seqlen_q=config.rows + 2,
        k_descale=descale,
        out=out,
        return_lse=True,
        config=config,
        on="cpu",
        **options,
    )
    left, right = options.get("window", (None, 0 if "causal" in options else None))
    for sequence, (_, keys) in enumerate(lengths):
        rows, columns = (
            slice(*offsets[sequence : sequence + 2]) for offsets in (of_queries, of_keys)
        )
        if not keys:
            assert not o[rows].any() and np.isneginf(lse[:, rows]).all()
            continue
        of_q, of_k, of_v = (
            x[part].swapaxes(0, 1)[None].astype(float)
            for x, part in ((q, rows), (k, columns), (v, columns))
        )
        expected, logarithms = reference(of_q, of_k * descale[sequence], of_v, None, left, right)
        wrong = np.abs(o[rows].swapaxes(0, 1).astype(float) - expected[0])
        assert wrong.max(initial=0) <= BOUND * np.abs(of_v).max()
        assert np.allclose(lse[:, rows], logarithms[0], rtol=OF_LSE, atol=OF_LSE)


@pytest.mark.parametrize("first", range(1, 17))
def test_no_key_of_the_sequence_before_is_seen(first):
    """A sequence's values are one number; its result is that, wherever it begins."""
    lengths = [(5, first), (9, 34), (3, 2)]
    (q, k, v), (of_queries, of_keys) = packed_sequences(lengths, 1, 1, 64, E4M3)
    packing = {"cu_seqlens_q": of_queries, "cu_seqlens_k": of_keys, "max_seqlen_q": 9}
    for sequence, number in enumerate((-448, 2, 448)):
        v[of_keys[sequence] : of_keys[sequence + 1]] = number
    o = attention(q, k, v, config=Config(1, 32, 2, 1), on="cpu", **packing)
    for sequence, number in enumerate((-448, 2, 448)):
        rows = slice(of_queries[sequence], of_queries[sequence + 1])
        assert np.allclose(o[rows].astype(float), number, rtol=BOUND)


@pytest.mark.parametrize("dim", [64, 256])
@pytest.mark.parametrize(("left", "right"), [(False, False), (False, True), (True, True)])
def test_packed_sequences_are_proven(dim, left, right):
    problem = Problem("f8E4M3FN", dim, left, right, lse=True, packed=True)
    attention_kernel(problem, default_config(problem))


def test_weights_that_are_small():
    """Half of the result is of keys with 2^-12 of the largest weight each: e4m3 itself ends at 2^-9. The
    values of 64 of them weigh as much as one of 4096."""
    q = np.zeros((1, 1, 64, 64), E4M3)
    k, v = np.zeros((1, 1, 65, 64), E4M3), np.full((1, 1, 65, 64), 64, E4M3)
    q[..., 0], k[:, :, 0, 0], v[:, :, 0] = 1, 12, -1
    scale = float(np.log(2))
    o = attention(q, k, v, scale=scale, layout="bhsd", on="cpu", config=Config(1, 64, 2, 1))
    assert np.abs(o.astype(float)).max() < 2**-6


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ({"q_descale": 0.0}, "q_descale is 0.0; expected a positive number, or an array"),
        ({"k_descale": -1}, "k_descale is -1; expected a positive number, or an array"),
        ({"v_descale": float("inf")}, "v_descale is inf; expected a positive number, or an array"),
        (
            {"v_descale": np.ones((1, 2), np.float32)},
            r"v_descale has the shape \[1, 2\] of f32; expected \[1, 1\] of f32, a factor for each",
        ),
        ({"k_descale": np.ones((1, 1))}, r"k_descale has the shape \[1, 1\] of f64; expected"),
    ],
)
def test_factors_that_do_not_fit(factor, message):
    with pytest.raises(ProblemError, match=message):
        attention(*arrays(1, 1, 1, 8, 8, 64), layout="bhsd", on="cpu", **factor)


def test_factors_of_other_elements():
    q = np.ones((1, 8, 1, 64), np.float16)
    with pytest.raises(
        ProblemError, match="elements of f16; expected e4m3 where factors are given"
    ):
        attention(q, q, q, v_descale=2.0, on="cpu")


def test_a_result_of_the_elements_type():
    q, k, v = arrays(1, 1, 1, 8, 8, 64)
    with pytest.raises(
        ProblemError, match=r"out has the shape \[1, 8, 1, 64\] of f8E4M3FN by heads"
    ):
        attention(q, k, v, out=np.empty_like(q), on="cpu")
    with pytest.raises(ConfigError, match="keys is 48; expected a multiple of 32 up to 256"):
        attention(q, k, v, config=Config(1, 48, 2, 1), on="cpu")
