"""Errors between NVVM and a cubin."""

from typing import Any


class CompileError(Exception):
    """A module that cannot be compiled; the message gives the reason and what would fit."""


class LocatedError(CompileError):
    """An error whose diagnostic has already been emitted at its op."""


class LLVMRefusal(CompileError):
    """A module that LLVM does not compile."""


def no_temporary_files(error: OSError) -> CompileError:
    """Return the error to raise where temporary files cannot be written."""
    return CompileError(
        f"no temporary file can be written: {error.strerror or error}; TMPDIR can name another folder"
    )


def error_at(op: Any, message: str) -> LocatedError:
    """Emit a diagnostic at an op; return the error to raise."""
    # The process that runs LLVM loads this file, and nothing of the dialect.
    from ..bindings.diagnostics import emit_op_error, format_location

    emit_op_error(op, message)
    return LocatedError(f"'{op.operation.name}' at {format_location(op.location)} {message}")


def unreadable_error(op: Any, subject: str) -> LocatedError | None:
    """Emit a diagnostic for an attribute of an op that the bindings cannot read.

    Args:
        op: the op.
        subject: the op in words, for the message.

    Returns:
        The error to raise; None if the bindings can read all attributes."""
    from ..bindings.diagnostics import emit_unreadable, format_location

    if not emit_unreadable(op):
        return None
    position = format_location(op.location)
    return LocatedError(f"an attribute of {subject} at {position} cannot be read")
