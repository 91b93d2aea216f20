"""What is said of an operand beside its descriptor: attributes, and remarks."""

from collections.abc import Iterable
from typing import Any

from ...dialect.bindings import ir
from ...dialect.caching import cached_in_context
from ...dialect.diagnostics import format_location, remark
from ...dialect.ops.mma_rules import MODIFIERS, PAIR, operand_element
from ...ir.matrix_descriptors import first_byte
from ...ir.subtiles import Subtile
from ...layout import Major, MmaTiles, Role


def explain(mma: Any, name: str, subtile: Subtile, found: MmaTiles) -> None:
    """Remarks on the descriptor of an operand, field by field."""
    runtime = " plus what is known at run time" if any((subtile.terms, *found.terms)) else ""
    own = f", {len(found.terms)} descriptors" if len(found.terms) > 1 else ""
    remark(
        mma.location,
        f"{name}: {found.encoding.of(found.canonical, 0)}; starts "
        f"{first_byte(subtile, found)} bytes{runtime} into the tile at "
        f"{format_location(subtile.allocation.location)}{own}",
    )


@cached_in_context
def said_of(type_: Any, role: Role, found: MmaTiles) -> dict[str, Any]:
    """The attributes of an operand of that type whose blocks are those."""
    letter = role.value
    attributes: dict[str, Any] = {
        f"{letter}_element": ir.StringAttr.get(operand_element(type_).name, type_.context),
        f"{letter}_major": ir.StringAttr.get(found.canonical.major.value, type_.context),
        f"{letter}_steps": numbers(type_.context, found.steps),
    }
    if len(found.terms) > 1:
        attributes[f"{letter}_bases"] = numbers(type_.context, found.bases)
    return attributes


@cached_in_context
def in_registers(type_: Any, role: Role) -> dict[str, Any]:
    """The attributes of an operand that has no descriptor."""
    letter = role.value
    return {
        f"{letter}_element": ir.StringAttr.get(operand_element(type_).name, type_.context),
        f"{letter}_major": ir.StringAttr.get(Major.K.value, type_.context),
        f"{letter}_steps": numbers(type_.context, ()),
    }


def modifiers_of(mma: Any) -> dict[str, Any]:
    """The unit attributes of an mma that its instructions keep."""
    return {name: mma.attributes[name] for name in (*MODIFIERS, PAIR) if name in mma.attributes}


def numbers(context: Any, rows: Iterable[Iterable[int]]) -> Any:
    """Numbers for each block of an operand, row by row."""
    return ir.DenseI64ArrayAttr.get([number for row in rows for number in row], context)
