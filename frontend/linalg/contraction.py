"""Contractions: sums of products of two operands' elements."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import PACKAGE, ir
from ...kernels.gemm.generator.problem import accumulator, is_multiplied
from .access import Access
from .generic import (
    GENERIC,
    RESHAPES,
    argument_number,
    body,
    inputs_of,
    is_filled_with_zeros,
    is_reduction,
    maps_of,
    only_moves,
    outputs_of,
    owner,
)
from .memory import check_array, check_no_overlap, is_harmless
from .precision import check_precision
from .unfit import Unfit

linalg: Any = import_module(f"{PACKAGE}.dialects.linalg")

#: Ops that widen an element, which tensor cores do while they multiply.
_WIDENINGS = ("arith.extf", "arith.extsi", "arith.extui")

_NARROW_SUMS = ("bf16", "f16")

#: What an element type is called where its values are unsigned.
_UNSIGNED = {"i8": "ui8"}


@dataclass(frozen=True)
class Operand:
    """An operand of a contraction.

    Attributes:
        value: the tensor or memref.
        loops: the loop that indexes each of its dimensions.
        element: its element type as tensor cores read it, for example "ui8" of an i8.
    """

    value: Value
    loops: tuple[int, ...]
    element: str


@dataclass(frozen=True)
class Contraction:
    """C = init + A * B, with any loops.

    Attributes:
        op: the `linalg.generic`.
        a, b: the operands.
        c: the result, or of memrefs the output; its element type is that of the sums.
        init: what the sums begin with, by loops of the contraction; None if they begin with 0.
        cleared: of memrefs, the fill before it, which is not needed; None if there is none.
        loops: how many there are.
        k: the loops that are summed over.
    """

    op: Op
    a: Operand
    b: Operand
    c: Operand
    init: Access | None
    cleared: Op | None
    loops: int
    k: frozenset[int]

    @property
    def on_memrefs(self) -> bool:
        """Whether it writes to memory."""
        return not list(self.op.results)


def contraction(op: Op, tf32: bool, sums_in_f32: bool) -> Contraction:
    """Return the contraction that an op is.

    Args:
        op: the op.
        tf32: whether f32 may be multiplied as tf32.
        sums_in_f32: whether sums of narrower floats may be computed in f32.

    Raises:
        Unfit: if it is none that tensor cores compute.
    """
    if op.name != GENERIC and linalg.isa_contraction_op(op):
        raise Unfit("is no linalg.generic; linalg-to-smem-prepare makes one of it")
    if op.name != GENERIC or not any(is_reduction(op)):
        raise Unfit("is no contraction")
    inputs, outputs = inputs_of(op), outputs_of(op)
    if len(inputs) != 2 or len(outputs) != 1:
        raise Unfit(
            f"has {len(inputs)} inputs and {len(outputs)} outputs; a contraction has two and one"
        )
    for each in (*inputs, *outputs):
        check_array(each.type)
    a_loops, b_loops, c_loops = maps_of(op)
    unsigned = _multiplied(op)
    elements = [str(each.type.element_type) for each in (*inputs, *outputs)]
    a, b = (
        _UNSIGNED.get(element, element) if number in unsigned else element
        for number, element in enumerate(elements[:2])
    )
    _check_elements(a, b, elements[2], tf32, sums_in_f32)
    check_precision(op, (a, b))
    if "ui8" in (a, b):
        raise Unfit(
            "multiplies unsigned elements of i8, which have no type of a memref of their own"
        )
    reductions = is_reduction(op)
    k = frozenset(loop for loop, reduces in enumerate(reductions) if reduces)
    for loop in range(len(reductions)):
        _check_loop(loop, k, a_loops, b_loops, c_loops)
    on_memrefs = not list(op.results)
    if on_memrefs:
        check_no_overlap(inputs, outputs[0])
    cleared = _clearing(op, outputs[0]) if on_memrefs else None
    init = None
    if cleared is None and not _is_zero(outputs[0]):
        init = _broadcast(Access(outputs[0], c_loops))
    return Contraction(
        op,
        Operand(inputs[0], a_loops, a),
        Operand(inputs[1], b_loops, b),
        Operand(op.results[0] if not on_memrefs else outputs[0], c_loops, elements[2]),
        init,
        cleared,
        len(reductions),
        k,
    )


def _is_zero(value: Value) -> bool:
    """Whether all elements of a tensor are 0."""
    while (op := owner(value)) is not None and op.name in RESHAPES:
        value = op.operands[0]
    return op is not None and is_filled_with_zeros(op)


def _broadcast(access: Access) -> Access:
    """Return the tensor of floats that is broadcast to another; if there is none, the other."""
    op = owner(access.value)
    if op is None or op.name != GENERIC or not only_moves(op):
        return access
    (source,) = inputs_of(op)
    try:
        read, written = maps_of(op)
    except Unfit:
        return access
    of_loop = dict(zip(written, access.loops, strict=True))
    if not of_loop.keys() >= set(read) or not isinstance(source.type.element_type, ir.FloatType):
        return access
    return Access(source, tuple(of_loop[loop] for loop in read))


def _multiplied(op: Op) -> set[int]:
    """Check that a body adds the product of both inputs; return which of them are unsigned."""
    block = body(op)
    yielded = block.operations[len(block.operations) - 1].operands[0]
    total = owner(yielded)
    if total is None or total.name not in ("arith.addf", "arith.addi"):
        raise Unfit(f"combines products by '{total.name}'" if total else "sums nothing up")
    output = block.arguments[2]
    products = [each for each in total.operands if each != output]
    if len(products) != 1:
        raise Unfit("does not add one product to each sum")
    product = owner(products[0])
    if product is not None and product.name == "arith.extf":
        raise Unfit("rounds each product before it is added")
    if product is None or product.name not in ("arith.mulf", "arith.muli"):
        what = f"'{product.name}'" if product is not None else "an operand"
        raise Unfit(f"adds {what}, not a product")
    unsigned: set[int] = set()
    seen: list[int] = []
    for operand in product.operands:
        value, is_unsigned = operand, False
        by = owner(value)
        while by is not None and by.name in _WIDENINGS:
            is_unsigned |= by.name == "arith.extui"
            value = by.operands[0]
            by = owner(value)
        if by is not None and by.block == block:
            raise Unfit(
                f"computes '{by.name}' of an operand before the product; make it a tensor first"
            )
        place = argument_number(block, value)
        if place is None:
            raise Unfit("multiplies by a number from outside of its body")
        seen.append(place)
        if is_unsigned:
            unsigned.add(place)
    if sorted(seen) != [0, 1]:
        raise Unfit("multiplies an operand's elements with themselves")
    return unsigned


def _check_elements(a: str, b: str, c: str, tf32: bool, sums_in_f32: bool) -> None:
    for element in (a, b):
        if not is_multiplied(element):
            raise Unfit(f"multiplies elements of {element}, which tensor cores do not")
    if "f32" in (a, b) and not tf32:
        raise Unfit("multiplies f32, which tensor cores round to tf32; f32=tf32 allows it")
    summed = accumulator(a)
    if c == summed:
        return
    if summed == "f32" and c in _NARROW_SUMS:
        if sums_in_f32:
            return
        raise Unfit(f"sums in {c}, but tensor cores sum in f32; narrow-sums=f32 allows it")
    raise Unfit(f"sums products of {a} in {c}; tensor cores sum them in {summed}")


def _check_loop(
    loop: int,
    k: frozenset[int],
    a: tuple[int, ...],
    b: tuple[int, ...],
    c: tuple[int, ...],
) -> None:
    of_a, of_b = loop in a, loop in b
    if loop in k:
        if not (of_a and of_b):
            raise Unfit(f"sums over d{loop}, along which only one operand has elements")
    elif loop not in c or not (of_a or of_b):
        raise Unfit(f"has the loop d{loop}, along which neither operand has elements")


def _clearing(op: Op, output: Value) -> Op | None:
    """Return the fill of the output before an op, if nothing between them touches memory."""
    before: list[Op] = []
    for each in op.block.operations:
        if each.operation == op:
            break
        before.append(each.operation)
    for each in reversed(before):
        if is_filled_with_zeros(each) and not list(each.results):
            return each if list(each.operands)[-1] == output else None
        if not is_harmless(each):
            return None
    return None
