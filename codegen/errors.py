"""What can go wrong between NVVM and a cubin."""

from typing import Any


class CompileError(Exception):
    """A module that cannot be compiled; the message says why and what would do."""


class LocatedError(CompileError):
    """An error of which a diagnostic has been emitted at its place."""


class LLVMRefusal(CompileError):
    """LLVM does not compile what a module holds."""


def located(op: Any, message: str) -> LocatedError:
    """Emits a diagnostic at an op, and gives the error to raise."""
    # The process that runs LLVM loads this file, and nothing of the dialect.
    from ..dialect.diagnostics import emit_op_error, format_location

    emit_op_error(op, message)
    return LocatedError(f"'{op.operation.name}' at {format_location(op.location)} {message}")


def unreadable(op: Any, what: str) -> LocatedError | None:
    """Emits a diagnostic for an attribute of an op that the bindings cannot read, and gives the error to
    raise, which calls the op `what`; None if they can read all."""
    from ..dialect.diagnostics import emit_unreadable, format_location

    if not emit_unreadable(op):
        return None
    place = format_location(op.location)
    return LocatedError(f"an attribute of {what} at {place} cannot be read")
