"""`smem-insert-sync`: inserts what puts accesses of tiles in the order of the program."""

from __future__ import annotations

from dataclasses import dataclass

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Module, Op
from ...ir.kernel import functions_of
from ...ir.walk import walk
from ..driver.base import Pass, option
from ..order.report import label
from .accumulators import put_in_flight
from .inserted import InsertedOp, InsertedOps
from .insertion import Insertion
from .minimize import minimize

__all__ = ["InsertSync"]


@dataclass(frozen=True)
class InsertSync(Pass):
    """Inserts what program order needs: waits, groups of copies, fences and barriers.

    In its input, each op is complete, for all threads of its partition, before the next one begins.
    """

    name = "smem-insert-sync"
    description = "insert the waits, groups of copies, fences and barriers that program order needs"
    takes_program_order = True

    explain: bool = option(False, "print what each inserted op puts in order as remarks")

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            inserted = insert(function)
            if self.explain:
                explain(function, inserted)


def insert(function: Op) -> InsertedOps:
    """Put the accesses of a function in the order of its ops; return the ops that were inserted.

    Raises:
        OpError: if an access cannot be put in order, or it is not known how.
    """
    readers = put_in_flight(function)
    insertion = Insertion(function, readers)
    insertion.run()
    minimize(insertion)
    if not insertion.check_whole():
        insertion.run()
        minimize(insertion)
    insertion.inserted.questions = insertion.questions
    return insertion.inserted


def explain(function: Op, inserted: InsertedOps) -> None:
    """Emit a remark for each op that was inserted into a function, in program order. Its location is
    that of the op before which it was inserted."""
    positions = {op.operation: i for i, op in enumerate(walk(function))}
    for inserted_op in sorted(
        inserted, key=lambda inserted_op: positions[inserted_op.op.operation]
    ):
        remark(inserted_op.op.location, f"inserted {_name(inserted_op)}: {_reason(inserted_op)}")


def _name(inserted_op: InsertedOp) -> str:
    kind = inserted_op.kind._replace(elected=False, pending=None)
    pending = "" if inserted_op.pending is None else f" with pending = {inserted_op.pending}"
    return f"{kind}{pending}"


def _reason(inserted_op: InsertedOp) -> str:
    if inserted_op.reader is not None:
        return f"the {label(inserted_op.reader)} reads the accumulator"
    pairs = {(order.earlier, order.op): None for order in inserted_op.orders}
    (earlier, later), *other_pairs = pairs
    more = f", and {len(other_pairs)} more" if other_pairs else ""
    return f"the {label(earlier)} is over before the {label(later)}{more}"
