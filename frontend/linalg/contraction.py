"""Contractions: sums of products of two operands' elements."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import PACKAGE, ir
from ...kernels.gemm.generator.problem import accumulator, is_multiplied
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
    terminator,
)
from .memory import check_array, check_no_overlap, is_harmless
from .precision import check_precision
from .unsupported import NoContraction, Unsupported

linalg: Any = import_module(f"{PACKAGE}.dialects.linalg")

#: Ops that widen an element, which tensor cores do while they multiply.
_WIDENINGS = ("arith.extf", "arith.extsi", "arith.extui")

_NARROW_SUMS = ("bf16", "f16")

#: What an element type is called where its values are unsigned.
_UNSIGNED = {"i8": "ui8"}


@dataclass(frozen=True)
class ArrayAccess:
    """A tensor or memref, and the loop of a contraction that indexes each dimension.

    Attributes:
        value: the tensor or memref.
        loops: by dimension of the array that the kernel accesses.
        permutation: the dimensions of `value` in the order of the copy that the kernel accesses; empty if
            it accesses `value` itself.
        row: the number of the copy's last dimensions that are a row; rows begin at multiples of 16 bytes,
            as TMA requires. 0 if all dimensions follow each other.
    """

    value: Value
    loops: tuple[int, ...]
    permutation: tuple[int, ...] = ()
    row: int = 0

    @property
    def is_copy(self) -> bool:
        """Whether the kernel accesses a copy."""
        return bool(self.permutation)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the array that the kernel accesses."""
        shape = self.value.type.shape
        return tuple(shape[dim] for dim in self.permutation) or tuple(shape)


@dataclass(frozen=True)
class ContractionOperand:
    """An operand of a contraction.

    Attributes:
        value: the tensor or memref.
        loops: the loop that indexes each dimension.
        element: the element type as tensor cores read it, for example "ui8" of an i8.
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
        c: the result on tensors, the output on memrefs; its element type is that of the sums.
        init: the initial values of the sums; None for 0.
        cleared: on memrefs, the fill with zeros before `op`, which the kernel replaces; None without one.
        loops: the number of loops.
        k: the loops that are summed over.
    """

    op: Op
    a: ContractionOperand
    b: ContractionOperand
    c: ContractionOperand
    init: ArrayAccess | None
    cleared: Op | None
    loops: int
    k: frozenset[int]

    @property
    def on_memrefs(self) -> bool:
        """Whether it writes to memory."""
        return not list(self.op.results)


