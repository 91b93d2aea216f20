"""The alignment that a kernel needs of its matrices: the widest access to their addresses.

A matrix's address is followed forward through the ops that derive other addresses from it. An unknown op
counts as an access of 16 bytes, the widest access of a thread.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from ..bindings.mlir import ir
from ..layout.elements import UNIT_BYTES

#: Ops whose results are addresses if an operand is one; those of `arith` are too.
_DERIVING = {
    "builtin.unrealized_conversion_cast",
    "llvm.addrspacecast",
    "llvm.bitcast",
    "llvm.getelementptr",
    "llvm.inttoptr",
    "llvm.ptrtoint",
    "memref.assume_alignment",
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.extract_aligned_pointer_as_index",
    "memref.memory_space_cast",
    "memref.reinterpret_cast",
    "memref.subview",
    "memref.transpose",
    "memref.view",
}

#: Ops that access no memory.
_NO_ACCESS = {"memref.dim", "memref.prefetch", "memref.rank", "nvvm.prefetch"}

#: Ops that access single elements of a memref, unless an attribute states a larger alignment.
_BY_ELEMENT = {
    "memref.atomic_rmw",
    "memref.generic_atomic_rmw",
    "memref.load",
    "memref.store",
    "vector.gather",
    "vector.load",
    "vector.maskedload",
    "vector.maskedstore",
    "vector.scatter",
    "vector.store",
    "vector.transfer_read",
    "vector.transfer_write",
}

#: Ops whose results are the values that their regions yield.
_YIELDING = {"scf.execute_region", "scf.for", "scf.if", "scf.index_switch"}

#: Bytes of an index.
_ADDRESS = 8

#: Operands of `scf.for` before its iter_args: lower bound, upper bound, step.
_BOUNDS = 3


@dataclass(frozen=True)
class MatrixAccess:
    """An access to a matrix, or to an address derived from its address.

    Attributes:
        size: the alignment in bytes that the address must have.
        op: the op that needs it; None if no op needs more than the size of an element.
    """

    size: int
    op: Any = None


def widest_access(argument: Any) -> MatrixAccess:
    """Return the widest access to the matrix of a kernel's memref argument."""
    element = MatrixAccess(element_bytes(argument.type))
    return max((element, *_accesses(argument)), key=lambda access: access.size)


def element_bytes(memref: Any) -> int:
    """Return the bytes of a memref's element; for a type without a known size, those of the widest
    access."""
    return _bytes(memref.element_type)


def _accesses(argument: Any) -> Iterator[MatrixAccess]:
    """Yield the accesses to an argument's address and to the addresses derived from it."""
    visited, worklist = {argument}, [argument]
    while worklist:
        address = worklist.pop()
        for use in address.uses:
            op, position = use.owner.operation, use.operand_number
            derived = _derived_addresses(op, position)
            worklist += [value for value in derived if value not in visited]
            visited.update(derived)
            size = _needed_alignment(op, position, address.type)
            if size or not (derived or op.name in _NO_ACCESS):
                yield MatrixAccess(size or UNIT_BYTES, op)


def _derived_addresses(op: Any, position: int) -> list[Any]:
    """Return the values that are addresses because the op's operand at `position` is one."""
    name = op.name
    if name == "memref.extract_strided_metadata":
        return [op.results[0]]
    if name == "scf.for" and position >= _BOUNDS:
        carried = position - _BOUNDS
        return [op.results[carried], op.regions[0].blocks[0].arguments[carried + 1]]
    if name == "scf.yield" and (outer := op.parent.operation).name in _YIELDING:
        is_loop = outer.name == "scf.for"
        carried = [outer.regions[0].blocks[0].arguments[position + 1]] if is_loop else []
        return [outer.results[position], *carried]
    if name == "cf.br":
        return [op.successors[0].arguments[position]]
    return list(op.results) if name in _DERIVING or name.startswith("arith.") else []


def _needed_alignment(op: Any, position: int, address: Any) -> int | None:
    """Return the alignment in bytes that an op needs of its operand, an address of type `address`; None
    if it is unknown."""
    name, attributes = op.name, op.attributes
    if name == "nvvm.cp.async.shared.global":
        return ir.IntegerAttr(attributes["size"]).value
    alignment = ir.IntegerAttr(attributes["alignment"]).value if "alignment" in attributes else None
    if alignment or name == "memref.assume_alignment":
        return alignment
    if name == "llvm.load":
        return _bytes(op.results[0].type)
    if name == "llvm.store" and position == 1:
        return _bytes(op.operands[0].type)
    if name in _BY_ELEMENT and isinstance(address, ir.MemRefType):
        return _bytes(address.element_type)
    return None


def _bytes(type_: Any) -> int:
    """Return the alignment in bytes of a value of a type in memory; for types without a known size,
    that of the widest access."""
    if isinstance(type_, ir.VectorType):
        size = prod(type_.shape) * _bytes(type_.element_type)
        return 1 << (size - 1).bit_length()
    if isinstance(type_, ir.IntegerType | ir.FloatType):
        return 1 << (-(-type_.width // 8) - 1).bit_length()
    return _ADDRESS if isinstance(type_, ir.IndexType) else UNIT_BYTES
