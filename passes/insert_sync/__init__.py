"""`smem-insert-sync`: inserts what puts accesses of tiles in the order of the program."""

from dataclasses import dataclass

from ...bindings.irtypes import Module, Op
from ...ir.kernel import functions_of
from ..driver.base import Pass, option
from .accumulators import put_in_flight
from .explain import explain
from .inserted import Registry
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


def insert(function: Op) -> Registry:
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
