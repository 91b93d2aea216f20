"""Programs of JAX."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from front_end_cases.case import Case, jax_case, normal, rng, whole

_BF16 = ml_dtypes.bfloat16


def _weight(shape: tuple[int, ...], dtype: Any = _BF16, seed: int = 1) -> np.ndarray:
    return normal(shape, dtype, seed, scale=shape[-2] ** -0.5)


def _int8(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return rng(seed).integers(-9, 10, size=shape).astype(np.int8)


def _qkv(
    heads: int = 2, queries: int = 64, keys: int = 64, width: int = 64, kv_heads: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    kv = (1, kv_heads or heads, keys, width)
    return normal((1, heads, queries, width)), normal(kv, seed=1), normal(kv, seed=2)


def _scores(q: Any, k: Any) -> Any:
    return jnp.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])


def _attend(scores: Any, v: Any) -> Any:
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)


def _attention(q: Any, k: Any, v: Any) -> Any:
    return _attend(_scores(q, k), v)


def _rms_norm(x: Any, weight: Any) -> Any:
    wide = x.astype(jnp.float32)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)
    return wide.astype(x.dtype) * weight


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    wide = x.astype(jnp.float32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), axis=-1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * weight + bias


# Epilogues.


def _outer_scales(x: Any, w: Any, rows: Any, columns: Any) -> Any:
    product = jnp.dot(x, w, preferred_element_type=jnp.float32)
    return (product * (rows[:, None] * columns[None, :])).astype(x.dtype)


def _gelu_residual(x: Any, w: Any, bias: Any, residual: Any) -> Any:
    return residual + jax.nn.gelu(x @ w + bias, approximate=True)


def _swiglu(x: Any, gate: Any, up: Any) -> Any:
    return jax.nn.silu(x @ gate) * (x @ up)


def _geglu(x: Any, both: Any) -> Any:
    gate, up = jnp.split(x @ both, 2, axis=-1)
    return jax.nn.gelu(gate) * up


def _segments(x: Any, w: Any, rows: Any, columns: Any) -> Any:
    return jnp.where(rows[:, None] == columns[None, :], x @ w, 0)


def _squared_relu(x: Any, w: Any) -> Any:
    return jnp.square(jnp.clip(x @ w, 0, 6))


def _wide_batches(a: Any, b: Any, start: Any) -> Any:
    return start + 0.5 * jnp.matmul(a, b, preferred_element_type=jnp.float32)


def _unsigned_weight(x: Any, w: Any, scale: Any) -> Any:
    return x @ ((w.astype(jnp.bfloat16) - 8) * scale)


def _int8_scales(x: Any, w: Any, tokens: Any, channels: Any) -> Any:
    product = jnp.dot(x, w, preferred_element_type=jnp.int32)
    return (product.astype(jnp.float32) * tokens * channels).astype(jnp.bfloat16)


def _heads(x: Any, w: Any) -> Any:
    batch, length, _ = x.shape
    return jnp.transpose((x @ w).reshape(batch, length, 4, 16), (0, 2, 1, 3))


# Attentions.


def _by_tril(q: Any, k: Any, v: Any) -> Any:
    mask = jnp.tril(jnp.ones((q.shape[2], k.shape[2]), bool))
    return _attend(jnp.where(mask, _scores(q, k), -jnp.inf), v)


def _by_iota(q: Any, k: Any, v: Any) -> Any:
    scores = _scores(q, k)
    rows = jax.lax.broadcasted_iota(jnp.int32, scores.shape, 2)
    columns = jax.lax.broadcasted_iota(jnp.int32, scores.shape, 3)
    return _attend(jnp.where(rows >= columns, scores, jnp.finfo(scores.dtype).min), v)


def _by_triu(q: Any, k: Any, v: Any) -> Any:
    mask = jnp.triu(jnp.full((q.shape[2], k.shape[2]), -jnp.inf, q.dtype), 1)
    return _attend(_scores(q, k) + mask, v)


def _by_arange(q: Any, k: Any, v: Any) -> Any:
    mask = jnp.arange(k.shape[2])[None, :] <= jnp.arange(q.shape[2])[:, None]
    return _attend(jnp.where(mask, _scores(q, k), -1e9), v)


_LOWER = np.tril(np.ones((64, 64), bool))


def _by_constant(q: Any, k: Any, v: Any) -> Any:
    return _attend(jnp.where(_LOWER, _scores(q, k), -1e9), v)


def _window(q: Any, k: Any, v: Any) -> Any:
    distance = jnp.arange(q.shape[2])[:, None] - jnp.arange(k.shape[2])[None, :]
    return _attend(jnp.where((distance >= 0) & (distance < 16), _scores(q, k), -jnp.inf), v)


def _two_sided(q: Any, k: Any, v: Any) -> Any:
    distance = jnp.arange(q.shape[2])[:, None] - jnp.arange(k.shape[2])[None, :]
    return _attend(jnp.where(jnp.abs(distance) <= 12, _scores(q, k), -jnp.inf), v)


def _left_padding(q: Any, k: Any, v: Any, first: Any) -> Any:
    mask = jnp.arange(k.shape[2])[None, None, None, :] >= first[:, None, None, None]
    return _attend(jnp.where(mask, _scores(q, k), -1e9), v)


def _key_padding(q: Any, k: Any, v: Any, valid: Any) -> Any:
    return _attend(jnp.where(valid[:, None, None, :], _scores(q, k), -jnp.inf), v)


def _gqa_by_repeat(q: Any, k: Any, v: Any) -> Any:
    groups = q.shape[1] // k.shape[1]
    return _attention(q, jnp.repeat(k, groups, axis=1), jnp.repeat(v, groups, axis=1))


def _gqa_by_broadcast(q: Any, k: Any, v: Any) -> Any:
    batch, heads, length, width = k.shape
    groups = q.shape[1] // heads

    def wider(x: Any) -> Any:
        shape = (batch, heads, groups, length, width)
        return jnp.broadcast_to(x[:, :, None], shape).reshape(batch, -1, length, width)

    return _attention(q, wider(k), wider(v))


def _gqa_grouped(q: Any, k: Any, v: Any) -> Any:
    batch, _, length, width = q.shape
    grouped = q.reshape(batch, k.shape[1], -1, length, width)
    scores = jnp.einsum("bhgqd,bhkd->bhgqk", grouped, k) * width**-0.5
    out = jnp.einsum("bhgqk,bhkd->bhgqd", jax.nn.softmax(scores, axis=-1), v)
    return out.reshape(q.shape)


def _scale_of_array(q: Any, k: Any, v: Any, scale: Any) -> Any:
    return _attend(jnp.einsum("bhqd,bhkd->bhqk", q, k) * scale, v)


def _soft_cap(q: Any, k: Any, v: Any) -> Any:
    return _attend(20.0 * jnp.tanh(_scores(q, k) / 20.0), v)


def _alibi(q: Any, k: Any, v: Any, slopes: Any) -> Any:
    distance = jnp.arange(k.shape[2])[None, :] - jnp.arange(q.shape[2])[:, None]
    bias = slopes[:, None, None] * distance
    scores = (_scores(q, k) + bias).astype(jnp.float32)
    scores = jnp.where(distance <= 0, scores, -jnp.inf)
    return _attend(scores, v.astype(jnp.float32)).astype(q.dtype)


def _sink(q: Any, k: Any, v: Any, sinks: Any) -> Any:
    scores = _scores(q, k)
    column = jnp.broadcast_to(sinks[None, :, None, None], (*scores.shape[:3], 1))
    weights = jax.nn.softmax(jnp.concatenate([scores, column], axis=-1), axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights[..., :-1], v)


def _wide_softmax(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
    scores = jnp.where(_LOWER, scores * q.shape[-1] ** -0.5, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=-1).astype(q.dtype)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def _local_window(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.dot_product_attention(q, k, v, is_causal=True, local_window_size=(15, 0))


def _bias_and_mask(q: Any, k: Any, v: Any, bias: Any, mask: Any) -> Any:
    return jax.nn.dot_product_attention(q, k, v, bias=bias, mask=mask, scale=0.125)


def _lengths(q: Any, k: Any, v: Any, lengths: Any) -> Any:
    return jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=lengths)


def _qkv_attention(x: Any, qkv: Any, out: Any) -> Any:
    batch, length, width = x.shape
    heads = (x @ qkv).reshape(batch, length, 3, 2, width // 2)
    q, k, v = (jnp.swapaxes(heads[:, :, i], 1, 2) for i in range(3))
    mixed = jnp.swapaxes(_by_tril(q, k, v), 1, 2).reshape(x.shape)
    return x + mixed @ out


# Blocks.


def _rope(x: Any) -> Any:
    half = x.shape[-1] // 2
    steps = 10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
    angles = jnp.arange(x.shape[2], dtype=jnp.float32)[:, None] * steps
    low, high = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    turned = jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)
    return turned.astype(x.dtype)


def _llama(x: Any, *weights: Any) -> Any:
    p = dict(zip(_LLAMA, weights, strict=True))
    batch, length, _ = x.shape

    def heads(y: Any) -> Any:
        return jnp.swapaxes(y.reshape(batch, length, -1, 16), 1, 2)

    y = _rms_norm(x, p["norm1"])
    q, k = _rope(heads(y @ p["q"])), _rope(heads(y @ p["k"]))
    k, v = jnp.repeat(k, 2, axis=1), jnp.repeat(heads(y @ p["v"]), 2, axis=1)
    x = x + jnp.swapaxes(_by_tril(q, k, v), 1, 2).reshape(batch, length, -1) @ p["o"]
    y = _rms_norm(x, p["norm2"])
    return x + _swiglu(y, p["gate"], p["up"]) @ p["down"]


_LLAMA = {
    "norm1": np.ones(64, _BF16),
    "norm2": np.ones(64, _BF16),
    "q": _weight((64, 64), seed=1),
    "k": _weight((64, 32), seed=2),
    "v": _weight((64, 32), seed=3),
    "o": _weight((64, 64), seed=4),
    "gate": _weight((64, 128), seed=5),
    "up": _weight((64, 128), seed=6),
    "down": _weight((128, 64), seed=7),
}


def _vit(image: Any, p: dict[str, Any]) -> Any:
    batch = image.shape[0]
    patches = jax.lax.conv_general_dilated(
        image, p["patch"], (8, 8), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = patches.reshape(batch, -1, 64) + p["position"]
    y = _layer_norm(x, p["norm"], p["shift"])
    q, k, v = (
        jnp.swapaxes(part.reshape(batch, -1, 2, 32), 1, 2)
        for part in jnp.split(y @ p["qkv"], 3, axis=-1)
    )
    x = x + jnp.swapaxes(_attention(q, k, v), 1, 2).reshape(x.shape) @ p["out"]
    y = _layer_norm(x, p["norm"], p["shift"])
    return x + jax.nn.gelu(y @ p["mlp1"], approximate=False) @ p["mlp2"]


_VIT = {
    "patch": normal((8, 8, 3, 64), seed=1, scale=0.07),
    "position": normal((16, 64), seed=2, scale=0.1),
    "norm": np.ones(64, _BF16),
    "shift": np.zeros(64, _BF16),
    "qkv": _weight((64, 192), seed=3),
    "out": _weight((64, 64), seed=4),
    "mlp1": _weight((64, 128), seed=5),
    "mlp2": _weight((128, 64), seed=6),
}


def _mixer(x: Any, tokens1: Any, tokens2: Any, channels1: Any, channels2: Any) -> Any:
    y = jnp.swapaxes(x, 1, 2)
    y = jax.nn.gelu(y @ tokens1) @ tokens2
    x = x + jnp.swapaxes(y, 1, 2)
    return x + jax.nn.gelu(x @ channels1) @ channels2


def _experts(x: Any, router: Any, up: Any, down: Any) -> Any:
    probabilities = jax.nn.softmax((x @ router).astype(jnp.float32), axis=-1)
    best, which = jax.lax.top_k(probabilities, 2)
    chosen = jax.nn.one_hot(which, up.shape[0], dtype=jnp.float32)
    gates = jnp.sum(chosen * best[..., None], axis=1).astype(x.dtype)
    hidden = jax.nn.silu(jnp.einsum("td,edf->etf", x, up))
    return jnp.einsum("etd,te->td", jnp.einsum("etf,efd->etd", hidden, down), gates)


def _lora(x: Any, w: Any, a: Any, b: Any) -> Any:
    return x @ w + (x @ a) @ b * 0.25


def _tied_embedding_loss(tokens: Any, targets: Any, table: Any, w: Any) -> Any:
    hidden = jax.nn.gelu(table[tokens] @ w)
    logits = jax.lax.dot_general(hidden, table, (((1,), (1,)), ((), ())))
    losses = jax.nn.log_softmax(logits.astype(jnp.float32), axis=-1)
    return -jnp.mean(jnp.take_along_axis(losses, targets[:, None], axis=-1))


def _decode(q: Any, k: Any, v: Any, keys: Any, values: Any, position: Any) -> Any:
    zero = jnp.zeros((), position.dtype)
    keys = jax.lax.dynamic_update_slice(keys, k, (zero, zero, position, zero))
    values = jax.lax.dynamic_update_slice(values, v, (zero, zero, position, zero))
    mask = jnp.arange(keys.shape[2]) < position + k.shape[2]
    return _attend(jnp.where(mask, _scores(q, keys), -1e9), values), keys, values


def _rnn(inputs: Any, state: Any, w: Any, u: Any, bias: Any) -> Any:
    def cell(state: Any, x: Any) -> Any:
        state = jnp.tanh(x @ w + state @ u + bias)
        return state, state

    return jax.lax.scan(cell, state, inputs)


def _powers(x: Any, w: Any, count: Any) -> Any:
    def step(carry: Any) -> Any:
        step, y = carry
        return step + 1, jnp.maximum(y @ w, 0)

    return jax.lax.while_loop(lambda carry: carry[0] < count, step, (jnp.int32(0), x))[1]


def _either(x: Any, w: Any, u: Any, flag: Any) -> Any:
    return jax.lax.cond(flag, lambda y: y @ w, lambda y: jax.nn.relu(y @ u), x)


def _layers(x: Any, weights: Any) -> Any:
    return jax.lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y @ weights[i]), x)


def _loss(params: Any, x: Any, y: Any) -> Any:
    hidden = jax.checkpoint(lambda x: jax.nn.relu(x @ params["w1"] + params["b1"]))(x)
    return jnp.mean(jnp.square((hidden @ params["w2"] - y).astype(jnp.float32)))


class Dense(NamedTuple):
    """The parameters of a layer."""

    weight: Any
    bias: Any


def _structures(params: tuple[Dense, Dense], x: Any, unused: Any) -> dict[str, Any]:
    first, second = params
    hidden = jax.nn.relu(x @ first.weight + first.bias)
    return {"hidden": [hidden], "out": (hidden @ second.weight + second.bias, x)}


def _normalised_convolution(x: Any, w: Any, mean: Any, variance: Any, bias: Any) -> Any:
    y = jax.lax.conv_general_dilated(
        x, w, (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW")
    )
    scale = jax.lax.rsqrt(variance + 1e-5).astype(y.dtype)
    return jax.nn.relu((y - mean[:, None, None]) * scale[:, None, None] + bias[:, None, None])


def _vectors(x: Any, w: Any, y: Any) -> Any:
    return x @ w, w @ y, jnp.outer(x, y)


def _gram(x: Any) -> Any:
    gram = x @ x.T
    return jnp.argmax(gram, axis=-1), gram, gram @ x


_X = normal((64, 64))
_W = _weight((64, 64))
_V = normal((64,), seed=2)
_R = normal((64, 64), seed=3)
_WX = whole((64, 64))
_WW = whole((64, 64), seed=1)
_A = normal((4, 32, 64))
_B = _weight((4, 64, 32))
_POSITIVE = (np.abs(normal((64,), np.float32, 4)) + 0.5).astype(np.float32)
_LENGTHS = np.array([64, 40], np.int32)

CASES: list[Case] = [
    jax_case("scale by a 0-d array", 1, lambda x, w, s: (x @ w) * s, _X, _W, np.array(0.5, _BF16)),
    jax_case(
        "scale by an array of one", 1, lambda x, w, s: (x @ w) * s, _X, _W, np.array([0.5], _BF16)
    ),
    jax_case(
        "scale by a matrix of one and clamp",
        1,
        lambda x, w, s: jnp.clip((x @ w) * s, -1, 1),
        _X,
        _W,
        np.array([[0.75]], _BF16),
    ),
    jax_case(
        "outer product of scales before the product", 1, _outer_scales, _X, _W, _POSITIVE, _POSITIVE
    ),
    jax_case("bias, tanh gelu, residual", 1, _gelu_residual, _X, _W, _V, _R),
    jax_case(
        "exact gelu", 1, lambda x, w, b: jax.nn.gelu(x @ w + b, approximate=False), _X, _W, _V
    ),
    jax_case("swiglu of two weights", 2, _swiglu, _X, _W, _weight((64, 64), seed=2)),
    jax_case("geglu of one weight, split", 1, _geglu, _X, _weight((64, 128))),
    jax_case("soft cap", 1, lambda x, w: 2.0 * jnp.tanh((x @ w) / 2.0), _X, _W),
    jax_case(
        "where segments of rows and columns are equal",
        1,
        _segments,
        _WX,
        _WW,
        (np.arange(64) // 16).astype(np.int32),
        (np.arange(64) // 24).astype(np.int32),
        exact=True,
    ),
    jax_case("clamp and square", 1, _squared_relu, _X, _W),
    jax_case(
        "bias of each batch",
        1,
        lambda a, b, bias: jax.nn.relu(a @ b + bias[:, None, :]),
        _A,
        _B,
        normal((4, 32), seed=3),
    ),
    jax_case(
        "f32 initial matrix of each batch",
        1,
        _wide_batches,
        _A,
        _B,
        normal((4, 32, 32), np.float32),
    ),
    jax_case(
        "bool mask as an argument",
        1,
        lambda x, w, mask: jnp.where(mask, x @ w, -1),
        _WX,
        _WW,
        rng().random((64, 64)) < 0.5,
        exact=True,
    ),
    jax_case("bool result", 1, lambda x, w: x @ w > 0, _WX, _WW, exact=True),
    jax_case(
        "uint8 weight less its zero point",
        1,
        _unsigned_weight,
        _X,
        rng().integers(0, 16, size=(64, 48)).astype(np.uint8),
        normal((48,), seed=1, scale=0.1),
    ),
    jax_case("transposed result with a bias", 1, lambda x, w, b: (x @ w + b).T, _X, _W, _V),
    jax_case(
        "int8 with scales of tokens and channels",
        1,
        _int8_scales,
        _int8((64, 64)),
        _int8((64, 64), 1),
        _POSITIVE[:, None],
        _POSITIVE[None, :],
    ),
    jax_case(
        "int8 to int32 plus int32",
        1,
        lambda x, w, c: jnp.dot(x, w, preferred_element_type=jnp.int32) + c,
        _int8((32, 64)),
        _int8((64, 64), 1),
        rng(2).integers(-99, 99, size=(32, 64)).astype(np.int32),
        exact=True,
    ),
    jax_case(
        "queries, keys and values of one product",
        1,
        lambda x, w: jnp.split(x @ w, 3, axis=-1),
        _WX,
        whole((64, 96), seed=1),
        exact=True,
    ),
    jax_case(
        "concatenated products",
        2,
        lambda x, w, u: jnp.concatenate([x @ w, x @ u], axis=-1),
        _WX,
        _WW,
        whole((64, 32), seed=2),
        exact=True,
    ),
    jax_case("result of heads", 1, _heads, whole((2, 32, 64)), whole((64, 64), seed=1), exact=True),
    jax_case(
        "leaky relu of f16",
        1,
        lambda x, w: jax.nn.leaky_relu(x @ w, 0.1),
        normal((48, 64), np.float16),
        _weight((64, 80), np.float16),
    ),
    jax_case(
        "f32 product as tf32, bias, sigmoid",
        1,
        lambda x, w, b: jax.nn.sigmoid(x @ w + b),
        normal((64, 32), np.float32),
        _weight((32, 64), np.float32),
        normal((64,), np.float32, 2),
        f32="tf32",
    ),
    jax_case("plain attention", 1, _attention, *_qkv()),
    jax_case("causal attention by tril", 1, _by_tril, *_qkv()),
    jax_case("causal attention by iota, width 128", 1, _by_iota, *_qkv(width=128)),
    jax_case("causal attention by triu of -inf", 1, _by_triu, *_qkv()),
    jax_case("causal attention by arange, width 80", 1, _by_arange, *_qkv(width=80)),
    jax_case("causal attention by a constant mask", 1, _by_constant, *_qkv()),
    jax_case("attention in a window before", 1, _window, *_qkv(queries=96, keys=96)),
    jax_case("attention in a window of both sides", 1, _two_sided, *_qkv()),
    jax_case(
        "attention with left padding", 1, _left_padding, *_qkv(keys=96), np.array([24], np.int32)
    ),
    jax_case(
        "attention with a mask of keys", 1, _key_padding, *_qkv(), (np.arange(64) < 50)[None, :]
    ),
    jax_case("grouped attention by repeat", 1, _gqa_by_repeat, *_qkv(heads=4, kv_heads=2)),
    jax_case("grouped attention by broadcast", 1, _gqa_by_broadcast, *_qkv(heads=4, kv_heads=2)),
    jax_case("grouped attention by einsum", 1, _gqa_grouped, *_qkv(heads=4, kv_heads=2)),
    jax_case(
        "cross attention with an array as scale",
        1,
        _scale_of_array,
        *_qkv(queries=32, keys=100),
        np.array(0.125, _BF16),
    ),
    jax_case("attention with a soft cap", 1, _soft_cap, *_qkv()),
    jax_case("attention with linear biases", 1, _alibi, *_qkv(), np.array([0.5, 0.25], np.float32)),
    jax_case("attention with sinks", 1, _sink, *_qkv(), np.array([0.5, 1.5], _BF16)),
    jax_case("causal attention with f32 softmax, width 96", 1, _wide_softmax, *_qkv(width=96)),
    jax_case(
        "dot_product_attention with a local window",
        1,
        _local_window,
        *(normal((1, 64, 2, 64), seed=i) for i in range(3)),
    ),
    jax_case(
        "dot_product_attention with bias and mask",
        1,
        _bias_and_mask,
        *(normal((2, 64, 2, 64), seed=i) for i in range(3)),
        normal((1, 2, 64, 64), seed=3),
        (np.arange(64) < 48)[None, None, None, :],
    ),
    jax_case(
        "dot_product_attention with lengths and groups",
        1,
        _lengths,
        normal((2, 32, 4, 64)),
        normal((2, 64, 2, 64), seed=1),
        normal((2, 64, 2, 64), seed=2),
        _LENGTHS,
    ),
    jax_case(
        "attention, projection, residual",
        3,
        _qkv_attention,
        normal((1, 64, 128)),
        _weight((128, 384)),
        _weight((128, 128), seed=2),
    ),
    jax_case("Llama block", 8, _llama, normal((1, 32, 64)), *_LLAMA.values()),
    jax_case("vision transformer block", 6, _vit, normal((1, 32, 32, 3)), _VIT),
    jax_case(
        "mixer block",
        4,
        _mixer,
        normal((2, 32, 64)),
        _weight((32, 64)),
        _weight((64, 32), seed=2),
        _weight((64, 96), seed=3),
        _weight((96, 64), seed=4),
    ),
    jax_case(
        "mixture of experts by one_hot",
        4,
        _experts,
        normal((32, 64)),
        _weight((64, 8)),
        _weight((8, 64, 32), seed=2),
        _weight((8, 32, 64), seed=3),
    ),
    jax_case(
        "low-rank adapter", 3, _lora, _X, _W, _weight((64, 8), seed=2), _weight((8, 64), seed=3)
    ),
    jax_case(
        "tied embeddings and cross entropy",
        2,
        _tied_embedding_loss,
        rng().integers(0, 128, size=32).astype(np.int32),
        rng(1).integers(0, 128, size=32).astype(np.int32),
        normal((128, 64), scale=0.5),
        _W,
    ),
    jax_case(
        "cache of keys by dynamic_update_slice",
        1,
        _decode,
        *_qkv(queries=8, keys=8),
        normal((1, 2, 64, 64), seed=3),
        normal((1, 2, 64, 64), seed=4),
        np.int32(20),
    ),
    jax_case(
        "recurrent cell by scan",
        2,
        _rnn,
        normal((4, 16, 64)),
        np.zeros((16, 32), _BF16),
        _weight((64, 32)),
        _weight((32, 32), seed=2),
        normal((32,), seed=3),
    ),
    jax_case("product in a while_loop", 1, _powers, _X, _W, np.int32(3)),
    jax_case(
        "product in either branch of a cond", 2, _either, _WX, _WW, _WW[::-1], np.True_, exact=True
    ),
    jax_case("layers of a fori_loop", 1, _layers, _X, _weight((3, 64, 64))),
    jax_case(
        "vmap over the second axis of a product",
        1,
        jax.vmap(lambda x, w: jax.nn.relu(x @ w), in_axes=(1, None), out_axes=1),
        whole((32, 4, 64)),
        whole((64, 32), seed=1),
        exact=True,
    ),
    jax_case(
        "einsum to heads",
        1,
        lambda x, w, b: jnp.einsum("bld,dhk->blhk", x, w) + b,
        whole((2, 32, 64)),
        whole((64, 4, 16), seed=1),
        whole((4, 16), seed=2),
        exact=True,
    ),
    jax_case(
        "gradients of a network with a checkpoint",
        5,
        jax.grad(_loss),
        {
            "w1": _weight((64, 32)),
            "b1": normal((32,), seed=2),
            "w2": _weight((32, 16), seed=3),
        },
        normal((48, 64)),
        normal((48, 16), seed=4),
    ),
    jax_case(
        "named tuples of parameters, an unused argument",
        2,
        _structures,
        (Dense(_W, _V), Dense(_weight((64, 32), seed=5), normal((32,), seed=6))),
        _X,
        np.float32(3),
    ),
    jax_case(
        "1x1 convolution, batch norm, relu",
        1,
        _normalised_convolution,
        normal((2, 64, 8, 8)),
        normal((32, 64, 1, 1), seed=1, scale=0.125),
        normal((32,), seed=2, scale=0.1),
        _POSITIVE[:32],
        normal((32,), seed=3, scale=0.1),
    ),
    jax_case(
        "product of no rows",
        1,
        lambda x, w: jax.nn.relu(x @ w),
        np.zeros((0, 64), _BF16),
        _WW,
        exact=True,
    ),
    jax_case(
        "vector by matrix, matrix by vector, outer product",
        3,
        _vectors,
        whole((64,)),
        whole((64, 48), seed=1),
        whole((48,), seed=2),
        exact=True,
    ),
    jax_case("matrix by its transpose, used twice", 2, _gram, whole((32, 16)), exact=True),
]
