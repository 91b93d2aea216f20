"""Problems of `benchmarks/attention.py`, their operands, and the errors of results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import NamedTuple

import torch

#: Products of batches and lengths, and of heads and dimensions, in the grid.
_ROWS, _COLUMNS = 16384, 2048

#: Heads, of all batches, that are compared with float64, and queries of each.
_HEADS, _QUERIES = 32, 64

#: Outliers are as frequent and as large as FlashAttention-3's paper has them.
_OUTLIERS, _LARGE = 0.001, 10.0

_TYPES = {"bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn}


class Operands(NamedTuple):
    """Queries, keys and values (batch, sequence, heads, dim)."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


class Reference(NamedTuple):
    """Results in float64.

    Attributes:
        exact: of each sampled head and query (heads, queries, dim).
        heads: the batch and the number of each sampled head.
        rows: the indices of the sampled queries.
    """

    exact: torch.Tensor
    heads: list[tuple[int, int]]
    rows: torch.Tensor


class Errors(NamedTuple):
    """The mean and the largest absolute error against float64."""

    mean: float
    most: float


@dataclass(frozen=True)
class Case:
    """Attention of one shape.

    Attributes:
        batch, heads, groups, queries, keys, dim: the extents; keys and values have `groups` heads.
        causal: whether a query sees the keys up to its own index; the last query is at the last key.
        element: bf16 or e4m3.
    """

    batch: int
    heads: int
    groups: int
    queries: int
    keys: int
    dim: int
    causal: bool = False
    element: str = "bf16"

    @property
    def kind(self) -> str:
        """The title of a table."""
        return f"{self.element} {'causal' if self.causal else 'full'}"

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, in the order of the attributes."""
        return self.batch, self.heads, self.groups, self.queries, self.keys, self.dim

    @property
    def operations(self) -> int:
        """Multiplications and additions of both products; half of them if causal, as peers count."""
        operations = 4 * self.batch * self.heads * self.queries * self.keys * self.dim
        return operations // 2 if self.causal else operations

    def operands(self, outliers: bool = False) -> Operands:
        """Return random operands, normally distributed; some are larger if there are outliers."""

        def tensor(length: int, heads: int) -> torch.Tensor:
            x = torch.randn(self.batch, length, heads, self.dim, device="cuda")
            if outliers:
                x += _LARGE * torch.randn_like(x) * (torch.rand_like(x) < _OUTLIERS)
            return x.to(_TYPES[self.element])

        keys = (self.keys, self.groups)
        return Operands(tensor(self.queries, self.heads), tensor(*keys), tensor(*keys))

    def reference(self, operands: Operands) -> Reference:
        """Return the results of sampled heads and queries."""
        all_heads = list(product(range(self.batch), range(self.heads)))
        heads = Random(0).sample(all_heads, min(_HEADS, len(all_heads)))
        rows = torch.randperm(self.queries, device="cuda")[:_QUERIES]
        q, k, v = (operand.transpose(1, 2) for operand in operands)
        masked = torch.arange(self.keys, device="cuda") > rows[:, None] + self.keys - self.queries
        exact = []
        for batch, head in heads:
            group = head * self.groups // self.heads
            s = q[batch, head, rows].double() @ k[batch, group].double().t() * self.dim**-0.5
            if self.causal:
                s = s.masked_fill(masked, float("-inf"))
            exact.append(torch.softmax(s, -1) @ v[batch, group].double())
        return Reference(torch.stack(exact), heads, rows)


def errors(result: torch.Tensor, reference: Reference) -> Errors:
    """Return the errors of a result (batch, sequence, heads, dim)."""
    sampled = [result[batch, reference.rows, head] for batch, head in reference.heads]
    difference = (torch.stack(sampled).double() - reference.exact).abs()
    return Errors(float(difference.mean()), float(difference.max()))


def cases(name: str) -> Iterator[Case]:
    """Yield the problems of a set."""
    if name == "grid":
        for dim, seq, causal in product((64, 128, 256), (2048, 4096, 8192, 16384), (False, True)):
            heads = _COLUMNS // dim
            yield Case(_ROWS // seq, heads, heads, seq, seq, dim, causal)
    elif name == "grouped":
        for seq, causal in product((2048, 4096, 8192, 16384), (False, True)):
            yield Case(2, 64, 8, seq, seq, 128, causal)
    elif name == "short":
        for causal in (False, True):
            yield Case(_ROWS // 512, 16, 16, 512, 512, 128, causal)
    elif name == "decode":
        yield Case(16, 64, 8, 1, 8192, 128)
    elif name == "few":
        for batch, keys in ((1, 8192), (1, 65536), (4, 16384)):
            yield Case(batch, 64, 8, 1, keys, 128)
    elif name == "speculative":
        for batch, queries in ((16, 4), (16, 8), (4, 16), (1, 4)):
            yield Case(batch, 64, 8, queries, 8192, 128, True)
    elif name == "e4m3":
        for seq, causal in product((4096, 16384), (False, True)):
            yield Case(_ROWS // seq, 16, 16, seq, seq, 128, causal, "e4m3")


SETS = ("grid", "grouped", "short", "decode", "few", "speculative", "e4m3")
