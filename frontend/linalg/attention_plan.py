"""Attention of linalg as a problem of the attention kernel."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ...bindings.irtypes import Op, Value
from ...kernels.attention import Config, Problem, ProblemError, default_config
from ...kernels.attention.generator.problem import LOG2_E
from ...layout.elements import UNIT_BYTES
from .attention import Attention, match_attention
from .attention_dims import AttentionDims, Dim, match_dims
from .dynamic_extents import (
    DynamicExtents,
    ExtentSource,
    is_static,
    shape_of,
)
from .expressions import TensorElement
from .gemm_plan import ASSUMED
from .generic import GENERIC, body, inputs_of
from .memory import check_array
from .unsupported import Unsupported

#: Bytes of an element.
_ITEM_BYTES = 2


@dataclass(frozen=True)
class AttentionArgument:
    """A contiguous tensor as a parameter of the kernel.

    Attributes:
        name: "q", "k", "v" or "o".
        value: the tensor.
        sizes, strides: by dimension of the parameter, in elements; with numbers in the places of dynamic
            extents.
    """

    name: str
    value: Value
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class AttentionPlan:
    """A kernel for attention, and the tensors that it is launched on.

    Attributes:
        op: the op whose result the kernel computes.
        products: the replaced ops that would be kernels of their own.
        hidden: the replaced ops without `op`; their results will be in no memory.
        problem: the problem.
        config: the kernel's configuration.
        operands: Q, K and V.
        result: O.
        result_shape: the extents of the tensor O.
        scale: the factor of scores times log2(e), as the kernel computes powers of 2.
        window: the numbers of keys that a query sees before and behind itself, those that are limited.
        dynamic: the dynamic extents, by their numbers.
        without_keys: the elements of the result if there are no keys.
    """

    op: Op
    products: tuple[Op, ...]
    hidden: frozenset[Op]
    problem: Problem
    config: Config
    operands: tuple[AttentionArgument, AttentionArgument, AttentionArgument]
    result: AttentionArgument
    result_shape: tuple[int, ...]
    scale: float
    window: tuple[int, ...]
    dynamic: Mapping[int, ExtentSource]
    without_keys: float

    @property
    def description(self) -> str:
        """The problem and the configuration, for a remark."""
        problem, config = self.problem, self.config
        sides = [
            name
            for name, limited in (("before", problem.left), ("behind", problem.right))
            if limited
        ]
        limits = [f"{number} keys {name}" for name, number in zip(sides, self.window, strict=True)]
        sizes = self.result.sizes
        shape = "x".join(str(size) if is_static(size) else "?" for size in sizes)
        tile = f"{config.rows} queries by {config.keys} keys in {config.stages} stages"
        return ", ".join([f"attention of {problem.element}, {shape}", *limits, tile])


def plan_attention(op: Op, hidden: Collection[Op], narrow: bool) -> AttentionPlan | None:
    """Plan a kernel for attention whose last product is an op; None if there is no such attention.

    Args:
        op: the op.
        hidden: ops whose results will be in no memory.
        narrow: whether weights may be rounded to 16 bits before they are divided by their sum, and scores
            may keep the precision of their sums.

    Raises:
        Unsupported: for attention that the kernel does not compute.
    """
    attentions = match_attention(op, hidden)
    if attentions and not narrow:
        element = attentions[0].q.value.type.element_type
        raise Unsupported(
            f"has weights that the kernel rounds to {element} before they are divided by "
            "their sum; narrow-sums=f32 allows it"
        )
    errors: list[Unsupported] = []
    for attention in attentions:
        try:
            return _plan(attention, op)
        except Unsupported as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return None


def _plan(attention: Attention, product: Op) -> AttentionPlan:
    elements = {"q": attention.q, "k": attention.k, "v": attention.v, "o": attention.o}
    types = {name: str(element.value.type.element_type) for name, element in elements.items()}
    if types["o"] == "f32" and _is_rounded(attention.o.value, types["q"]):
        # The kernel rounds; what uses the sums of f32 would do so, too.
        types["o"] = types["q"]
    if len(set(types.values())) > 1:
        listed = ", ".join(f"{name} of {type_}" for name, type_ in types.items())
        raise Unsupported(f"has {listed}; the kernel has one type")
    for element in elements.values():
        check_array(element.value.type)
    dynamic = DynamicExtents([attention.q, attention.k, attention.v], attention.o)
    elements = {name: dynamic.element(element) for name, element in elements.items()}
    row = attention.mask.row
    dims = match_dims(elements, None if row is None else dynamic.index(row))
    queries, keys = (dim.extent if dim else 1 for dim in (dims.row, dims.key))
    window = _window(attention, queries, keys, _shift(attention, dynamic, queries, keys))
    if dims.summed.extent != dims.column.extent:
        raise Unsupported(
            f"has a head dimension of {dims.summed.extent}, and values of {dims.column.extent}; the "
            "kernel has one"
        )
    try:
        left, right = (limit is not None for limit in window)
        problem = Problem(types["q"], dims.summed.extent, left, right)
    except ProblemError as error:
        raise Unsupported(f"does not fit the attention kernel: {error}") from None
    head = dims.head, dims.sharing
    q = _argument("q", elements["q"], (dims.batch,), head, (dims.row,), (dims.summed,))
    k = _argument("k", elements["k"], (dims.batch,), (dims.head,), (dims.summed,), (dims.key,))
    v = _argument("v", elements["v"], (dims.batch,), (dims.head,), (dims.key,), (dims.column,))
    o = _argument("o", elements["o"], (dims.batch,), head, (dims.row,), (dims.column,))
    _check_contiguous(dims)
    limits = tuple(min(limit, queries + keys) for limit in window if limit is not None)
    return AttentionPlan(
        attention.op,
        (attention.first, product),
        attention.inner_ops,
        problem,
        default_config(problem, *(n if is_static(n) else ASSUMED for n in (queries, keys))),
        (q, k, v),
        o,
        tuple(shape_of(elements["o"])),
        attention.scale * LOG2_E,
        limits,
        dynamic.sources,
        math.nan if attention.divides_result else 0.0,
    )


def _is_rounded(sums: Value, element: str) -> bool:
    """Whether each op that uses a tensor rounds its elements to a type first."""
    uses = list(sums.uses)
    for use in uses:
        user = use.owner.operation
        if user.name != GENERIC or use.operand_number >= len(inputs_of(user)):
            return False
        for inner in body(user).arguments[use.operand_number].uses:
            op = inner.owner.operation
            if op.name != "arith.truncf" or str(op.results[0].type) != element:
                return False
    return bool(uses)


def _shift(attention: Attention, dynamic: DynamicExtents, queries: int, keys: int) -> int:
    """Return how many keys there are more than queries; 0 without a mask.

    Raises:
        Unsupported: if that is not known.
    """
    if attention.mask.row is None:
        return 0
    if is_static(queries) and is_static(keys):
        return keys - queries
    of_queries, of_keys = (dynamic.origin(number) for number in (queries, keys))
    if of_queries is None or of_keys is None or of_queries != of_keys:
        raise Unsupported(
            "has a mask by places, and it is not known whether there are as many queries as keys; "
            "smem.shape of the function's arguments can name equal extents"
        )
    return 0


def _window(
    attention: Attention, queries: int, keys: int, shift: int
) -> tuple[int | None, int | None]:
    """Return how many keys a query sees before and behind itself, if the last query is at the last key.

    Args:
        attention: the attention.
        queries, keys: their numbers.
        shift: how many keys there are more than queries.

    Raises:
        Unsupported: if the kernel has no such window.
    """
    mask = attention.mask
    left = None if mask.left is None else mask.left + shift
    right = None if mask.right is None else mask.right - shift
    for name, limit in (("before", left), ("behind", right)):
        if limit is not None and limit < 0:
            raise Unsupported(
                f"has queries that see {limit} keys {name} their places, of which the last is that of "
                "the last key; the kernel takes 0 or more"
            )
    if right is not None and shift + right < 0 and not attention.is_zero_without_keys:
        raise Unsupported("has queries that see no key, whose result is not 0")
    return left, right


def _argument(
    name: str, element: TensorElement, *dims: tuple[Dim | None, ...]
) -> AttentionArgument:
    """Return a tensor as an argument; each dimension of the parameter joins dimensions of loops."""
    sizes: list[int] = []
    strides: list[int] = []
    for loops in dims:
        counted = [dim for dim in loops if dim is not None]
        sizes.append(math.prod(dim.extent for dim in counted))
        strides.append(counted[-1].strides[name] if counted else 0)
    # Along a dimension of extent 1, TMA takes any multiple of 16 bytes.
    unit = UNIT_BYTES // _ITEM_BYTES
    whole = -(-math.prod(shape_of(element)) // unit) * unit
    return AttentionArgument(
        name, element.value, tuple(sizes), tuple(stride or whole for stride in strides)
    )


def _check_contiguous(dims: AttentionDims) -> None:
    """Check that TMA can read and write the tensors.

    Raises:
        Unsupported: for a head dimension that is not contiguous, or a stride of no multiple of 16 bytes.
    """
    for dim in (dims.summed, dims.column):
        for name, stride in dim.strides.items():
            if stride != 1:
                raise Unsupported(
                    f"has {name} with {stride} elements between neighbours along the head dimension; TMA "
                    "takes a contiguous one"
                )
    for dim in (dims.batch, dims.head, dims.sharing, dims.row, dims.key):
        for name, stride in dim.strides.items() if dim else ():
            if stride * _ITEM_BYTES % UNIT_BYTES:
                raise Unsupported(
                    f"has {name} with neighbours {stride * _ITEM_BYTES} bytes apart; TMA takes multiples "
                    f"of {UNIT_BYTES}"
                )
