"""Attention of linalg as a problem of the attention kernel."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from ...bindings.irtypes import Op, Value
from ...kernels.attention import Config, Problem, ProblemError, default_config
from ...kernels.attention.generator.config import MULTIPROCESSORS
from ...kernels.attention.generator.problem import LOG2_E
from ...layout.elements import UNIT_BYTES
from .attention import Attention, attentions_of
from .expressions import Element
from .memory import check_array
from .roles import Dim, Roles, roles_of
from .unfit import Unfit

#: Bytes of an element.
_ITEM_BYTES = 2


@dataclass(frozen=True)
class Array:
    """A contiguous tensor as the kernel takes it.

    Attributes:
        name: what it is called.
        value: the tensor.
        sizes, strides: by dimension of the kernel's parameter, in elements.
    """

    name: str
    value: Value
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class AttentionPlan:
    """A kernel for attention, and what it is launched on.

    Attributes:
        op: the op whose result it computes.
        products: the ops that it replaces and that would be kernels of their own.
        hidden: the ops that it replaces but for `op`.
        problem: what it computes.
        config: its configuration.
        operands: Q, K and V, in its order.
        result: O.
        scale: the factor of scores, for powers of two.
        sight: the numbers of keys that a query sees before and behind its place, where they are limited.
    """

    op: Op
    products: tuple[Op, ...]
    hidden: frozenset[Op]
    problem: Problem
    config: Config
    operands: tuple[Array, Array, Array]
    result: Array
    scale: float
    sight: tuple[int, ...]

    @property
    def grid(self) -> int:
        """The CTAs: one for each tile of queries, or the multiprocessors, which take tiles in turn."""
        batches, heads, queries, _ = self.result.sizes
        return min(-(-queries // self.config.rows) * batches * heads, MULTIPROCESSORS)

    @property
    def described(self) -> str:
        """What it computes, and its configuration."""
        problem, config = self.problem, self.config
        of_limits = [
            name
            for name, limited in (("before", problem.left), ("behind", problem.right))
            if limited
        ]
        limits = [
            f"{number} keys {name}" for name, number in zip(of_limits, self.sight, strict=True)
        ]
        shape = "x".join(map(str, self.result.sizes))
        tile = f"{config.rows} queries by {config.keys} keys in {config.stages} stages"
        return ", ".join([f"attention of {problem.element}, {shape}", *limits, tile])


def attention_plan(op: Op, hidden: Collection[Op], narrow: bool) -> AttentionPlan | None:
    """Return the plan for the attention that an op is the last product of; None if it is none.

    Args:
        op: the op.
        hidden: ops whose results will be in no memory.
        narrow: whether weights may be rounded to 16 bits before they are divided by their sum, and scores
            stay as exact as they were summed.

    Raises:
        Unfit: if it is one that the kernel does not compute.
    """
    found = attentions_of(op, hidden)
    if found and not narrow:
        raise Unfit(
            f"has weights that the kernel rounds to {found[0].q.value.type.element_type} before they are "
            "divided by their sum; narrow-sums=f32 allows it"
        )
    unfit: list[Unfit] = []
    for each in found:
        try:
            return _planned(each, op)
        except Unfit as reason:
            unfit.append(reason)
    if unfit:
        raise unfit[0]
    return None


def _planned(attention: Attention, product: Op) -> AttentionPlan:
    elements = {"q": attention.q, "k": attention.k, "v": attention.v, "o": attention.o}
    types = {name: str(each.value.type.element_type) for name, each in elements.items()}
    if len(set(types.values())) > 1:
        shown = ", ".join(f"{name} of {type_}" for name, type_ in types.items())
        raise Unfit(f"has {shown}; the kernel has one type")
    for each in elements.values():
        check_array(each.value.type)
    roles = roles_of(elements, attention.sight.row)
    queries, keys = (each.extent if each else 1 for each in (roles.row, roles.key))
    sight = _sight(attention, queries, keys)
    if roles.summed.extent != roles.column.extent:
        raise Unfit(
            f"has a head dimension of {roles.summed.extent}, and values of {roles.column.extent}; the "
            "kernel has one"
        )
    try:
        left, right = (each is not None for each in sight)
        problem = Problem(types["q"], roles.summed.extent, left, right)
    except ProblemError as error:
        raise Unfit(f"does not fit the attention kernel: {error}") from None
    head = roles.head, roles.sharing
    q = _array("q", attention.q, (roles.batch,), head, (roles.row,), (roles.summed,))
    k = _array("k", attention.k, (roles.batch,), (roles.head,), (roles.summed,), (roles.key,))
    v = _array("v", attention.v, (roles.batch,), (roles.head,), (roles.key,), (roles.column,))
    o = _array("o", attention.o, (roles.batch,), head, (roles.row,), (roles.column,))
    _check_contiguous(roles)
    limits = tuple(min(each, queries + keys) for each in sight if each is not None)
    return AttentionPlan(
        attention.op,
        (attention.first, product),
        attention.between,
        problem,
        default_config(problem, queries, keys),
        (q, k, v),
        o,
        attention.scale * LOG2_E,
        limits,
    )


def _sight(attention: Attention, queries: int, keys: int) -> tuple[int | None, int | None]:
    """Return how many keys a query sees before and behind its place; the last query's is the last key's.

    Raises:
        Unfit: if the kernel has no such window.
    """
    sight, shift = attention.sight, keys - queries
    left = None if sight.left is None else sight.left + shift
    right = None if sight.right is None else sight.right - shift
    for name, each in (("before", left), ("behind", right)):
        if each is not None and each < 0:
            raise Unfit(
                f"has queries that see {each} keys {name} their places, of which the last is that of the "
                "last key; the kernel takes 0 or more"
            )
    if right is not None and shift + right < 0 and not attention.is_zero_unseen:
        raise Unfit("has queries that see no key, whose result is not 0")
    return left, right


def _array(name: str, element: Element, *dims: tuple[Dim | None, ...]) -> Array:
    """Return a tensor with these dimensions, each of which some count together."""
    sizes: list[int] = []
    strides: list[int] = []
    for each in dims:
        counted = [dim for dim in each if dim is not None]
        sizes.append(math.prod(dim.extent for dim in counted))
        strides.append(counted[-1].strides[name] if counted else 0)
    # Along a dimension of extent 1, TMA takes any multiple of 16 bytes.
    unit = UNIT_BYTES // _ITEM_BYTES
    whole = -(-math.prod(element.value.type.shape) // unit) * unit
    return Array(name, element.value, tuple(sizes), tuple(each or whole for each in strides))


def _check_contiguous(roles: Roles) -> None:
    """Check that TMA reads and writes the operands.

    Raises:
        Unfit: if it does not.
    """
    for dim in (roles.summed, roles.column):
        for name, stride in dim.strides.items():
            if stride != 1:
                raise Unfit(
                    f"has {name} with {stride} elements between neighbours along the head dimension; TMA "
                    "takes a contiguous one"
                )
    for dim in (roles.batch, roles.head, roles.sharing, roles.row, roles.key):
        for name, stride in dim.strides.items() if dim else ():
            if stride * _ITEM_BYTES % UNIT_BYTES:
                raise Unfit(
                    f"has {name} with neighbours {stride * _ITEM_BYTES} bytes apart; TMA takes multiples "
                    f"of {UNIT_BYTES}"
                )
