"""`smem-materialize-descriptors`: each operand of an mma becomes one 64-bit matrix descriptor."""

from dataclasses import dataclass
from typing import Any

from ..dialect.bindings import ir
from ..dialect.caching import cached_in_context
from ..dialect.diagnostics import format_location, remark
from ..dialect.ops import WgmmaOp, WgmmaSpOp
from ..dialect.ops.mma import MODIFIERS, PRODUCTS, extras_of, operand_element
from ..dialect.types import is_multiplicand
from ..layout import Major, Mismatch, OperandBlocks, Role, descriptor_of
from ..layout.arch import Arch
from .base import OpError, Pass, option
from .descriptors import Descriptors, first_byte
from .kernel import walk
from .parts import Part, part_from


@dataclass(frozen=True)
class MaterializeDescriptors(Pass):
    """Replaces `smem.mma` by `smem.wgmma`, whose operands are descriptors.

    At the root of a tile, one constant is OR'd with the encoded address; what stages and subtiles
    add at run time follows where they are used, what does not change in a loop first. The
    instructions' own steps along m/n and k stay attributes of the op. Where a run-time start cuts
    atoms, the distance of the instructions' blocks varies: each then has a descriptor of its own.
    """

    name = "smem-materialize-descriptors"
    description = "turn the tiles that mma read into 64-bit matrix descriptors"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")
    explain: bool = option(False, "print each operand's descriptor, field by field, as remarks")

    def run(self, module: Any) -> None:
        descriptors = Descriptors()
        for mma in walk(module, *PRODUCTS):
            self._rewrite(mma, descriptors)

    def _rewrite(self, mma: Any, made: Descriptors) -> None:
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
                found = self.arch.blocks(part.slice.layout, role, sparse)
                if isinstance(found, Mismatch):
                    raise OpError(mma, f"cannot read {role.name}: {found.reason}")
                if self.explain:
                    _explain(mma, role, part, found)
                operands[position] = made.of(mma, role, part, found)
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


def _explain(mma: Any, role: Role, part: Part, found: OperandBlocks) -> None:
    runtime = " plus what is known at run time" if part.terms or any(found.terms) else ""
    own = f", {len(found.terms)} descriptors" if len(found.terms) > 1 else ""
    remark(
        mma.location,
        f"{role.name}: {descriptor_of(found.canonical, 0, encoding=found.encoding)}; starts "
        f"{first_byte(part, found)} bytes{runtime} into the tile at "
        f"{format_location(part.root.location)}{own}",
    )


@cached_in_context
def _attributes(context: Any, role: Role, found: OperandBlocks) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        f"{role.value}_major": ir.StringAttr.get(found.canonical.major.value, context),
        f"{role.value}_steps": _numbers(context, found.steps),
    }
    if len(found.terms) > 1:
        attributes[f"{role.value}_bases"] = _numbers(context, found.bases)
    return attributes


def _numbers(context: Any, rows: Any) -> Any:
    return ir.DenseI64ArrayAttr.get([number for row in rows for number in row], context)


@cached_in_context
def _in_registers(context: Any, role: Role) -> dict[str, Any]:
    """What is said of an operand that has no descriptor."""
    return {
        f"{role.value}_major": ir.StringAttr.get(Major.K.value, context),
        f"{role.value}_steps": ir.DenseI64ArrayAttr.get([], context),
    }
