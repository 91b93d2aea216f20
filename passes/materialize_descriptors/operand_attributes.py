"""Attributes of an op on descriptors that describe an operand, and remarks on its descriptor."""

from collections.abc import Iterable

from ...bindings.diagnostics import format_location, remark
from ...bindings.irtypes import Attribute, Context, Type
from ...bindings.mlir import ir
from ...dialect.caching import cached_in_context
from ...dialect.ops import TileMma
from ...dialect.ops.mma_rules import MODIFIERS, PAIR, operand_element
from ...ir.matrix_descriptors import first_byte
from ...ir.subtiles import Subtile
from ...layout import Major, MmaTiles, Role


def explain(mma: TileMma, name: str, subtile: Subtile, mma_tiles: MmaTiles) -> None:
    """Emit a remark on the descriptor of an operand, field by field."""
    runtime = " plus an offset known at run time" if any((subtile.terms, *mma_tiles.terms)) else ""
    count = f", {len(mma_tiles.terms)} descriptors" if len(mma_tiles.terms) > 1 else ""
    remark(
        mma.location,
        f"{name}: {mma_tiles.encoding.of(mma_tiles.canonical, 0)}; starts "
        f"{first_byte(subtile, mma_tiles)} bytes{runtime} into the tile at "
        f"{format_location(subtile.allocation.location)}{count}",
    )


@cached_in_context
def descriptor_attributes(type_: Type, role: Role, mma_tiles: MmaTiles) -> dict[str, Attribute]:
    """Return the attributes of an operand with a descriptor.

    Args:
        type_: its type.
        role: A or B.
        mma_tiles: its MMA tiles.
    """
    letter = role.value
    attributes: dict[str, Attribute] = {
        f"{letter}_element": ir.StringAttr.get(operand_element(type_).name, type_.context),
        f"{letter}_major": ir.StringAttr.get(mma_tiles.canonical.major.value, type_.context),
        f"{letter}_steps": numbers(type_.context, mma_tiles.steps),
    }
    if len(mma_tiles.terms) > 1:
        attributes[f"{letter}_bases"] = numbers(type_.context, mma_tiles.bases)
    return attributes


@cached_in_context
def register_attributes(type_: Type, role: Role) -> dict[str, Attribute]:
    """Return the attributes of an operand in registers, which has no descriptor."""
    letter = role.value
    return {
        f"{letter}_element": ir.StringAttr.get(operand_element(type_).name, type_.context),
        f"{letter}_major": ir.StringAttr.get(Major.K.value, type_.context),
        f"{letter}_steps": numbers(type_.context, ()),
    }


def modifiers_of(mma: TileMma) -> dict[str, Attribute]:
    """Return the unit attributes of an mma that its instructions keep."""
    return {name: mma.attributes[name] for name in (*MODIFIERS, PAIR) if name in mma.attributes}


def numbers(context: Context, rows: Iterable[Iterable[int]]) -> Attribute:
    """Return numbers for each MMA tile of an operand, row by row, as an array attribute."""
    return ir.DenseI64ArrayAttr.get([number for row in rows for number in row], context)
