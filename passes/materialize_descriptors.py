"""`smem-materialize-descriptors`: each operand of an mma becomes one 64-bit matrix descriptor."""

from dataclasses import dataclass
from typing import Any

from ..dialect.bindings import ir
from ..dialect.caching import cached_in_context
from ..dialect.diagnostics import format_location, remark
from ..dialect.ops import WgmmaOp, WgmmaSpOp
from ..dialect.ops.mma import MODIFIERS, PRODUCTS, extras_of, operand_element
from ..dialect.types import is_multiplicand
from ..layout import Major, Mismatch, OperandBlocks, Role, Swizzle, descriptor_of, operand_blocks
from ..layout.descriptor import BASE_OFFSET
from ..layout.elements import UNIT_BYTES
from ..layout.swizzle import PHASE_BIT
from . import emit
from .base import OpError, Pass, option
from .kernel import walk
from .parts import Part, part_from, root_layout
from .shared_memory import root_alignment, root_pointer

#: Bits of an address that matrix-descriptor-encode keeps, after its shift by 4.
_START_MASK = 0x3FFFF >> 4


@dataclass(frozen=True)
class MaterializeDescriptors(Pass):
    """Replaces `smem.mma` by `smem.wgmma`, whose operands are descriptors.

    At the root of a tile, one constant is OR'd with the encoded address; what stages and subtiles
    add at run time follows where they are used, what does not change in a loop first. The
    instructions' own steps along m/n and k stay attributes of the op.
    """

    name = "smem-materialize-descriptors"
    description = "turn the tiles that mma read into 64-bit matrix descriptors"

    explain: bool = option(False, "print each operand's descriptor, field by field, as remarks")

    def run(self, module: Any) -> None:
        bases: dict[Any, Any] = {}
        for mma in walk(module, *PRODUCTS):
            self._rewrite(mma, bases)

    def _rewrite(self, mma: Any, bases: dict[Any, Any]) -> None:
        operands = list(mma.operands)
        sparse = extras_of(mma).metadata is not None
        attributes: dict[str, Any] = {}
        with ir.InsertionPoint(mma), mma.location:
            for position, role in enumerate(Role):
                type_ = operands[position].type
                name = operand_element(type_).name
                attributes[f"{role.value}_element"] = ir.StringAttr.get(name)
                if is_multiplicand(type_):
                    attributes |= _in_registers(ir.Context.current, role)
                    continue
                part = part_from(operands[position], mma)
                found = operand_blocks(part.slice.layout, role, sparse)
                if isinstance(found, Mismatch):
                    raise OpError(mma, f"cannot read {role.name}: {found.reason}")
                operands[position] = self._descriptor(mma, role, part, found, bases)
                attributes |= _attributes(ir.Context.current, role, found)
            attributes |= {
                name: mma.attributes[name] for name in MODIFIERS if name in mma.attributes
            }
            made = WgmmaSpOp if sparse else WgmmaOp
            wgmma = ir.Operation.create(
                made.OPERATION_NAME,
                results=[mma.results[0].type],
                operands=operands,
                attributes=attributes,
            )
        mma.results[0].replace_all_uses_with(wgmma.results[0])
        mma.operation.erase()

    def _descriptor(
        self, mma: Any, role: Role, part: Part, found: OperandBlocks, bases: dict[Any, Any]
    ) -> Any:
        """Emits an operand's descriptor for its first instruction."""
        unit = part.slice.layout.element.unit
        if part.slice.multiple % unit:
            raise OpError(
                mma,
                f"reads {role.name} from a part that begins {part.slice.multiple} elements or a "
                f"multiple of that into its tile; descriptors count {unit} elements (16 bytes)",
            )
        offset = part.slice.offset // unit * UNIT_BYTES + found.starts[0][0]
        constant = descriptor_of(found.canonical, 0)
        if self.explain:
            runtime = " plus what is known at run time" if part.terms else ""
            remark(
                mma.location,
                f"{role.name}: {constant}; starts {offset} bytes{runtime} into the tile at "
                f"{format_location(part.root.location)}",
            )
        key = (part.root.operation, constant.encode(), offset)
        if key not in bases:
            bases[key] = _base(part.root, constant.encode(), offset, found.canonical.swizzle)
        total = bases[key]
        for term, start in _outermost_first(part, mma):
            total = emit.binary("addi", total, emit.term_value(term, start, emit.i64(), unit))
        return total


def _base(root: Any, constant: int, offset: int, swizzle: Swizzle) -> Any:
    """The descriptor of what lies `offset` bytes into a root, computed right after the root."""
    i64 = emit.i64()
    with ir.InsertionPoint(root), root.location:
        address = emit.value("llvm.ptrtoint", (root_pointer(root, offset),), i64)
        start = emit.binary("shrui", address, 4)
        start = emit.binary("andi", start, _START_MASK)
        signed = constant - (1 << 64) if constant >> 63 else constant
        descriptor = emit.binary("ori", start, emit.constant(signed, i64))
        if swizzle is Swizzle.NONE or root_alignment(root) % swizzle.pattern_bytes == 0:
            return _opaque(descriptor)
        # The pattern starts with the root, at an address that only the running kernel knows.
        pattern = emit.value("llvm.ptrtoint", (root_pointer(root),), i64)
        lines = root_layout(root).alignment >> PHASE_BIT
        phase = emit.binary("andi", emit.binary("shrui", pattern, PHASE_BIT), lines - 1)
        return _opaque(emit.binary("ori", descriptor, emit.binary("shli", phase, BASE_OFFSET[0])))


def _opaque(descriptor: Any) -> Any:
    """The same value, of which no compiler knows the bits, by empty assembly.

    LLVM would move the constant into the adds that follow, and ptxas 13.0 loses the upper half of a
    sum of such a constant and a thread's number.
    """
    return emit.value(
        "llvm.inline_asm",
        (descriptor,),
        descriptor.type,
        asm_string=ir.StringAttr.get(""),
        constraints=ir.StringAttr.get("=l,0"),
    )


def _outermost_first(part: Part, user: Any) -> list[tuple[Any, Any]]:
    """The run-time terms, those that change least often first: a loop then adds only its own."""

    def depth(value: Any) -> int:
        owner = value.owner
        block = owner if isinstance(owner, ir.Block) else owner.operation.block
        count, op = 0, user.operation
        while op.block.region != block.region:
            count, op = count - 1, op.parent.operation
        return count

    return sorted(part.terms, key=lambda item: depth(item[1]))


@cached_in_context
def _attributes(context: Any, role: Role, found: OperandBlocks) -> dict[str, Any]:
    flat = [step for row in found.steps for step in row]
    return {
        f"{role.value}_major": ir.StringAttr.get(found.canonical.major.value, context),
        f"{role.value}_steps": ir.DenseI64ArrayAttr.get(flat, context),
    }


@cached_in_context
def _in_registers(context: Any, role: Role) -> dict[str, Any]:
    """What is said of an operand that has no descriptor."""
    return {
        f"{role.value}_major": ir.StringAttr.get(Major.K.value, context),
        f"{role.value}_steps": ir.DenseI64ArrayAttr.get([], context),
    }
