"""Element expressions: trees that become the region of one `smem.map` when they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..dtypes import DType
from ..errors import TraceError
from .base import Traced


@dataclass(frozen=True, eq=False)
class ElementExpr:
    """An expression of an element.

    Attributes:
        dtype: its element type.
        shape: of the fragment: (M, N), (M,) or (N,) of a slice; None if any fragment fits, for a
            position or a number.
        axis: of a slice, the dimension that is gone; else None.
        expanded: whether a slice was indexed with None, `m[:, None]`, to meet one along the other axis.
    """

    dtype: DType
    shape: tuple[int, ...] | None
    axis: int | None
    expanded: bool = field(default=False, kw_only=True)

    def arguments(self) -> tuple[ElementExpr, ...]:
        """The nodes that it is computed from."""
        return ()


@dataclass(frozen=True, eq=False)
class FragmentLeaf(ElementExpr):
    """A fragment in registers."""

    fragment: Traced


@dataclass(frozen=True, eq=False)
class Uniform(ElementExpr):
    """A number that all elements see: an index, a scalar, a condition, a Python number."""

    number: Traced | float


@dataclass(frozen=True, eq=False)
class Coordinate(ElementExpr):
    """The row (dimension 0) or column (dimension 1) of the element."""

    dim: int


@dataclass(frozen=True, eq=False)
class Operation(ElementExpr):
    """An operation of `elements`, or "to" (a conversion) or "where".

    Attributes:
        location: the MLIR location of the author's code.
        computed: the fragments that hold its value, by what they are: "map", or "a" for an A.
    """

    name: str
    operands: tuple[ElementExpr, ...]
    location: Any
    computed: dict[str, Traced] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.axis is not None and any(node.expanded for node in self.operands):
            object.__setattr__(self, "expanded", True)

    def arguments(self) -> tuple[ElementExpr, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class ArrayElement(Operation):
    """The element of an array in global memory at positions, read where the expression is computed.

    Attributes:
        array: the array; the operands are its indices.
    """

    array: Traced = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class ElementOp(Operation):
    """What a function builds of MLIR values, one for each operand.

    Attributes:
        build: the function.
    """

    build: Callable[..., Any] = field(kw_only=True)


def fragment_of(node: ElementExpr, form: str = "map") -> Traced | None:
    """Return the fragment that holds an expression's value here; None if it is not computed yet."""
    if isinstance(node, FragmentLeaf):
        return node.fragment
    fragment = node.computed.get(form) if isinstance(node, Operation) else None
    return fragment if fragment is not None and fragment.scope.open else None


def walk(node: ElementExpr) -> Iterator[ElementExpr]:
    """Yield the nodes of an expression, each once, operands first; none below a computed one."""
    seen: set[int] = set()
    stack: list[tuple[ElementExpr, bool]] = [(node, False)]
    while stack:
        part, done = stack.pop()
        if done:
            yield part
        elif id(part) not in seen:
            seen.add(id(part))
            stack.append((part, True))
            if fragment_of(part) is None:
                stack.extend((argument, False) for argument in reversed(part.arguments()))


def leaves(node: ElementExpr) -> list[ElementExpr]:
    """Return the fragments and computed parts of an expression, each once."""
    return [part for part in walk(node) if fragment_of(part) is not None]


def join_shapes(nodes: tuple[ElementExpr, ...]) -> tuple[tuple[int, ...] | None, int | None]:
    """Return (shape, axis) of an operation on fragments; slices are broadcast to matrices.

    Slices along both axes are broadcast to a matrix if all are indexed with None.

    Raises:
        TraceError: if the extents do not meet.
    """
    shaped = [node for node in nodes if node.shape is not None]
    if not shaped:
        return None, None
    matrix = next((node for node in shaped if node.axis is None), None)
    if matrix is None and len({node.expanded for node in shaped}) == 2:
        raise TraceError(
            " meets ".join(map(shape_text, shaped))
            + "; index both with None, or neither: m[:, None] "
            "for rows, n[None, :] for columns"
        )
    rows, columns = (next((n for n in shaped if n.axis == axis), None) for axis in (1, 0))
    if matrix is None and rows is not None and columns is not None and rows.expanded:
        assert rows.shape is not None and columns.shape is not None
        matrix = ElementExpr(rows.dtype, (*rows.shape, *columns.shape), None)
    first = matrix or shaped[0]
    for node in shaped:
        if not _fits(node, first):
            raise TraceError(
                f"{shape_text(node)} meets {shape_text(first)}; expected {_expected_shape(node, first)}"
            )
    return first.shape, first.axis


def _fits(node: ElementExpr, into: ElementExpr) -> bool:
    assert node.shape is not None and into.shape is not None
    if node.axis == into.axis:
        return node.shape == into.shape
    if into.axis is None and node.axis is not None:
        return node.shape[0] == into.shape[1 - node.axis]
    return False


def _expected_shape(node: ElementExpr, into: ElementExpr) -> str:
    assert into.shape is not None
    if into.axis is not None and node.axis == into.axis:
        return "slices of the same extent"
    if into.axis is not None:
        return "two slices along one axis, or m[:, None] of the rows and n[None, :] of the columns"
    if node.axis is not None:
        lines = "rows" if node.axis == 1 else "columns"
        return f"a slice with {into.shape[1 - node.axis]} {lines}"
    return "fragments of the same shape"


def shape_text(node: ElementExpr) -> str:
    """Return what a node is, for messages."""
    assert node.shape is not None
    text = "x".join(map(str, node.shape))
    if node.axis is None:
        return f"a fragment {text} of {node.dtype}"
    index = ("[None, :]", "[:, None]")[node.axis] if node.expanded else ""
    return f"a slice{index} of {text} {'rows' if node.axis == 1 else 'columns'} of {node.dtype}"
