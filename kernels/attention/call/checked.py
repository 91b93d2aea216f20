"""Checks of a call of attention: its problem, and the kernels that compute it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ....layout.wgmma import INSTRUCTION_M
from ...errors import ProblemError
from ..generator.combine import ROWS
from ..generator.config import QUERY_MULTIPLE, Config
from ..generator.problem import LOG2_E, RESULTS, Problem
from .descale import ONES, Factors, check_descale
from .operands import (
    LAYOUTS,
    AttentionExtents,
    NamedMatrix,
    check_extents,
    check_readable,
    window_of,
)
from .packing import Packing
from .split import parts_of
from .tuned import AttentionTask, tuned_config


@dataclass(frozen=True)
class AttentionOptions:
    """The options of a call, without its arrays; as for `attention`."""

    causal: bool = False
    scale: float | None = None
    window: Any = None
    layout: str = "bshd"
    return_lse: bool = False
    max_seqlen_q: int | None = None
    config: Config | None = None
    factors: Factors = ONES


class CheckedCall(NamedTuple):
    """A call whose arguments have been checked.

    Attributes:
        problem, config: the kernel.
        extents: the extents of the kernel's arrays.
        packs: whether heads that share keys, of one query each, become queries of one head.
        packing: the packed sequences; None for batches.
        parts: the parts of the keys of each head, whose results a second launch combines; 1 without.
        numbers: the kernel's last arguments.
        task: the input of a search for the configuration.
        items: the tiles of all heads.
        result, lse: the shapes of the arrays that the caller gets.
    """

    problem: Problem
    config: Config
    extents: AttentionExtents
    packs: bool
    packing: Packing | None
    parts: int
    numbers: list[Any]
    task: AttentionTask
    items: int
    result: tuple[int, ...]
    lse: tuple[int, ...]

    @property
    def by_heads(self) -> tuple[int, ...]:
        """The shape of Q and of the result in the kernel."""
        return (*self.lse_by_heads, self.extents.dim)

    @property
    def lse_by_heads(self) -> tuple[int, ...]:
        """The shape of the logarithms in the kernel."""
        return self.extents.batches, self.extents.heads, self.extents.queries

    @property
    def part_shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the parts' results and of their logarithms, of f32; empty without parts."""
        if self.parts == 1:
            return []
        tiles = self.extents.heads // self.problem.heads
        shape = self.parts, self.extents.batches, tiles, ROWS
        return [(*shape, self.extents.dim), shape]


def check_call(
    qkv: Sequence[NamedMatrix],
    descales: Sequence[NamedMatrix],
    packing: Packing | None,
    options: AttentionOptions,
    gpu: str | None = None,
) -> CheckedCall:
    """Check a call, and return its kernels.

    Args:
        qkv: q, k and v by heads.
        descales: arrays of the factors of some of these.
        packing: packed sequences.
        options: the options of the call.
        gpu: the name of the GPU, for configurations of `tune`; None for the emulator.

    Raises:
        ProblemError, ConfigError: as of `attention`.
    """
    array_extents = extents = check_extents(*qkv)
    sequences, longest = extents.batches, extents.queries
    if packing is not None:
        sequences, longest = packing.sequences, packing.longest
    for descale in descales:
        check_descale(descale, array_extents, sequences)
    left, right = window_of(options.causal, options.window)
    if longest == 1:
        right = None  # The last query sees all keys: there are none behind it.
    shares_keys = extents.heads > extents.groups
    packs = packing is None and longest == 1 and shares_keys and left is None
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
    task = AttentionTask(gpu, problem, extents, sequences, longest * heads)
    config = options.config or tuned_config(task) or task.default
    config.check(problem)
    parts = parts_of(problem, extents, config)
    cluster_queries = config.rows // heads * config.cluster
    tiles = -(-longest // cluster_queries) * config.cluster
    # No query sees further than all keys.
    most = extents.queries + extents.keys
    limits = [min(limit, most) for limit in (left, right) if limit is not None]
    by_heads = (
        array_extents.batches,
        array_extents.heads,
        array_extents.queries,
        array_extents.dim,
    )
    result = tuple(by_heads[dim] for dim in LAYOUTS[options.layout])
    return CheckedCall(
        replace(problem, split=parts > 1),
        config,
        extents,
        packs,
        packing,
        parts,
        [*_scalar_arguments(options, problem), *limits],
        task,
        tiles * sequences * extents.heads // heads,
        # Packed arrays have no batches.
        result[1:] if packing else result,
        by_heads[1:3] if packing else by_heads[:3],
    )


def heads_of_tile(queries: int, sharing: int) -> int:
    """Return the number of heads whose queries share a tile, a power of two; 1 if one head fills it.

    Args:
        queries: the queries of a head.
        sharing: the heads that share keys.

    Example:
        >>> heads_of_tile(4, 8), heads_of_tile(20, 8), heads_of_tile(4, 6), heads_of_tile(64, 8)
        (8, 2, 2, 1)
    """
    heads = 1
    least = max(queries, QUERY_MULTIPLE)
    while sharing % (2 * heads) == 0 and INSTRUCTION_M // (2 * heads) >= least:
        heads *= 2
    return heads


def check_result(out: NamedMatrix, q: NamedMatrix) -> None:
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


def _scalar_arguments(options: AttentionOptions, problem: Problem) -> list[Any]:
    """Return the factor of scores, for powers of two, and that of the result of e4m3."""
    scale, (q_factor, k_factor, v_factor) = options.scale, options.factors
    factor = problem.dim**-0.5 if scale is None else scale
    if not isinstance(factor, Real) or not 0 < float(factor) < inf:
        raise ProblemError(f"scale is {scale!r}; expected a positive number")
    score_factor = np.float32(float(factor) * q_factor * k_factor * LOG2_E)
    return [score_factor, np.float32(v_factor)] if problem.is_8_bit else [score_factor]
