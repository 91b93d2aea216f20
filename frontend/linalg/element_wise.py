"""Ops of linalg on tensors that compute each element of their results on its own."""

from __future__ import annotations

from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ...runtime.arguments import DTYPES
from .generic import body, is_reduction, outputs_of

#: Dialects of the ops of a body.
_DIALECTS = ("arith", "math")
_OPS = ("linalg.index", "linalg.yield")


def is_element_wise(op: Op, loops: int) -> bool:
    """Whether an op of so many loops computes each element of its results on its own."""
    return is_simple(op) and has_element_maps(op, loops)


def is_simple(op: Op) -> bool:
    """Whether threads compute the elements of an op's results each on its own."""
    if not list(op.results) or len(is_reduction(op)) == 0:
        return False
    for value in (*op.operands, *op.results):
        type_ = value.type
        if isinstance(type_, ir.ShapedType):
            is_tensor = isinstance(type_, ir.RankedTensorType) and type_.encoding is None
            if not is_tensor or str(type_.element_type) not in DTYPES:
                return False
    if any(loops_of(op, number) is None for number, _ in enumerate(op.operands)):
        return False
    return all(
        not len(inner.regions) and (inner.name.split(".")[0] in _DIALECTS or inner.name in _OPS)
        for inner in (x.operation for x in body(op).operations)
    )


def has_element_maps(op: Op, loops: int) -> bool:
    """Whether all of so many loops are parallel, and index the dimensions of each result in order."""
    if any(is_reduction(op)):
        return False
    first = len(op.operands) - len(outputs_of(op))
    return all(loops_of(op, n) == list(range(loops)) for n in range(first, len(op.operands)))


def loops_of(op: Op, number: int) -> list[int] | None:
    """Return the loops that index an operand's dimensions; None if these are others than loops."""
    results = ir.AffineMapAttr(op.attributes["indexing_maps"][number]).value.results
    if not all(isinstance(expression, ir.AffineDimExpr) for expression in results):
        return None
    return [ir.AffineDimExpr(expression).position for expression in results]
