"""What a kernel assumes: the conditions of `llvm.intr.assume`.

An assumption holds wherever its block is executed: a run in which it does not has no meaning (LLVM
language reference, "llvm.assume intrinsic"), and the emulator stops at it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Op
from ...ir.errors import OpError
from ...ir.walk import walk
from .describe import PolynomialPrinter
from .intervals import Intervals
from .values import SymbolicValues

#: The op, of upstream's LLVM dialect.
ASSUME = "llvm.intr.assume"


def assume_all(ops: Iterable[Op], values: SymbolicValues, known: Intervals) -> None:
    """Add the conditions of assumptions to what is known.

    Args:
        ops: the ops of a block, of which the assumptions count.
        values: the integers of the function.
        known: what is known of integers; updated.

    Raises:
        OpError: if an assumption is false, or contradicts those before it.
    """
    for op in ops:
        if op.name != ASSUME:
            continue
        condition = values.polynomial(op.operands[0])
        if not known.assume_condition(condition, True):
            text = PolynomialPrinter(values.function, values.symbols).text(condition)
            assumed = f"assumes {text}, which" if text else "assumes what"
            alone = Intervals().assume_condition(condition, True)
            why = "contradicts an assumption or a branch before it" if alone else "never holds"
            raise OpError(op, f"{assumed} {why}; expected a condition that some run meets")


def check_assumptions(function: Op) -> None:
    """Check that the assumptions of each block can hold together.

    Raises:
        OpError: if they cannot.
    """
    blocks = dict.fromkeys(op.operation.block for op in walk(function, ASSUME))
    values = SymbolicValues(function) if blocks else None
    for block in blocks:
        assert values is not None
        assume_all((op.operation for op in block.operations), values, Intervals())


def remark_assumptions(function: Op) -> None:
    """Print a remark at each assumption of a function."""
    values = SymbolicValues(function)
    description = PolynomialPrinter(function, values.symbols)
    for op in walk(function, ASSUME):
        text = description.text(values.polynomial(op.operands[0]))
        remark(op.location, f"assumed, not proven: {text or 'this condition'}")
