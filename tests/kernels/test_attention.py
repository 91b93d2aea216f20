"""Attention on the emulator, against NumPy in float64; and what is refused.

The emulator takes as long as there are blocks of keys and tiles of queries. So lengths are one or two of
them and a bit, and cases share kernels, each of which is compiled once.
"""

import re
from functools import partial

import ml_dtypes
import numpy as np
import pytest
from attention_kernels import kernel_by_cache

import mlir_smem
from mlir_smem.kernels.attention import (
    Config,
    ConfigError,
    Problem,
    ProblemError,
    attention,
    default_config,
)
from mlir_smem.kernels.attention.call.emulated import attention_kernel
from mlir_smem.kernels.attention.generator.kernel import text
from mlir_smem.kernels.attention.generator.problem import DIMS

BF16 = np.dtype(ml_dtypes.bfloat16)
SMALL = Config(consumers=1, keys=32, stages=2)

#: Of the largest value: the weights and the result are rounded once each.
BOUNDS = {BF16: 2**-7, np.dtype(np.float16): 2**-10}


def reference(q, k, v, scale=None, left=None, right=None):
    """The result and the logarithms of arrays by heads, in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    heads_of_one, (m, n) = q.shape[1] // k.shape[1], (q.shape[2], k.shape[2])
    k, v = (np.repeat(x, heads_of_one, 1) for x in (k, v))
    s = q @ k.swapaxes(-2, -1) * (scale or q.shape[-1] ** -0.5)
    i, j = np.indices((m, n))
    s = np.where((right is not None) & (j > i + n - m + (right or 0)), -np.inf, s)
    s = np.where((left is not None) & (j < i + n - m - (left or 0)), -np.inf, s)
    highest = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isinf(highest), 0, highest))
    total = p.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = np.log(total) + np.where(np.isinf(highest), 0, highest)
    return p @ v / np.where(total > 0, total, 1), lse[..., 0]


def arrays(batches, heads, groups, queries, keys, dim, dtype=BF16, seed=0):
    random = np.random.default_rng(seed)
    shapes = (batches, heads, queries, dim), *[(batches, groups, keys, dim)] * 2
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def check(q, k, v, causal=False, window=None, **options):
    """Compare a call on arrays by heads."""
    left, right = window or (None, None)
    right = 0 if causal else right
    expected, logarithms = reference(q, k, v, options.get("scale"), left, right)
    # A tile that is left out stays NaN.
    o, lse = attention(
        q,
        k,
        v,
        out=np.full_like(q, np.nan),
        causal=causal,
        window=window,
        layout="bhsd",
        return_lse=True,
        on="cpu",
        **options,
    )
    assert o.dtype == q.dtype and lse.dtype == np.float32
    assert (
        np.abs(o.astype(float) - expected).max() <= BOUNDS[q.dtype] * np.abs(v.astype(float)).max()
    )
    known = np.isfinite(logarithms)
    assert np.allclose(lse[known], logarithms[known], rtol=1e-6, atol=1e-5)
    assert (lse[~known] == -np.inf).all() and (o[~known] == 0).all()


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("causal", [False, True])
def test_head_dimensions_by_default(dim, causal):
    problem = Problem(dim=dim, right=causal, lse=True)
    config = default_config(problem)
    kernel = attention_kernel(problem, config)
    assert kernel.manifest["kernels"][0]["shared_bytes"] == config.shared_bytes(problem)
    # Of short sequences: a block and a few keys, and two queries of the last warpgroup.
    queries = config.rows - 62
    keys = next(n for n in range(2, 200) if default_config(problem, queries, n).keys < n) + 2
    check(*arrays(1, 1, 1, queries, keys, dim), causal=causal)


@pytest.mark.parametrize("window", [(0, 0), (40, None), (None, 3), (7, 100), (500, 500)])
@pytest.mark.parametrize("lengths", [(70, 71), (20, 100), (100, 34), (1, 33)])
def test_windows(window, lengths):
    """Blocks of 32 keys: masks cut one, hide one before or behind it, or leave one between them
    whole. The first tile of 70 queries sees one key of the last block, where the last key that a query
    sees is its own; that of 100 queries sees none of 34 keys.
    """
    check(*arrays(1, 1, 1, *lengths, 64), window=window, config=SMALL)


@pytest.mark.parametrize("lengths", [(64, 32), (65, 33), (130, 40), (40, 100)])
@pytest.mark.parametrize("config", [SMALL, Config(3, 64, 2), Config(2, 48, 3, 2)])
def test_causal_masks_end_with_the_keys(lengths, config):
    heads = 2 if lengths == (64, 32) else 1
    check(*arrays(1, heads, heads, *lengths, 64), causal=True, config=config)


@pytest.mark.parametrize("lengths", [(257, 50), (64, 40), (250, 50)])
@pytest.mark.parametrize("config", [Config(2, 32, 2, 2, 2), Config(1, 48, 2, 1, 2)])
def test_clusters_share_keys(lengths, config):
    """The last tile of a head may have no query."""
    check(*arrays(1, 2, 1, *lengths, 64), config=config)


def test_windows_are_proven():
    for left, right in ((True, False), (False, True), (True, True)):
        attention_kernel(Problem(dim=64, left=left, right=right, lse=True), SMALL)


#: Ops that order something and have no result.
ORDERING = re.compile(
    r'^ *"smem\.(consumer_release|producer_commit|order_wait|order_arrive|fence|warpgroup_barrier'
    r"|tma_wait|tma_commit)"
)
#: The kernels that store O by TMA, and those that store it from registers and release Q before.
PIPELINED = {
    "TMA": text(Problem(dim=64, right=True), Config(2, 32, 2, 2)),
    "multicast": text(Problem(dim=64), Config(2, 32, 2, 2, 2)),
    "heads": text(Problem(dim=64, right=True, heads=8), Config(1, 32, 2, 2)),
    "registers": text(Problem(dim=64, packed=True), Config(2, 32, 2, 1)),
}


@pytest.mark.parametrize(
    ("kernel", "index"),
    [
        pytest.param(kernel, index, id=f"{kernel}-line{index}")
        for kernel, text in PIPELINED.items()
        for index, line in enumerate(text.splitlines())
        if ORDERING.match(line)
    ],
)
def test_no_op_that_orders_can_be_left_out(kernel, index, capfd):
    lines = PIPELINED[kernel].splitlines()
    # A region keeps an op.
    lines[index] = '"gpu.printf"() {format = "."} : () -> ()'
    try:
        mlir_smem.compile("\n".join(lines), emit="nvvm")
    except mlir_smem.bindings.mlir.ir.MLIRError:
        return
    assert "remark: cannot prove" in capfd.readouterr().err


@pytest.mark.parametrize("heads", [1, 2, 5])
@pytest.mark.parametrize("lengths", [(40, 17), (130, 10), (257, 10), (70, 10)])
@pytest.mark.parametrize("cached", [1, 32 << 20])
def test_causal_tiles_in_sections(heads, lengths, cached, monkeypatch):
    # Two CTAs: a section has 4 tiles, or those of one head, unless all heads are in the cache. Heads have
    # 1, 3, 5 and 2 tiles. A query sees the keys up to its own number, so all tiles see some.
    kernel = partial(kernel_by_cache, cached)
    monkeypatch.setattr("mlir_smem.kernels.attention.call.emulated.attention_kernel", kernel)
    queries, keys = lengths
    window = (None, queries - keys)
    check(*arrays(1, heads, 1, *lengths, 64), window=window, config=Config(1, 16, 2, 2))


@pytest.mark.parametrize(
    ("dim", "right", "lengths", "keys"),
    [
        (128, False, (2048, 2048), 160),
        # 512 keys are 4 blocks of 128 and as many of 160.
        (128, False, (512, 512), 128),
        # A mask hides half of the last block of a short sequence.
        (128, True, (2048, 2048), 128),
        (128, True, (8192, 8192), 160),
        (256, True, (2048, 2048), 64),
        (256, True, (4096, 4096), 80),
        # CTAs that share long sequences.
        (128, False, (8192, 8192), 176),
    ],
)
def test_blocks_are_as_wide_as_pays(dim, right, lengths, keys):
    assert default_config(Problem(dim=dim, right=right), *lengths).keys == keys


@pytest.mark.parametrize("dim", [128, 192, 256])
def test_long_sequences_are_shared_by_default(dim):
    config = default_config(Problem(dim=dim))
    assert config.cluster == 2
    check(*arrays(1, 1, 1, config.rows + 2, config.keys + 3, dim), config=config)


def test_heads_share_keys():
    check(*arrays(2, 6, 2, 40, 20, 64), causal=True, config=SMALL)
    check(*arrays(1, 3, 1, 70, 40, 64), config=SMALL)


@pytest.mark.parametrize("dim", DIMS)
def test_one_query(dim):
    # Heads that share keys are rows of one tile.
    keys = default_config(Problem(dim=dim), queries=1).keys + 3
    if dim == 64:
        check(*arrays(2, 6, 2, 1, 20, dim))
    q, k, v = arrays(1, 3, 1, 1, keys, dim)
    check(q, k, v, causal=True)
    check(q[:, :2], k, v, window=(40, 0))


@pytest.mark.parametrize(("heads", "queries"), [(6, 1), (8, 5)])
def test_few_queries_of_strided_arrays(heads, queries):
    q, k, v = (x.transpose(0, 2, 1, 3) for x in arrays(2, heads, 2, queries, 40, 64))
    wide, out = (np.zeros((2, queries, heads, columns), BF16) for columns in (128, 192))
    wide[..., 64:] = q
    o = attention(wide[..., 64:], k, v, out=out[..., :64], on="cpu")
    assert (o == attention(q, k, v, on="cpu")).all()
    assert o.any() and (out[..., 64:] == 0).all()


def test_scales_and_types():
    check(*arrays(1, 1, 1, 66, 40, 64, np.float16), scale=0.3, config=SMALL)
    q, k, v = arrays(1, 1, 1, 66, 70, 64)
    # Scores far from 0, as of outliers.
    check(q * BF16.type(16), k + BF16.type(8), v, causal=True, config=SMALL)


@pytest.mark.parametrize("layout", ["bshd", "bhsd"])
def test_layouts_strides_and_results(layout):
    whole = np.random.default_rng(0).standard_normal((2, 40, 3, 3, 64)).astype(BF16)
    by_heads = [whole[:, :, i].transpose(0, 2, 1, 3) for i in range(3)]
    expected, _ = reference(*by_heads)
    operands = [whole[:, :, i] for i in range(3)] if layout == "bshd" else by_heads
    out = np.full_like(operands[0], 9)
    o = attention(*operands, layout=layout, out=out, config=SMALL, on="cpu")
    assert o is out
    o = out.transpose(0, 2, 1, 3) if layout == "bshd" else out
    assert np.abs(o.astype(float) - expected).max() <= 2**-5


def test_arrays_of_jax():
    jnp = pytest.importorskip("jax.numpy")
    operands = [x.transpose(0, 2, 1, 3) for x in arrays(1, 2, 1, 40, 20, 64)]
    expected, logarithms = attention(*operands, return_lse=True, on="cpu")
    theirs = [jnp.asarray(x) for x in operands]
    o, lse = attention(*theirs, return_lse=True, on="cpu")
    assert isinstance(o, jnp.ndarray) and isinstance(lse, jnp.ndarray)
    assert (np.asarray(o) == expected).all() and (np.asarray(lse) == logarithms).all()
    out = np.empty_like(expected)
    assert attention(*theirs, out=out, on="cpu") is out and (out == expected).all()
    with pytest.raises(
        ProblemError, match="out is read-only; expected an array that can be written"
    ):
        attention(*theirs, out=o, on="cpu")


Q, K = np.zeros((1, 64, 2, 64), BF16), np.zeros((1, 64, 1, 64), BF16)


#: Operands, options, and the error.
REFUSED = [
    ((Q[0], K, K), {}, "q has the shape [64, 2, 64]; expected 4 dimensions, bshd"),
    ((Q, K, K), {"layout": "sbhd"}, "layout is 'sbhd'; expected 'bshd' or 'bhsd'"),
    (
        (Q, K.astype(np.float16), K),
        {},
        "q has elements of bf16, but k of f16; expected one type",
    ),
    (
        (Q, K, K[:, :8]),
        {},
        "k has 1 batches of 1 heads, length 64, dimension 64, but v has 1 batch",
    ),
    ((Q, K[..., :32], K[..., :32]), {}, "expected equal batches and dimensions"),
    ((Q, K[:, :0], K[:, :0]), {}, "expected one or more of each"),
    ((K, Q, Q), {}, "q has 1 heads, and k and v have 2; expected a multiple of theirs"),
    ((Q.swapaxes(1, 3), K, K), {}, "expected a contiguous last dimension"),
    (
        (Q[..., :32], K[..., :32], K[..., :32]),
        {},
        "the head dimension is 32; expected one of 64, 96",
    ),
    (
        (Q.astype(np.float32),) * 3,
        {},
        "q, k and v have elements of f32; expected bf16, f16, f8E4M3FN",
    ),
    ((Q, K, K), {"scale": -1}, "scale is -1; expected a positive number"),
    ((Q, K, K), {"scale": "1"}, "scale is '1'; expected a positive number"),
    ((Q, K, K), {"window": (-1, 0)}, "window is (-1, 0); expected 0 or more, or None for all"),
    (
        (Q, K, K),
        {"window": 5},
        "window is 5; expected (left, right), numbers of keys, None for all",
    ),
    (
        (Q, K, K),
        {"out": Q[:, :8]},
        "out has the shape [1, 2, 8, 64] of bf16 by heads; expected that of q, ",
    ),
]


@pytest.mark.parametrize(
    ("operands", "options", "message"),
    REFUSED,
    ids=[f"given{i}-options{i}-{message}" for i, (*_, message) in enumerate(REFUSED)],
)
def test_what_is_refused(operands, options, message):
    with pytest.raises(ProblemError, match=re.escape(message)):
        attention(*operands, **options, on="cpu")


def test_rows_and_addresses_that_tma_does_not_read():
    odd = np.zeros((1, 64, 2, 68), BF16)[..., :64]
    with pytest.raises(ProblemError, match="expected positive multiples of 8 "):
        attention(odd, K, K, on="cpu")
    shifted = np.zeros(64 * 2 * 64 + 1, BF16)[1:].reshape(Q.shape)
    with pytest.raises(ProblemError, match=r"q is at 0x.*; expected a multiple of 16 bytes"):
        attention(shifted, K, K, on="cpu")


def test_a_kernel_is_compiled_once(monkeypatch):
    expected = attention(Q + 1, K, K + 1, on="cpu")
    monkeypatch.setattr("mlir_smem.kernels.attention.call.emulated.compile", None)
    o = attention(Q + 1, K, K + 1, on="cpu")
    assert o.any() and (o == expected).all()


def test_an_unknown_machine():
    with pytest.raises(ValueError, match="unknown machine 'tpu'; expected gpu or cpu"):
        attention(Q, K, K, on="tpu")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (Config(consumers=4), "consumers is 4; expected 1 or 2 or 3 warpgroups"),
        (Config(stages=1), "stages is 1; expected 2 or more"),
        (Config(query_stages=0), "query_stages is 0; expected 1 or more"),
        (Config(cluster=3), "cluster is 3; expected 1 or 2 CTAs"),
        (Config(keys=24), "keys is 24; expected a multiple of 16 up to 256"),
        (Config(keys=272), "keys is 272; expected a multiple of 16 up to 256"),
        (Config(keys=192), "O has 64, S 96 and P 48; expected keys up to 176"),
        (
            Config(keys=128, stages=4),
            "1 * 32768 for Q, 2 * 4 * 32768 for K and V, 144 of mbarriers",
        ),
    ],
)
def test_configurations_that_do_not_fit(config, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        config.check(Problem())


@pytest.mark.parametrize("field", ["left", "right", "packed", "split"])
def test_clusters_of_tiles_that_read_other_blocks(field):
    with pytest.raises(
        ConfigError, match="cluster is 2, but tiles do not all read the same blocks"
    ):
        Config(cluster=2).check(Problem(**{field: True}))
