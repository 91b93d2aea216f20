"""Located diagnostics: errors through MLIR's own engine, remarks through ours.

The bindings can emit errors only, so remarks go to the handlers registered here; without any, they
are printed to standard error in the form that compilers use.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..layout import LayoutError

RemarkHandler = Callable[[Any, str], None]

_handlers: list[RemarkHandler] = []


class Invalid(Exception):
    """A rule of an op or a pass that the IR breaks; the message becomes the diagnostic."""


class Reported(Exception):
    """An error that has been emitted as a diagnostic; whoever catches it only has to stop."""


def emit_op_error(op: Any, message: str) -> None:
    """Emits an error at an op, worded as MLIR words them."""
    op.location.emit_error(f"'{op.operation.name}' op {message}")


def verifier(check: Callable[[Any], None]) -> Any:
    """Makes a verifier of the bindings (true or false) of a check that raises `Invalid`."""

    @functools.wraps(check)
    def verify_invariants(op: Any) -> bool:
        try:
            check(op)
        except (Invalid, LayoutError) as error:
            emit_op_error(op, str(error))
            return False
        return True

    return staticmethod(verify_invariants)


def remark(location: Any, message: str) -> None:
    """Emits a remark at a location."""
    if _handlers:
        _handlers[-1](location, message)
    else:
        print(f"{format_location(location)}: remark: {message}", file=sys.stderr)


@contextmanager
def remark_handler(handler: RemarkHandler) -> Iterator[None]:
    """Sends the remarks that are emitted within to `handler(location, message)`."""
    _handlers.append(handler)
    try:
        yield
    finally:
        _handlers.remove(handler)


def format_location(location: Any) -> str:
    """`file:line:column`, or MLIR's own text for locations that have none."""
    try:
        return f"{location.filename}:{location.start_line}:{location.start_col}".replace('"', "")
    except AttributeError:
        return str(location)
