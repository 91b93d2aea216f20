"""Emission of the 64-bit matrix descriptors of an operand."""

from typing import Any

from ..bindings.irtypes import Op, Value
from ..bindings.mlir import ir
from ..layout import MmaTiles, Swizzle, Term
from ..layout.descriptor import BASE_OFFSET
from ..layout.elements import UNIT_BYTES
from ..layout.swizzle import PHASE_BIT
from . import emit
from .shared_memory import allocation_alignment, allocation_pointer
from .subtiles import IndexSum, Subtile, allocation_layout, check_units

#: Mask of the address bits that matrix-descriptor-encode keeps, after the shift by 4.
START_MASK = 0x3FFFF >> 4

_Term = tuple[Term, IndexSum]


class Descriptors:
    """The descriptors of a module's operands; each base of an allocation is emitted once."""

    def __init__(self) -> None:
        self._bases: dict[Any, Value] = {}

    def of(self, mma: Op, name: str, subtile: Subtile, tiles: MmaTiles) -> Value:
        """Emit the descriptor of an operand, from which its MMA tiles are at constant steps.

        Args:
            mma: the op, at which errors are reported.
            name: the operand's name, for messages.
            subtile: the operand.
            tiles: its MMA tiles.

        Returns:
            An i64, or a vector of several if the distance between MMA tiles is known at run time only.

        Raises:
            OpError: if the subtile begins between 16-byte units.
        """
        unit = subtile.slice.layout.element.unit
        check_units(subtile, mma, f"reads {name} from", "descriptors count {} elements (16 bytes)")
        offset = first_byte(subtile, tiles)
        constant = tiles.encoding.of(tiles.canonical, 0).encode()
        key = (subtile.allocation.operation, constant, offset)
        if key not in self._bases:
            self._bases[key] = _base(subtile.allocation, constant, offset, tiles.canonical.swizzle)
        descriptors = []
        for base_terms in tiles.terms:
            total = self._bases[key]
            terms = [*subtile.terms, *((term, subtile.origin[term.dim]) for term in base_terms)]
            for term, position in _outermost_first(terms, mma):
                value = emit.term_value(term, position, emit.i64(), unit)
                total = emit.binary("addi", total, value)
            descriptors.append(total)
        if len(descriptors) == 1:
            return descriptors[0]
        vector = ir.VectorType.get([len(descriptors)], emit.i64())
        return emit.value("vector.from_elements", descriptors, vector)


def first_byte(subtile: Subtile, tiles: MmaTiles) -> int:
    """Return the constant part of the offset of the first MMA tile in its allocation, in bytes, before
    the swizzle."""
    return (
        subtile.slice.offset // subtile.slice.layout.element.unit * UNIT_BYTES + tiles.starts[0][0]
    )


def _base(allocation: Op, constant: int, offset: int, swizzle: Swizzle) -> Value:
    """Emit the descriptor of byte `offset` of an allocation, next to the allocation."""
    i64 = emit.i64()
    with ir.InsertionPoint(allocation), allocation.location:
        address = emit.value("llvm.ptrtoint", (allocation_pointer(allocation, offset),), i64)
        start = emit.binary("shrui", address, 4)
        start = emit.binary("andi", start, START_MASK)
        signed = constant - (1 << 64) if constant >> 63 else constant
        descriptor = emit.binary("ori", start, emit.constant(signed, i64))
        if swizzle is Swizzle.NONE or allocation_alignment(allocation) % swizzle.pattern_bytes == 0:
            return _opaque(descriptor)
        # The swizzle pattern starts at the allocation, whose address is known at run time only.
        pattern = emit.value("llvm.ptrtoint", (allocation_pointer(allocation),), i64)
        lines = allocation_layout(allocation).alignment >> PHASE_BIT
        phase = emit.binary("andi", emit.binary("shrui", pattern, PHASE_BIT), lines - 1)
        return _opaque(emit.binary("ori", descriptor, emit.binary("shli", phase, BASE_OFFSET[0])))


def _opaque(descriptor: Value) -> Value:
    """Hide the bits of a value from compilers by empty inline assembly.

    LLVM would fold the constant into the adds that follow, and ptxas 13.0 loses the upper half of a sum
    of such a constant and a thread index.
    """
    return emit.value(
        "llvm.inline_asm",
        (descriptor,),
        descriptor.type,
        asm_string=ir.StringAttr.get(""),
        constraints=ir.StringAttr.get("=l,0"),
    )


def _outermost_first(terms: list[_Term], user: Op) -> list[_Term]:
    """Sort run-time terms, those of outer loops first: an inner loop then adds only its own terms."""

    def depth(value: Value) -> int:
        owner = value.owner
        block = owner if isinstance(owner, ir.Block) else owner.operation.block
        count, op = 0, user.operation
        while op.block.region != block.region:
            count, op = count - 1, op.parent.operation
        return count

    return sorted(terms, key=lambda term: max(map(depth, term[1].values)))