def match_contraction(op: Op, tf32: bool, sums_in_f32: bool) -> Contraction:
    """Match `C = init + A * B`.

    Args:
        op: the op.
        tf32: whether f32 may be multiplied as tf32.
        sums_in_f32: whether sums of narrower floats may be computed in f32.

    Raises:
        Unsupported: if the op is no contraction that tensor cores compute.
    """
    if op.name != GENERIC and linalg.isa_contraction_op(op):
        raise Unsupported("is no linalg.generic; linalg-to-smem-prepare makes one of it")
    if op.name != GENERIC or not any(is_reduction(op)):
        raise NoContraction("is no contraction")
    inputs, outputs = inputs_of(op), outputs_of(op)
    if len(inputs) != 2 or len(outputs) != 1:
        raise NoContraction(
            f"has {len(inputs)} inputs and {len(outputs)} outputs; a contraction has two and one"
        )
    for array in (*inputs, *outputs):
        check_array(array.type)
    a_loops, b_loops, c_loops = maps_of(op)
    unsigned = _match_product(op)
    elements = [str(array.type.element_type) for array in (*inputs, *outputs)]
    a, b = (
        _UNSIGNED.get(element, element) if number in unsigned else element
        for number, element in enumerate(elements[:2])
    )
    _check_elements(a, b, elements[2], tf32, sums_in_f32)
    check_precision(op, (a, b))
    if "ui8" in (a, b):
        raise Unsupported(
            "multiplies unsigned elements of i8, which have no type of a memref of their own"
        )
    reductions = is_reduction(op)
    k = frozenset(loop for loop, reduces in enumerate(reductions) if reduces)
    for loop in range(len(reductions)):
        _check_loop(loop, k, a_loops, b_loops, c_loops)
    on_memrefs = not list(op.results)
    if on_memrefs:
        check_no_overlap(inputs, outputs[0])
    cleared = _clearing_fill(op, outputs[0]) if on_memrefs else None
    init = None
    if cleared is None and not _is_zero(outputs[0]):
        init = _skip_broadcast(ArrayAccess(outputs[0], c_loops))
    return Contraction(
        op,
        ContractionOperand(inputs[0], a_loops, a),
        ContractionOperand(inputs[1], b_loops, b),
        ContractionOperand(op.results[0] if not on_memrefs else outputs[0], c_loops, elements[2]),
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


def _skip_broadcast(access: ArrayAccess) -> ArrayAccess:
    """Return the tensor of floats that is broadcast to `access`; else `access`."""
    op = owner(access.value)
    if op is None or op.name != GENERIC or not only_moves(op):
        return access
    (source,) = inputs_of(op)
    try:
        read, written = maps_of(op)
    except Unsupported:
        return access
    of_loop = dict(zip(written, access.loops, strict=True))
    if not of_loop.keys() >= set(read) or not isinstance(source.type.element_type, ir.FloatType):
        return access
    return ArrayAccess(source, tuple(of_loop[loop] for loop in read))


def _match_product(op: Op) -> set[int]:
    """Match the body `c + a * b`, and return the numbers of the unsigned inputs."""
    block = body(op)
    yielded = terminator(block).operands[0]
    sum_op = owner(yielded)
    if sum_op is None or sum_op.name not in ("arith.addf", "arith.addi"):
        raise NoContraction(
            f"combines products by '{sum_op.name}'" if sum_op else "sums nothing up"
        )
    output = block.arguments[2]
    products = [operand for operand in sum_op.operands if operand != output]
    if len(products) != 1:
        raise NoContraction("does not add one product to each sum")
    product = owner(products[0])
    if product is not None and product.name == "arith.extf":
        raise Unsupported("rounds each product before it is added")
    if product is None or product.name not in ("arith.mulf", "arith.muli"):
        addend = f"'{product.name}'" if product is not None else "an operand"
        raise NoContraction(f"adds {addend}, not a product")
    unsigned: set[int] = set()
    factors: list[int] = []
    for operand in product.operands:
        value, is_unsigned = operand, False
        cast = owner(value)
        while cast is not None and cast.name in _WIDENINGS:
            is_unsigned |= cast.name == "arith.extui"
            value = cast.operands[0]
            cast = owner(value)
        if cast is not None and cast.block == block:
            raise Unsupported(
                f"computes '{cast.name}' of an operand before the product; make it a tensor first"
            )
        argument = argument_number(block, value)
        if argument is None:
            raise Unsupported("multiplies by a number from outside of its body")
        factors.append(argument)
        if is_unsigned:
            unsigned.add(argument)
    if sorted(factors) != [0, 1]:
        raise Unsupported("multiplies an operand's elements with themselves")
    return unsigned


def _check_elements(a: str, b: str, c: str, tf32: bool, sums_in_f32: bool) -> None:
    for element in (a, b):
        if not is_multiplied(element):
            raise Unsupported(f"multiplies elements of {element}, which tensor cores do not")
    if "f32" in (a, b) and not tf32:
        raise Unsupported("multiplies f32, which tensor cores round to tf32; f32=tf32 allows it")
    summed = accumulator(a)
    if c == summed:
        return
    if summed == "f32" and c in _NARROW_SUMS:
        if sums_in_f32:
            return
        raise Unsupported(f"sums in {c}, but tensor cores sum in f32; narrow-sums=f32 allows it")
    raise Unsupported(f"sums products of {a} in {c}; tensor cores sum them in {summed}")


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
            raise Unsupported(f"sums over d{loop}, along which only one operand has elements")
    elif loop not in c or not (of_a or of_b):
        raise Unsupported(f"has the loop d{loop}, along which neither operand has elements")


def _clearing_fill(op: Op, output: Value) -> Op | None:
    """Return the fill of an output with zeros before an op, if no op between them touches memory."""
    before: list[Op] = []
    for earlier_op in op.block.operations:
        if earlier_op.operation == op:
            break
        before.append(earlier_op.operation)
    for earlier_op in reversed(before):
        if is_filled_with_zeros(earlier_op) and not list(earlier_op.results):
            return earlier_op if list(earlier_op.operands)[-1] == output else None
        if not is_harmless(earlier_op):
            return None
    return None
