"""Located diagnostics: errors through MLIR's diagnostic engine, remarks through handlers.

The bindings can emit errors only. Remarks go to the handlers registered here; without a handler, they are
printed to standard error in the form that compilers use.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .irtypes import Attribute, Location, Op
from .locations import frames
from .mlir import ir

RemarkHandler = Callable[[Location, str], None]

_handlers: list[RemarkHandler] = []


class Invalid(ValueError):
    """A violated rule of an op or a pass; the message becomes the diagnostic."""


def emit_op_error(op: Op, message: str) -> None:
    """Emit an error at an op in MLIR's form: `'smem.mma' op message`."""
    op.location.emit_error(f"'{op.operation.name}' op {message}")


#: Exceptions of the bindings for an attribute without a Python class, and for text that is not UTF-8.
UNREADABLE = (TypeError, RuntimeError)
#: A part of the message for text that is not UTF-8.
NOT_UTF8 = "conversion error"


def emit_unreadable(op: Op) -> bool:
    """Emit an error for the first attribute of an op that the bindings cannot read (`UNREADABLE`).

    Returns:
        Whether there is one.
    """
    attributes = op.operation.attributes
    for index, name in enumerate(attributes):
        try:
            _read(attributes[name])
        except UNREADABLE as error:
            text = str(attributes[index]).removeprefix("NamedAttribute(").removesuffix(")")
            arrays = "arrays of i8, i16, i32, i64, f32 or f64"
            expected = "UTF-8" if NOT_UTF8 in str(error) else arrays
            emit_op_error(op, f"has {text.replace('=', ' = ', 1)}; expected {expected}")
            return True
    return False


def _read(attribute: Attribute) -> None:
    """Read an attribute and the attributes nested in it.

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
        for named_attribute in attribute:
            _read(attribute[named_attribute.name])


def remark(location: Location, message: str) -> None:
    """Emit a remark at a location."""
    if _handlers:
        _handlers[-1](location, message)
    else:
        print(f"{format_location(location)}: remark: {message}", file=sys.stderr)


@contextmanager
def remark_handler(handler: RemarkHandler) -> Iterator[None]:
    """Send the remarks emitted in the `with` block to `handler(location, message)`."""
    _handlers.append(handler)
    try:
        yield
    finally:
        _handlers.remove(handler)


def file_position(location: Location | str) -> tuple[str, int, int] | None:
    """Return (file, line, column) of a location, or of the first file location nested in it; None if
    there is none."""
    chain = frames(location)
    return chain[0][:3] if chain else None


def format_location(location: Location) -> str:
    """Format a location as `file:line:column`, without the file if the module was parsed from text.

    A location outside of files is formatted as MLIR prints it.
    """
    position = file_position(location)
    if position is None:
        return str(location)
    file, line, column = position
    return f"{line}:{column}" if file == "-" else f"{file}:{line}:{column}"
