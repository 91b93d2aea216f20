"""What is checked of a call of attention: its problem, and which kernels compute it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ...errors import ProblemError
from ..generator.combine import ROWS
from ..generator.config import Config
from ..generator.problem import LOG2_E, RESULTS, Problem
from .descale import ONES, Factors, check_descale
from .operands import LAYOUTS, Given, Sizes, check_readable, sizes, window_of
from .packing import Packing
from .sharing import heads_of_tile
from .split import parts_of
from .tuned import Sought, tuned_config


@dataclass(frozen=True)
class Options:
    """What a call asks for, but for its arrays; as for `attention`."""

    causal: bool = False
    scale: float | None = None
    window: Any = None
    layout: str = "bshd"
    return_lse: bool = False
    max_seqlen_q: int | None = None
    config: Config | None = None
    factors: Factors = ONES


class Checked(NamedTuple):
    """A call whose arguments have been checked.

    Attributes:
        problem, config: the kernel.
        extents: of the kernel's arrays.
        packs: whether heads that share keys, of one query each, are queries of one.
        packing: where packed sequences begin; None if there are batches.
        parts: the parts of the keys of each head, whose results a second launch combines; 1 for all.
        numbers: the kernel's last arguments.
        sought: what `tune` seeks a configuration for.
        items: tiles of all heads.
        result, lse: the shapes of the arrays that the caller gets.
    """

    problem: Problem
    config: Config
    extents: Sizes
    packs: bool
    packing: Packing | None
    parts: int
    numbers: list[Any]
    sought: Sought
    items: int
    result: tuple[int, ...]
    lse: tuple[int, ...]

    @property
    def by_heads(self) -> tuple[int, ...]:
        """The shape of Q and of the result, as the kernel has them."""
        return (*self.lse_by_heads, self.extents.dim)

    @property
    def lse_by_heads(self) -> tuple[int, ...]:
        """The shape of the logarithms, as the kernel has them."""
        return self.extents.batches, self.extents.heads, self.extents.queries

    @property
    def of_parts(self) -> list[tuple[int, ...]]:
        """The shapes of the results of parts and of their logarithms, of f32, if there are parts."""
        if self.parts == 1:
            return []
        tiles = self.extents.heads // self.problem.heads
        shape = self.parts, self.extents.batches, tiles, ROWS
        return [(*shape, self.extents.dim), shape]


def checked(
    qkv: Sequence[Given],
    descales: Sequence[Given],
    packing: Packing | None,
    options: Options,
    gpu: str | None = None,
) -> Checked:
    """Return the kernels of a call.

    Args:
        qkv: q, k and v by heads.
        descales: arrays of the factors of some of these.
        packing: packed sequences.
        options: what else is asked for.
        gpu: the name of the GPU, for which a configuration may have been found by `tune`.

    Raises:
        ProblemError, ConfigError: as of `attention`.
    """
    asked = extents = sizes(*qkv)
    sequences, longest = extents.batches, extents.queries
    if packing is not None:
        sequences, longest = packing.sequences, packing.longest
    for descale in descales:
        check_descale(descale, asked, sequences)
    left, right = window_of(options.causal, options.window)
    if longest == 1:
        right = None  # The last query sees all keys that others may not.
    shares = extents.heads > extents.groups
    packs = packing is None and longest == 1 and shares and left is None
    if packs:
        longest = extents.heads // extents.groups
        extents = replace(extents, heads=extents.groups, queries=longest)
    heads = 1
    if packing is None and not packs:
        heads = heads_of_tile(longest, extents.heads // extents.groups)
        if options.config and heads % options.config.consumers:
            heads = 1
    problem = Problem(
        qkv[0].element,
        extents.dim,
        left is not None,
        right is not None,
        options.return_lse,
        packing is not None,
        heads=heads,
        descaled="".join(descale.name[0] for descale in descales),
    )
    if not problem.is_8_bit and (descales or options.factors != ONES):
        raise ProblemError(
            f"q, k and v have elements of {problem.element}; expected e4m3 where factors are given"
        )
    sought = Sought(gpu, problem, extents, sequences, longest * heads)
    config = options.config or tuned_config(sought) or sought.default
    config.check(problem)
    parts = parts_of(problem, extents, config)
    of_cluster = config.rows // heads * config.cluster
    tiles = -(-longest // of_cluster) * config.cluster
    # No query sees further than all keys.
    most = extents.queries + extents.keys
    limits = [min(limit, most) for limit in (left, right) if limit is not None]
    by_head = asked.batches, asked.heads, asked.queries, asked.dim
    result = tuple(by_head[dim] for dim in LAYOUTS[options.layout])
    return Checked(
        replace(problem, split=parts > 1),
        config,
        extents,
        packs,
        packing,
        parts,
        [*_numbers(options, problem), *limits],
        sought,
        tiles * sequences * extents.heads // heads,
        # Packed arrays have no batches.
        result[1:] if packing else result,
        by_head[1:3] if packing else by_head[:3],
    )


def check_result(out: Given, q: Given) -> None:
    """Check the array that a caller gives for the result; both are by heads.

    Raises:
        ProblemError: if it is not like q, or TMA cannot write it.
    """
    element = RESULTS[q.element]
    if (out.matrix.shape, out.element) != (q.matrix.shape, element):
        raise ProblemError(
            f"out has the shape {list(out.matrix.shape)} of {out.element} by heads; expected that of q, "
            f"{list(q.matrix.shape)}, of {element}"
        )
    check_readable(out)


def _numbers(options: Options, problem: Problem) -> list[Any]:
    """Return the factor of scores, for powers of two, and that of the result of e4m3."""
    scale, (of_q, of_k, of_v) = options.scale, options.factors
    factor = problem.dim**-0.5 if scale is None else scale
    if not isinstance(factor, Real) or not 0 < float(factor) < inf:
        raise ProblemError(f"scale is {scale!r}; expected a positive number")
    of_scores = np.float32(float(factor) * of_q * of_k * LOG2_E)
    return [of_scores, np.float32(of_v)] if problem.is_8_bit else [of_scores]
