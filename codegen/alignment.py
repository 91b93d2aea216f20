"""What a kernel's matrices must be aligned to: the widest of the accesses that their addresses reach.

A matrix's address is followed forward through the ops that derive others from it. What an unknown op does
with it is taken for an access of 16 bytes, the widest of a thread.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from ..dialect.bindings import ir
from ..layout.elements import UNIT_BYTES

#: Ops whose results are addresses if an operand is one, besides those of `arith`.
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
_HARMLESS = {"memref.dim", "memref.prefetch", "memref.rank", "nvvm.prefetch"}

#: Ops that access elements of a memref one by one, as far as no attribute says more.
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

#: Ops whose results are what their regions yield.
_YIELDING = {"scf.execute_region", "scf.for", "scf.if", "scf.index_switch"}

#: Bytes of an index.
_ADDRESS = 8

#: Operands of `scf.for` before those that it carries.
_BOUNDS = 3


@dataclass(frozen=True)
class Access:
    """The widest access to a matrix.

    Attributes:
        size: bytes that its address must be a multiple of.
        op: the op that needs it; None if nothing needs more than an element.
    """

    size: int
    op: Any = None


def widest_access(argument: Any) -> Access:
    """The widest access to what a kernel's memref argument is given."""
    element = Access(element_bytes(argument.type))
    return max((element, *_accesses(argument)), key=lambda access: access.size)


def element_bytes(memref: Any) -> int:
    """Bytes of an element of a memref; of a type that does not say, those that one access moves."""
    return _bytes(memref.element_type)


def _accesses(argument: Any) -> Iterator[Access]:
    """The accesses that an argument's address reaches."""
    seen, waiting = {argument}, [argument]
    while waiting:
        address = waiting.pop()
        for use in address.uses:
            op, position = use.owner.operation, use.operand_number
            derived = _derived(op, position)
            waiting += [value for value in derived if value not in seen]
            seen.update(derived)
            size = _size(op, position, address.type)
            if size or not (derived or op.name in _HARMLESS):
                yield Access(size or UNIT_BYTES, op)


def _derived(op: Any, position: int) -> list[Any]:
    """The values that are addresses because the operand of an op at a position is one."""
    name = op.name
    if name == "memref.extract_strided_metadata":
        return [op.results[0]]
    if name == "scf.for" and position >= _BOUNDS:
        carried = position - _BOUNDS
        return [op.results[carried], op.regions[0].blocks[0].arguments[carried + 1]]
    if name == "scf.yield" and (outer := op.parent.operation).name in _YIELDING:
        looped = outer.name == "scf.for"
        again = [outer.regions[0].blocks[0].arguments[position + 1]] if looped else []
        return [outer.results[position], *again]
    if name == "cf.br":
        return [op.successors[0].arguments[position]]
    return list(op.results) if name in _DERIVING or name.startswith("arith.") else []


def _size(op: Any, position: int, address: Any) -> int | None:
    """Bytes of an op's access to an address of that type, or that it is promised to be a multiple of;
    None if they are not known."""
    name, attributes = op.name, op.attributes
    if name == "nvvm.cp.async.shared.global":
        return ir.IntegerAttr(attributes["size"]).value
    said = ir.IntegerAttr(attributes["alignment"]).value if "alignment" in attributes else None
    if said or name == "memref.assume_alignment":
        return said
    if name == "llvm.load":
        return _bytes(op.results[0].type)
    if name == "llvm.store" and position == 1:
        return _bytes(op.operands[0].type)
    if name in _BY_ELEMENT and isinstance(address, ir.MemRefType):
        return _bytes(address.element_type)
    return None


def _bytes(type_: Any) -> int:
    """Bytes that a value of a type is aligned to in memory; of types that do not say, the most that one
    access moves."""
    if isinstance(type_, ir.VectorType):
        size = prod(type_.shape) * _bytes(type_.element_type)
        return 1 << (size - 1).bit_length()
    if isinstance(type_, ir.IntegerType | ir.FloatType):
        return 1 << (-(-type_.width // 8) - 1).bit_length()
    return _ADDRESS if isinstance(type_, ir.IndexType) else UNIT_BYTES
