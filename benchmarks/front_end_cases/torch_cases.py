"""Programs of PyTorch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils._pytree import tree_flatten, tree_map

from front_end_cases.case import Case, Wrong, compare_all, kernels_of, rng, whole
from mlir_smem import from_torch
from mlir_smem.bindings.diagnostics import remark_handler

_BF16 = torch.bfloat16


def _copy(structure: Any) -> Any:
    return tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, structure)


def _leaves(structure: Any) -> list[Any]:
    return tree_flatten(structure)[0]


def _array(value: Any) -> np.ndarray:
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    value = value.detach()
    return (value.float() if value.dtype == _BF16 else value).numpy()


def _compare(what: str, got: Any, expected: Any, exact: bool) -> None:
    structures = [str(tree_flatten(x)[1]) for x in (got, expected)]
    if structures[0] != structures[1]:
        raise Wrong(f"{what}s are {structures[0]}; expected {structures[1]}")
    got, expected = _leaves(got), _leaves(expected)
    for position, pair in enumerate(zip(got, expected, strict=False)):
        types = [
            (x.dtype, tuple(x.shape)) if isinstance(x, torch.Tensor) else type(x) for x in pair
        ]
        if types[0] != types[1]:
            raise Wrong(f"{what} {position} is {types[0]}; expected {types[1]}")
    compare_all(what, [_array(x) for x in got], [_array(x) for x in expected], exact)


def torch_case(
    name: str,
    contractions: int,
    function: Callable[..., Any],
    *arguments: Any,
    exact: bool = False,
    **options: Any,
) -> Case:
    """A module, or a function of tensors or of structures of them, compiled by `from_torch`.

    What the call leaves of the arguments, and of a module's state, is compared with what an eager
    call leaves of copies.
    """

    def run() -> tuple[int, list[str]]:
        is_module = isinstance(function, nn.Module)
        eager, own = (copy.deepcopy(function) if is_module else function), _copy(arguments)
        with torch.no_grad():
            expected = _copy(eager(*own))
        called_function = copy.deepcopy(function) if is_module else function
        called = _copy(arguments)
        remarks: list[str] = []
        with remark_handler(lambda _, message: remarks.append(message)):
            compiled = from_torch(
                called_function, *called, on="cpu", mixed=True, explain=True, **options
            )
        with torch.no_grad():
            got = compiled(*called)
        _compare("result", got, expected, exact)
        _compare("argument", called, own, exact)
        if is_module:
            _compare("state", called_function.state_dict(), eager.state_dict(), exact)
        return kernels_of(remarks), remarks

    return Case(name, contractions, run)


def _normal(*shape: int, dtype: Any = _BF16, seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    return torch.from_numpy(rng(seed).standard_normal(shape) * scale).to(dtype)


def _weight(*shape: int, dtype: Any = _BF16, seed: int = 1) -> torch.Tensor:
    return _normal(*shape, dtype=dtype, seed=seed, scale=shape[-2] ** -0.5)


def _whole(*shape: int, dtype: Any = _BF16, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(whole(shape, np.float32, seed)).to(dtype)


def _positive(*shape: int, dtype: Any = torch.float32, seed: int = 4) -> torch.Tensor:
    return (_normal(*shape, dtype=torch.float32, seed=seed).abs() + 0.5).to(dtype)


def _whole_numbers(high: int, *shape: int, dtype: Any = torch.int64, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(rng(seed).integers(0, high, size=shape)).to(dtype)


def _int8(*shape: int, seed: int = 0) -> torch.Tensor:
    return (_whole_numbers(19, *shape, seed=seed) - 9).to(torch.int8)


def _qkv(
    heads: int = 2,
    queries: int = 64,
    keys: int = 64,
    width: int = 64,
    kv_heads: int = 0,
    dtype: Any = _BF16,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    kv = (1, kv_heads or heads, keys, width)
    return (
        _normal(1, heads, queries, width, dtype=dtype),
        _normal(*kv, dtype=dtype, seed=1),
        _normal(*kv, dtype=dtype, seed=2),
    )


def _module(module: nn.Module, dtype: Any = _BF16) -> nn.Module:
    """The module, in evaluation, with parameters that are the same in each process."""
    with torch.no_grad():
        for seed, (name, parameter) in enumerate(module.named_parameters()):
            if parameter.dim() > 1:
                scale = math.prod(parameter.shape[1:]) ** -0.5
                parameter.copy_(
                    _normal(*parameter.shape, dtype=torch.float32, seed=seed, scale=scale)
                )
            elif "bias" in name:
                parameter.copy_(
                    _normal(*parameter.shape, dtype=torch.float32, seed=seed, scale=0.1)
                )
    return module.to(dtype).eval()


# Epilogues.


def _outer_scales(x: Any, w: Any, rows: Any, columns: Any) -> Any:
    return ((x @ w).float() * (rows[:, None] * columns[None, :])).to(x.dtype)


def _segments(x: Any, w: Any, rows: Any, columns: Any) -> Any:
    return torch.where(rows.unsqueeze(1) == columns.unsqueeze(0), x @ w, 0.0)


def _geglu(x: Any, both: Any) -> Any:
    hidden, gate = F.linear(x, both).chunk(2, dim=-1)
    return hidden * F.gelu(gate, approximate="tanh")


def _unsigned_weight(x: Any, w: Any, scale: Any) -> Any:
    return x @ ((w.to(x.dtype) - 8) * scale)


def _int8_scales(x: Any, w: Any, tokens: Any, channels: Any) -> Any:
    return (torch._int_mm(x, w).float() * tokens * channels).to(_BF16)


def _split(x: Any, w: Any) -> Any:
    return (x @ w).split([64, 32, 32], dim=-1)


def _heads(x: Any, w: Any) -> Any:
    batch, length, _ = x.shape
    return F.linear(x, w).view(batch, length, 4, 16).permute(0, 2, 1, 3)


def _accumulate(x: Any, w: Any, total: Any) -> None:
    total.add_(x @ w)


# Attentions.


def _scores(q: Any, k: Any) -> Any:
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def _attend(scores: Any, v: Any) -> Any:
    return torch.softmax(scores, dim=-1) @ v


def _attention(q: Any, k: Any, v: Any) -> Any:
    return _attend(_scores(q, k), v)


def _by_tril(q: Any, k: Any, v: Any) -> Any:
    mask = torch.tril(torch.ones(q.shape[2], k.shape[2], dtype=torch.bool))
    return _attend(_scores(q, k).masked_fill(~mask, float("-inf")), v)


def _by_triu(q: Any, k: Any, v: Any) -> Any:
    mask = torch.full((q.shape[2], k.shape[2]), float("-inf"), dtype=q.dtype).triu(1)
    return _attend(_scores(q, k) + mask, v)


def _by_arange(q: Any, k: Any, v: Any) -> Any:
    mask = torch.arange(k.shape[2])[None, :] > torch.arange(q.shape[2])[:, None]
    return _attend(_scores(q, k).masked_fill(mask, -1e9), v)


class _ByBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(64, 64)).view(1, 1, 64, 64))

    def forward(self, q: Any, k: Any, v: Any) -> Any:
        mask = self.mask[:, :, : q.shape[2], : k.shape[2]]
        return _attend(_scores(q, k).masked_fill(mask == 0, float("-inf")), v)


def _window(q: Any, k: Any, v: Any) -> Any:
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(k.shape[2])[None, :]
    mask = (distance >= 0) & (distance < 16)
    return _attend(torch.where(mask, _scores(q, k), float("-inf")), v)


def _two_sided(q: Any, k: Any, v: Any) -> Any:
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(k.shape[2])[None, :]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=distance.abs() <= 12)


def _left_padding(q: Any, k: Any, v: Any, first: Any) -> Any:
    mask = torch.arange(k.shape[2])[None, :] >= first[:, None]
    return _attend(_scores(q, k).masked_fill(~mask[:, None, None, :], float("-inf")), v)


def _key_padding(q: Any, k: Any, v: Any, valid: Any) -> Any:
    bias = (1.0 - valid[:, None, None, :].to(q.dtype)) * torch.finfo(q.dtype).min
    return _attend(_scores(q, k) + bias, v)


def _gqa_by_expand(q: Any, k: Any, v: Any) -> Any:
    batch, heads, length, width = k.shape
    groups = q.shape[1] // heads

    def wider(x: Any) -> Any:
        x = x[:, :, None].expand(batch, heads, groups, length, width)
        return x.reshape(batch, heads * groups, length, width)

    return _attention(q, wider(k), wider(v))


def _gqa_by_repeat(q: Any, k: Any, v: Any) -> Any:
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def _soft_cap(q: Any, k: Any, v: Any) -> Any:
    return _attend(torch.tanh(_scores(q, k) / 20.0) * 20.0, v)


def _alibi(q: Any, k: Any, v: Any, slopes: Any) -> Any:
    distance = torch.arange(k.shape[2])[None, :] - torch.arange(q.shape[2])[:, None]
    bias = (slopes[:, None, None] * distance).masked_fill(distance > 0, float("-inf"))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None].to(q.dtype))


def _relative(q: Any, k: Any, v: Any, table: Any) -> Any:
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(k.shape[2])[None, :]
    bias = table[(distance + 63).clamp(0, 126)].permute(2, 0, 1)
    return _attend(q @ k.transpose(-2, -1) + bias, v)


def _sink(q: Any, k: Any, v: Any, sinks: Any) -> Any:
    column = sinks.view(1, -1, 1, 1).expand(q.shape[0], -1, q.shape[2], 1)
    scores = torch.cat([_scores(q, k), column], dim=-1)
    return torch.softmax(scores, dim=-1)[..., :-1] @ v


def _wide_softmax(q: Any, k: Any, v: Any) -> Any:
    scores = (_scores(q, k) + torch.full((64, 64), float("-inf")).triu(1)).float()
    return torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype) @ v


class _SelfAttention(nn.Module):
    def __init__(self, width: int = 64, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(parts[0], parts[1], parts[2])
        return x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))


# Blocks.


class _RmsNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Any) -> Any:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


def _rotate_half(x: Any) -> Any:
    low, high = x.chunk(2, dim=-1)
    return torch.cat([-high, low], dim=-1)


class _Llama(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = _RmsNorm(64), _RmsNorm(64)
        self.q = nn.Linear(64, 64, bias=False)
        self.k = nn.Linear(64, 32, bias=False)
        self.v = nn.Linear(64, 32, bias=False)
        self.o = nn.Linear(64, 64, bias=False)
        self.gate = nn.Linear(64, 128, bias=False)
        self.up = nn.Linear(64, 128, bias=False)
        self.down = nn.Linear(128, 64, bias=False)

    def forward(self, x: Any) -> Any:
        batch, length, _ = x.shape
        steps = 10000.0 ** (-torch.arange(8, dtype=torch.float32) / 8)
        angles = torch.arange(length, dtype=torch.float32)[:, None] * steps
        angles = torch.cat([angles, angles], dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        y = self.norm1(x)
        q, k, v = (
            f(y).view(batch, length, -1, 16).transpose(1, 2) for f in (self.q, self.k, self.v)
        )
        q, k = q * cos + _rotate_half(q) * sin, k * cos + _rotate_half(k) * sin
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(mixed.transpose(1, 2).reshape(batch, length, -1))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class _Vision(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 64, 8, stride=8)
        self.position = nn.Parameter(torch.zeros(1, 16, 64))
        self.norm1, self.norm2 = nn.LayerNorm(64), nn.LayerNorm(64)
        self.attention = _SelfAttention()
        self.mlp = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))

    def forward(self, image: Any) -> Any:
        x = self.patch(image).flatten(2).transpose(1, 2) + self.position
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class _T5(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = _RmsNorm(64)
        self.wi0 = nn.Linear(64, 128, bias=False)
        self.wi1 = nn.Linear(64, 128, bias=False)
        self.wo = nn.Linear(128, 64, bias=False)

    def forward(self, x: Any) -> Any:
        y = self.norm(x)
        y = F.gelu(self.wi0(y), approximate="tanh") * self.wi1(y)
        return x + self.wo(y)


class _Lora(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(64, 64)
        self.a = nn.Linear(64, 8, bias=False)
        self.b = nn.Linear(8, 64, bias=False)

    def forward(self, x: Any) -> Any:
        return self.base(x) + self.b(self.a(x)) * 2.0


class _Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(128, 64)
        self.body = nn.Linear(64, 64)
        self.head = nn.Linear(64, 128, bias=False)
        self.head.weight = self.table.weight

    def forward(self, tokens: Any, targets: Any) -> Any:
        logits = self.head(F.relu(self.body(self.table(tokens)))).float()
        losses = F.log_softmax(logits, dim=-1)
        return -losses.gather(-1, targets[:, None]).mean()


class _Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(64, 32)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return torch.sigmoid(self.linear(x))


def _mixer(x: Any, tokens1: Any, tokens2: Any, channels1: Any, channels2: Any) -> Any:
    x = x + (F.gelu(x.mT @ tokens1) @ tokens2).mT
    return x + F.gelu(x @ channels1) @ channels2


def _experts(x: Any, router: Any, up: Any, down: Any) -> Any:
    probabilities = torch.softmax((x @ router).float(), dim=-1)
    best, which = torch.topk(probabilities, 2, dim=-1)
    best = best / best.sum(-1, keepdim=True)
    gates = (F.one_hot(which, up.shape[0]) * best[..., None]).sum(1).to(x.dtype)
    hidden = F.silu(torch.einsum("td,edf->etf", x, up))
    return torch.einsum("etd,te->td", torch.einsum("etf,efd->etd", hidden, down), gates)


def _decode(q: Any, k: Any, v: Any, keys: Any, values: Any, positions: Any) -> Any:
    keys[:, :, positions] = k
    values[:, :, positions] = v
    mask = torch.arange(keys.shape[2])[None, :] <= positions[:, None]
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)


def _copied_cache(q: Any, k: Any, v: Any, keys: Any, values: Any, position: Any) -> Any:
    keys = torch.index_copy(keys, 2, position, k)
    values = torch.index_copy(values, 2, position, v)
    return F.scaled_dot_product_attention(q, keys, values), keys, values


def _recurrent(inputs: Any, state: Any, w: Any, u: Any) -> Any:
    states = []
    for x in inputs.unbind(0):
        state = torch.tanh(x @ w + state @ u)
        states.append(state)
    return torch.stack(states), state


class Parameters(NamedTuple):
    """The parameters of a layer."""

    weight: Any
    bias: Any


def _structures(params: dict[str, Parameters], x: Any, unused: Any) -> dict[str, Any]:
    hidden = F.relu(x @ params["first"].weight + params["first"].bias)
    out = torch.addmm(params["second"].bias, hidden, params["second"].weight)
    return {"hidden": [hidden], "out": (out, x)}


class _Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(64, 32, 1, bias=False)
        self.norm = nn.BatchNorm2d(32)
        self.norm.running_mean.copy_(_normal(32, scale=0.1))
        self.norm.running_var.copy_(_positive(32))
        self.second = nn.Conv2d(32, 64, 1)
        self.groups = nn.GroupNorm(4, 64)

    def forward(self, x: Any) -> Any:
        return x + F.silu(self.groups(self.second(F.relu(self.norm(self.first(x))))))


def _rank_products(x: Any, w: Any) -> Any:
    scores = x @ w
    ordered, places = torch.sort(scores, dim=-1, stable=True)
    without_ties = scores.float() + torch.arange(16) / 32
    return ordered, places, scores.cumsum(-1), without_ties.argmax(-1)


def _vectors(x: Any, w: Any, y: Any) -> Any:
    return x @ w, w @ y, torch.outer(x, y)


def _gram(x: Any) -> Any:
    gram = x @ x.T
    return gram, gram @ x


def _gradient(x: Any, y: Any, w: Any, u: Any) -> Any:
    def loss(w: Any, u: Any) -> Any:
        return F.mse_loss((F.relu(x @ w) @ u).float(), y.float())

    return torch.func.grad(loss, argnums=(0, 1))(w, u)


_X = _normal(64, 64)
_W = _weight(64, 64)
_V = _normal(64, seed=2)
_R = _normal(64, 64, seed=3)
_WX = _whole(64, 64)
_WW = _whole(64, 64, seed=1)

CASES: list[Case] = [
    torch_case(
        "scale by a 0-d tensor",
        1,
        lambda x, w, s: (x @ w) * s,
        _X,
        _W,
        torch.tensor(0.5, dtype=_BF16),
    ),
    torch_case(
        "scale by a tensor of one and clamp",
        1,
        lambda x, w, s: ((x @ w) * s).clamp(-1, 1),
        _X,
        _W,
        torch.tensor([0.75], dtype=_BF16),
    ),
    torch_case(
        "outer product of scales before the product",
        1,
        _outer_scales,
        _X,
        _W,
        _positive(64),
        _positive(64, seed=5),
    ),
    torch_case(
        "bias, gelu, residual",
        1,
        lambda x, w, b, r: r + F.gelu(F.linear(x, w, b)),
        _X,
        _W,
        _V,
        _R,
    ),
    torch_case(
        "where segments of rows and columns are equal",
        1,
        _segments,
        _WX,
        _WW,
        torch.arange(64) // 16,
        torch.arange(64) // 24,
        exact=True,
    ),
    torch_case("geglu of one weight, chunked", 1, _geglu, _X, _weight(128, 64)),
    torch_case(
        "squared relu of a linear layer",
        1,
        lambda x, w, b: F.relu(F.linear(x, w, b)).square(),
        _X,
        _W,
        _V,
    ),
    torch_case(
        "baddbmm with factors",
        1,
        lambda c, a, b: torch.baddbmm(c, a, b, beta=2, alpha=0.5),
        _whole(4, 32, 32),
        _whole(4, 32, 16, seed=1),
        _whole(4, 16, 32, seed=2),
        exact=True,
    ),
    torch_case(
        "addmm of a vector",
        1,
        torch.addmm,
        _V,
        _X,
        _W,
    ),
    torch_case(
        "column vector of each batch",
        1,
        lambda a, b, s: torch.bmm(a, b) * s[:, :, None],
        _normal(3, 40, 64),
        _weight(3, 64, 24),
        _normal(3, 40, seed=2),
    ),
    torch_case(
        "masked_fill by a bool argument",
        1,
        lambda x, w, mask: (x @ w).masked_fill(mask, -1.0),
        _WX,
        _WW,
        _whole_numbers(2, 64, 64, dtype=torch.bool),
        exact=True,
    ),
    torch_case("bool result", 1, lambda x, w: (x @ w) >= 1, _WX, _WW, exact=True),
    torch_case(
        "uint8 weight less its zero point",
        1,
        _unsigned_weight,
        _X,
        _whole_numbers(16, 64, 48, dtype=torch.uint8),
        _normal(48, seed=1, scale=0.1),
    ),
    torch_case("permuted result", 1, lambda x, w: F.silu(x @ w).permute(1, 0), _X, _W),
    torch_case(
        "int8 with scales of tokens and channels",
        1,
        _int8_scales,
        _int8(64, 64),
        _int8(64, 64, seed=1),
        _positive(64, 1),
        _positive(1, 64, seed=5),
    ),
    torch_case(
        "int8 to int32",
        1,
        torch._int_mm,
        _int8(32, 64),
        _int8(64, 48, seed=1),
        exact=True,
    ),
    torch_case(
        "queries, keys and values of one product",
        1,
        _split,
        _WX,
        _whole(64, 128, seed=1),
        exact=True,
    ),
    torch_case(
        "concatenated products",
        2,
        lambda x, w, u: torch.cat([x @ w, x @ u], dim=0),
        _WX,
        _WW,
        _whole(64, 64, seed=2),
        exact=True,
    ),
    torch_case("result of heads", 1, _heads, _whole(2, 32, 64), _whole(64, 64, seed=1), exact=True),
    torch_case(
        "hardtanh of f16",
        1,
        lambda x, w: F.hardtanh(x @ w),
        _normal(48, 64, dtype=torch.float16),
        _weight(64, 80, dtype=torch.float16),
    ),
    torch_case(
        "f32 linear layer as tf32, softplus",
        1,
        lambda x, w, b: F.softplus(F.linear(x, w, b)),
        _normal(64, 32, dtype=torch.float32),
        _weight(64, 32, dtype=torch.float32),
        _normal(64, dtype=torch.float32, seed=2),
        f32="tf32",
    ),
    torch_case(
        "product added to an argument in place",
        1,
        _accumulate,
        _WX,
        _WW,
        _whole(64, 64, seed=2),
        exact=True,
    ),
    torch_case("plain attention", 1, _attention, *_qkv()),
    torch_case("causal attention by tril", 1, _by_tril, *_qkv(width=80)),
    torch_case("causal attention by triu of -inf", 1, _by_triu, *_qkv()),
    torch_case("causal attention by arange", 1, _by_arange, *_qkv(width=128)),
    torch_case("causal attention by a buffer", 1, _ByBuffer(), *_qkv()),
    torch_case("attention in a window before", 1, _window, *_qkv(queries=96, keys=96)),
    torch_case("attention in a window of both sides", 1, _two_sided, *_qkv()),
    torch_case("attention with left padding", 1, _left_padding, *_qkv(keys=96), torch.tensor([24])),
    torch_case(
        "attention with a mask of keys",
        1,
        _key_padding,
        *_qkv(),
        (torch.arange(64) < 50)[None, :].long(),
    ),
    torch_case("grouped attention by expand", 1, _gqa_by_expand, *_qkv(heads=4, kv_heads=2)),
    torch_case(
        "grouped causal attention by repeat_interleave",
        1,
        _gqa_by_repeat,
        *_qkv(heads=4, kv_heads=1),
    ),
    torch_case("attention with a soft cap", 1, _soft_cap, *_qkv()),
    torch_case("attention with linear biases", 1, _alibi, *_qkv(), torch.tensor([0.5, 0.25])),
    torch_case(
        "attention with relative biases of a table",
        1,
        _relative,
        _normal(1, 2, 64, 64, scale=0.2),
        *_qkv()[1:],
        _normal(127, 2, seed=3),
    ),
    torch_case("attention with sinks", 1, _sink, *_qkv(), torch.tensor([0.5, 1.5], dtype=_BF16)),
    torch_case("causal attention with f32 softmax, width 96", 1, _wide_softmax, *_qkv(width=96)),
    torch_case(
        "scaled_dot_product_attention of a dynamic length",
        1,
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        *_qkv(),
        dynamic_shapes=tuple({2: torch.export.Dim("length", min=2, max=4096)} for _ in range(3)),
    ),
    torch_case(
        "scaled_dot_product_attention with a bool mask",
        1,
        lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        *_qkv(),
        torch.tril(torch.ones(64, 64, dtype=torch.bool)),
    ),
    torch_case(
        "scaled_dot_product_attention with a bias and a scale",
        1,
        lambda q, k, v, b: F.scaled_dot_product_attention(q, k, v, attn_mask=b, scale=0.2),
        *_qkv(queries=32, keys=100),
        _normal(1, 2, 32, 100, seed=3),
    ),
    torch_case(
        "scaled_dot_product_attention of groups",
        1,
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        *_qkv(heads=4, kv_heads=2, dtype=torch.float16),
    ),
    torch_case("attention, projection, residual", 3, _module(_SelfAttention()), _normal(2, 48, 64)),
    torch_case(
        "attention of a dynamic batch and length",
        3,
        _module(_SelfAttention()),
        _normal(2, 32, 64),
        dynamic_shapes=({0: torch.export.Dim("batch"), 1: torch.export.Dim("length")},),
    ),
    torch_case(
        "nn.MultiheadAttention",
        3,
        _module(nn.MultiheadAttention(64, 2, batch_first=True)),
        *(_normal(2, 32, 64) for _ in range(3)),
    ),
    torch_case("Llama block", 8, _module(_Llama()), _normal(1, 32, 64)),
    torch_case("vision transformer block", 6, _module(_Vision()), _normal(1, 3, 32, 32)),
    torch_case("T5 feed-forward", 3, _module(_T5()), _normal(2, 24, 64)),
    torch_case(
        "mixer block",
        4,
        _mixer,
        _normal(2, 32, 64),
        _weight(32, 64),
        _weight(64, 32, seed=2),
        _weight(64, 96, seed=3),
        _weight(96, 64, seed=4),
    ),
    torch_case(
        "mixture of experts by one_hot",
        4,
        _experts,
        _normal(32, 64),
        _weight(64, 8),
        _weight(8, 64, 32, seed=2),
        _weight(8, 32, 64, seed=3),
    ),
    torch_case("low-rank adapter", 3, _module(_Lora()), _normal(48, 64)),
    torch_case(
        "tied embeddings and cross entropy",
        2,
        _module(_Tied()),
        _whole_numbers(128, 32),
        _whole_numbers(128, 32, seed=1),
    ),
    torch_case("linear layer that counts its calls", 1, _module(_Counter()), _normal(16, 64)),
    torch_case(
        "cache of keys by indices in place",
        1,
        _decode,
        *_qkv(queries=8, keys=8),
        _normal(1, 2, 64, 64, seed=3),
        _normal(1, 2, 64, 64, seed=4),
        torch.arange(20, 28),
    ),
    torch_case(
        "cache of keys by index_copy",
        1,
        _copied_cache,
        *_qkv(queries=1, keys=1),
        _normal(1, 2, 64, 64, seed=3),
        _normal(1, 2, 64, 64, seed=4),
        torch.tensor([20]),
    ),
    torch_case(
        "recurrent cell in a Python loop",
        6,
        _recurrent,
        _normal(3, 16, 64),
        torch.zeros(16, 32, dtype=_BF16),
        _weight(64, 32),
        _weight(32, 32, seed=2),
    ),
    torch_case(
        "structures of parameters, an unused argument",
        2,
        _structures,
        {
            "first": Parameters(_W, _V),
            "second": Parameters(_weight(64, 32, seed=5), _normal(32, seed=6)),
        },
        _X,
        torch.tensor(3.0),
    ),
    torch_case(
        "1x1 convolutions, batch norm, group norm",
        2,
        _module(_Convolutions()),
        _normal(2, 64, 8, 8),
    ),
    torch_case(
        "einsum of heads to a model's width",
        1,
        lambda x, w: torch.einsum("blhk,hkd->bld", x, w),
        _whole(2, 32, 4, 16),
        _whole(4, 16, 64, seed=1),
        exact=True,
    ),
    torch_case(
        "sort, cumsum and argmax of a product",
        1,
        _rank_products,
        _WX,
        _whole(64, 16, seed=1),
        exact=True,
    ),
    torch_case("linear layer of no rows", 1, F.linear, _whole(0, 64), _WW, exact=True),
    torch_case(
        "matrix by a batch of matrices, batch by a matrix",
        2,
        lambda a, b: (b @ a, a @ b),
        _whole(3, 32, 32),
        _whole(32, 32, seed=1),
        exact=True,
    ),
    torch_case(
        "vector by matrix, matrix by vector, outer product",
        3,
        _vectors,
        _whole(64),
        _whole(64, 48, seed=1),
        _whole(48, seed=2),
        exact=True,
    ),
    torch_case("matrix by its transpose, used twice", 2, _gram, _whole(32, 16), exact=True),
    torch_case(
        "gradients of a network",
        5,
        _gradient,
        _normal(48, 64),
        _normal(48, 16, seed=4),
        _weight(64, 32),
        _weight(32, 16, seed=2),
    ),
]
