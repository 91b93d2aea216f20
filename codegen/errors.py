"""What can go wrong between NVVM and a cubin."""

from typing import Any

from ..dialect.diagnostics import emit_op_error, format_location


class CompileError(Exception):
    """A module that cannot be compiled; the message says why and what would do."""


def located(op: Any, message: str) -> CompileError:
    """Emits a diagnostic at an op, and gives the error to raise."""
    emit_op_error(op, message)
    return CompileError(f"'{op.operation.name}' at {format_location(op.location)} {message}")
