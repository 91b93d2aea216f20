"""Located diagnostics: errors through MLIR's own engine, remarks through ours.

The bindings can emit errors only, so remarks go to the handlers registered here; without any, they
are printed to standard error in the form that compilers use.
"""

import functools
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..layout import LayoutError
from .bindings import ir

RemarkHandler = Callable[[Any, str], None]

_handlers: list[RemarkHandler] = []


class Invalid(ValueError):
    """A rule of an op or a pass that the IR breaks; the message becomes the diagnostic."""


def emit_op_error(op: Any, message: str) -> None:
    """Emits an error at an op, worded as MLIR words them."""
    op.location.emit_error(f"'{op.operation.name}' op {message}")


def verifier(check: Callable[[Any], None]) -> Any:
    """Makes a verifier of the bindings (true or false) of a check that raises `Invalid`.

    Checks are named `verify_region_invariants`: those named `verify_invariants` run before IRDL has
    made sure that operands, results and attributes are there.
    """

    @functools.wraps(check)
    def verify(op: Any) -> bool:
        try:
            check(op)
        except (Invalid, LayoutError) as error:
            emit_op_error(op, str(error))
            return False
        except UNREADABLE as error:
            if not emit_unreadable(op):
                if _NO_TEXT not in str(error):
                    raise
                emit_op_error(op, "has a type with text that is not UTF-8")
            return False
        return True

    return staticmethod(verify)


#: What the bindings raise for an attribute that they have no class for, and for text that is not UTF-8.
UNREADABLE = (TypeError, RuntimeError)
_NO_TEXT = "conversion error"


def emit_unreadable(op: Any) -> bool:
    """Emits an error for an attribute of an op that the bindings cannot read (`UNREADABLE`); False if
    there is none."""
    attributes = op.operation.attributes
    for index, name in enumerate(attributes):
        try:
            _read(attributes[name])
        except UNREADABLE as error:
            text = str(attributes[index]).removeprefix("NamedAttribute(").removesuffix(")")
            arrays = "arrays of i8, i16, i32, i64, f32 or f64"
            expected = "UTF-8" if _NO_TEXT in str(error) else arrays
            emit_op_error(op, f"has {text.replace('=', ' = ', 1)}; expected {expected}")
            return True
    return False


def _read(attribute: Any) -> None:
    """Reads an attribute and those in it.

    Raises:
        TypeError, RuntimeError: if the bindings cannot.
    """
    attribute = attribute.maybe_downcast()
    if isinstance(attribute, ir.StringAttr):
        _ = attribute.value
    elif isinstance(attribute, ir.ArrayAttr):
        for index in range(len(attribute)):
            _read(attribute[index])
    elif isinstance(attribute, ir.DictAttr):
        for each in attribute:
            _read(attribute[each.name])


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


def place_of(location: Any) -> tuple[str, int, int] | None:
    """(file, line, column) of a location, or of the first place that it is made of; None without.

    The text of a location is the one form that every kind of it has.
    """
    found = re.search(r'"([^"]*)":(\d+):(\d+)', str(location))
    return (found[1], int(found[2]), int(found[3])) if found else None


def format_location(location: Any) -> str:
    """`file:line:column`, without the file where the module was parsed from text; MLIR's own form
    for locations that are no place in a file."""
    place = place_of(location)
    if place is None:
        return str(location)
    file, line, column = place
    return f"{line}:{column}" if file == "-" else f"{file}:{line}:{column}"
