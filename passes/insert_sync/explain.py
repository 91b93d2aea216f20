"""Says of each inserted op what it puts in order."""

from __future__ import annotations

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Op
from ...ir.walk import walk
from ..order.report import at
from .inserted import Inserted, Registry


def explain(function: Op, inserted: Registry) -> None:
    """Emit a remark for each op that was inserted into a function, in the order of the ops; the remark is
    at the op before which it is."""
    places = {op.operation: i for i, op in enumerate(walk(function))}
    for each in sorted(inserted, key=lambda each: places[each.op.operation]):
        remark(each.op.location, f"inserted {_name(each)}: {_reason(each)}")


def _name(each: Inserted) -> str:
    kind = each.kind._replace(elected=False, pending=None)
    pending = "" if each.pending is None else f" with pending = {each.pending}"
    return f"{kind}{pending}"


def _reason(each: Inserted) -> str:
    if each.reader is not None:
        return f"the {at(each.reader)} reads the accumulator"
    pairs = {(order.earlier, order.op): None for order in each.orders}
    (earlier, later), *others = pairs
    more = f", and {len(others)} more" if others else ""
    return f"the {at(earlier)} is over before the {at(later)}{more}"
