"""Says of each inserted op what it puts in order."""

from __future__ import annotations

from ...dialect.diagnostics import remark
from ..check_async.report import at
from .inserted import Inserted


def explain(inserted: list[Inserted]) -> None:
    """Emit a remark for each inserted op, at the op before which it is."""
    for each in inserted:
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
