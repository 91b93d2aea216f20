"""Attention on a GPU, against PyTorch in f32 and against the emulator."""

import numpy as np
import pytest
from test_linalg_on_gpu import to_numpy

from mlir_smem.kernels.attention import Config, Problem, attention, default_config, tune
from mlir_smem.kernels.attention.generator.problem import DIMS

pytestmark = pytest.mark.gpu
torch = pytest.importorskip("torch", exc_type=ImportError)


def tensors(batch, heads, groups, queries, keys, dim, dtype=None):
    torch.manual_seed(0)
    shapes = (batch, queries, heads, dim), *[(batch, keys, groups, dim)] * 2
    return [torch.randn(s, device="cuda").to(dtype or torch.bfloat16) for s in shapes]


def check(q, k, v, causal=False, window=(None, None)):
    left, right = window
    o, lse = attention(q, k, v, causal=causal, window=window, return_lse=True)
    m, n = q.shape[1], k.shape[1]
    wide = [tensor.double().transpose(1, 2) for tensor in (q, k, v)]
    wide[1:] = [tensor.repeat_interleave(q.shape[2] // k.shape[2], 1) for tensor in wide[1:]]
    s = wide[0] @ wide[1].transpose(-2, -1) * q.shape[-1] ** -0.5
    position = torch.arange(m, device="cuda")[:, None] + n - m
    key = torch.arange(n, device="cuda")[None]
    right = 0 if causal else right
    hidden = torch.zeros(m, n, dtype=torch.bool, device="cuda")
    hidden |= (key > position + right) if right is not None else hidden
    hidden |= (key < position - left) if left is not None else hidden
    s = s.masked_fill(hidden, float("-inf"))
    weights = torch.softmax(s, -1).nan_to_num(0)
    expected = (weights @ wide[2]).transpose(1, 2)
    assert (o.double() - expected).abs().max() <= 2**-7 * v.abs().max()
    assert torch.allclose(lse.double(), s.logsumexp(-1), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("causal", [False, True])
def test_dimensions(dim, causal):
    check(*tensors(2, 4, 2, 1000, 1333, dim), causal=causal)
    check(*tensors(1, 2, 2, 2048, 2048, dim, torch.float16), causal=causal)


@pytest.mark.parametrize("window", [(0, 0), (200, None), (None, 100), (300, 40)])
def test_windows(window):
    check(*tensors(2, 2, 1, 1024, 777, 128), window=window)


def test_many_tiles_of_each_cta():
    check(*tensors(4, 16, 4, 1100, 1100, 64), causal=True)


def test_the_bytes_are_those_of_the_emulator():
    q, k, v = tensors(1, 2, 1, 200, 300, 128)
    o = to_numpy(attention(q, k, v, causal=True), np.int16)
    on_host = [tensor.cpu() for tensor in (q, k, v)]
    out = torch.empty_like(on_host[0])
    attention(*on_host, causal=True, out=out, on="cpu")
    # The chip sums products in another order, and rounds its exponentials otherwise.
    measured, emulated = (x.astype(np.int32) for x in (o, to_numpy(out, np.int16)))
    assert (np.abs(measured - emulated) <= 1).mean() > 0.99


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("causal", [False, True])
def test_packed_sequences(dim, causal):
    """Each sequence has the result that it has alone."""
    lengths = [(1000, 1333), (0, 40), (1, 333), (64, 65), (2049, 2049), (130, 0), (517, 300)]
    query_starts, key_starts = (
        torch.tensor([0, *extents], device="cuda").cumsum(0).int()
        for extents in zip(*lengths, strict=True)
    )
    tokens = int(query_starts[-1]), int(key_starts[-1])
    q, k, v = (tensor[0] for tensor in tensors(1, 4, 2, *tokens, dim))
    o, lse = attention(
        q,
        k,
        v,
        causal=causal,
        cu_seqlens_q=query_starts,
        cu_seqlens_k=key_starts,
        max_seqlen_q=2049,
        return_lse=True,
    )
    for sequence, (queries, keys) in enumerate(lengths):
        rows, columns = (
            slice(int(starts[sequence]), int(starts[sequence + 1]))
            for starts in (query_starts, key_starts)
        )
        if not keys:
            assert not o[rows].any() and torch.isneginf(lse[:, rows]).all()
        elif queries:
            parts = (tensor[None] for tensor in (q[rows], k[columns], v[columns]))
            alone, logarithms = attention(*parts, causal=causal, return_lse=True)
            assert (o[rows].float() - alone[0].float()).abs().max() <= 2**-7 * v.abs().max()
            assert torch.allclose(lse[:, rows], logarithms[0], rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("causal", [False, True])
def test_packed_sequences_of_e4m3(dim, causal):
    """A sequence's values are one number, and so is its result, wherever it begins."""
    lengths = [(1000, 1333), (0, 40), (1, 333), (64, 65), (2049, 2049), (301, 517)]
    query_starts, key_starts = (
        torch.tensor([0, *extents], device="cuda").cumsum(0).int()
        for extents in zip(*lengths, strict=True)
    )
    tokens = int(query_starts[-1]), int(key_starts[-1])
    q, k, v = (tensor[0] for tensor in tensors(1, 4, 2, *tokens, dim, torch.float8_e4m3fn))
    packing = {"cu_seqlens_q": query_starts, "cu_seqlens_k": key_starts, "max_seqlen_q": 2049}
    numbers = (-448, 2, 448, 1, -3, 40)
    for sequence, number in enumerate(numbers):
        v[key_starts[sequence] : key_starts[sequence + 1]] = number
    o = attention(q, k, v, causal=causal, **packing)
    for sequence, number in enumerate(numbers):
        output = o[query_starts[sequence] : query_starts[sequence + 1]].float()
        assert torch.allclose(output, torch.full_like(output, number), rtol=2**-4)


@pytest.mark.parametrize("dim", [128, 192, 256])
def test_long_sequences_in_clusters(dim):
    check(*tensors(1, 2, 1, 8300, 8193, dim))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [(1000, 1333), (2048, 2048), (1, 8192)])
def test_e4m3(dim, causal, lengths):
    q, k, v = tensors(2, 4, 2, *lengths, dim, torch.float8_e4m3fn)
    # Powers of two, so that elements of bf16 are as exact.
    factors = 2.0 ** torch.randint(-2, 2, (3, 2, 2), device="cuda")
    named = dict(zip(("q_descale", "k_descale", "v_descale"), factors, strict=True))
    o, lse = attention(q, k, v, causal=causal, return_lse=True, **named)
    of_q, of_k, of_v = factors.bfloat16()[:, :, None, :, None]
    wide = q.bfloat16() * of_q.repeat_interleave(2, 2), k.bfloat16() * of_k, v.bfloat16() * of_v
    expected, logarithms = attention(*wide, causal=causal, return_lse=True)
    difference = (o.float() - expected.float()).abs()
    assert difference.mean() <= 2**-5 * expected.float().abs().mean()
    assert torch.allclose(lse, logarithms, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("dim", DIMS)
def test_keys_in_parts(dim):
    """Few heads of few queries: the keys of each head are split among CTAs."""
    check(*tensors(1, 8, 2, 1, 8192, dim))
    check(*tensors(2, 4, 4, 40, 5003, dim), causal=True)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("queries", [2, 8, 13, 30])
def test_few_queries_of_heads_that_share_keys(dim, queries):
    """Several heads have their queries in one tile; their keys are in parts, too."""
    check(*tensors(2, 8, 1, queries, 5003, dim), causal=True)
    check(*tensors(64, 12, 2, queries, 777, dim), window=(100, 3))


@pytest.mark.parametrize("name", ["cupy", "jax"])
def test_arrays_of_other_libraries(name):
    """The result is of the library of the arrays."""
    operands = tensors(1, 4, 2, 300, 500, 64, torch.float16)
    expected, logarithms = attention(*operands, causal=True, return_lse=True)
    module = pytest.importorskip(name, exc_type=ImportError)
    convert = module.from_dlpack if name == "cupy" else module.dlpack.from_dlpack
    theirs = [convert(tensor) for tensor in operands]
    output, lse = attention(*theirs, causal=True, return_lse=True)
    assert type(output) is type(theirs[0])
    assert torch.equal(torch.from_dlpack(output), expected)
    assert torch.equal(torch.from_dlpack(lse), logarithms)


def test_a_configuration_is_found_and_used(tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    q, k, v = tensors(2, 4, 2, 1000, 1333, 64)
    configs = [Config(2, 128, 2, 2), Config(2, 64, 2, 1)]
    config = tune(q, k, v, causal=True, configs=configs, progress=False)
    assert config in (*configs, default_config(Problem(dim=64, right=True), 1000, 1333))
    check(q, k, v, causal=True)
    assert tune(q, k, v, causal=True, configs=configs, progress=False) == config
