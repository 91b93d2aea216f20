"""A module of one bindings package as a module of another: printed by one, parsed by the other.

The generic form with locations depends least on the version of MLIR: assembly formats change more often
than ops do. But a property that a newer version has and an older one lacks is ignored there without a
word, so what was read is compared with what was printed. Where the generic form is refused or loses
something, the changes that are known are made (`host_version`, `properties`), and the pretty form is the
last attempt. Nothing is changed for a version number alone, since the numbers of development versions say
little.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..bindings.irtypes import Context, Module, Op
from ..bindings.mlir import PACKAGE
from ..bindings.mlir import ir as our_ir
from ..bindings.packages import mlir_version, package_of
from ..bindings.parsing import parse_module
from .host_version import OLDEST, HostVersionError, between
from .properties import moved_to_attributes
from .spelling import respelled

#: Characters of a printed line that a message quotes.
_QUOTED = 80

#: An error of an op of `smem`, from its verifier or from IRDL, which does not name the op.
_OF_SMEM = re.compile(r"(^|: )('smem\.[\w.]+' op|op) ")


class ExchangeError(ValueError):
    """A module that one bindings package prints and another cannot read without a loss."""


@dataclass(frozen=True)
class Side:
    """One of two bindings packages that exchange modules.

    Attributes:
        package: its name, for example "jaxlib.mlir".
        ir: its module `ir`.
        context: its context.
    """

    package: str
    ir: Any
    context: Context

    @classmethod
    def of(cls, module: Module) -> "Side":
        """Return the side that a module is of."""
        package = str(package_of(module))
        return cls(package, import_module(f"{package}.ir"), module.context)

    @classmethod
    def ours(cls, context: Context) -> "Side":
        """Return the side of the bindings that this process uses."""
        return cls(PACKAGE, our_ir, context)

    def __str__(self) -> str:
        version = llvm_version(self.package)
        return f"{self.package} (LLVM {version})" if version else self.package

    def parse(self, text: str) -> Module:
        """Parse a module.

        Raises:
            MLIRError: of this package.
        """
        with self.context:
            if self.package == PACKAGE:
                return parse_module(text)
            return self.ir.Module.parse(text)


def is_module(given: Any) -> bool:
    """Return whether an object is a `builtin.module` of any bindings package."""
    operation = getattr(given, "operation", None)
    return package_of(given) is not None and getattr(operation, "name", None) == "builtin.module"


def llvm_version(package: str) -> int | None:
    """Return the major version of LLVM of a bindings package; None if it is not known."""
    version = mlir_version(package)
    return int(version.partition(".")[0]) if version else None


def exchange(module: Module, to: Side) -> Module:
    """Return a module as a module of another bindings package, with its locations.

    Raises:
        ExchangeError: if the other package cannot read it, or would lose an attribute.
        MLIRError: with located diagnostics, if an op of `smem` in it is wrong.
    """
    writer = Side.of(module)
    problems = []
    for printed in _forms(module, writer, to):
        text = respelled(printed, to.ir, to.context)
        try:
            read = to.parse(text)
        except to.ir.MLIRError as error:
            if _OF_SMEM.search(_first_error(error)):
                raise
            problems.append(f"{to} cannot read what {writer} printed: {_quoted(error, text)}")
            continue
        lost = next(_lost(module, read, writer), None)
        if lost is None:
            return read
        problems.append(f"{to} would lose {lost}, which {writer} printed")
    # A problem of a form alone hides that of the module.
    raise ExchangeError(Counter(problems).most_common(1)[0][0])


def _forms(module: Module, writer: Side, to: Side) -> Iterator[str]:
    """Yield the text of a module with locations, in the forms that are tried, in this order."""
    yield from _generic_forms(module, writer, to)
    yield module.operation.get_asm(enable_debug_info=True)


def _generic_forms(module: Module, writer: Side, to: Side) -> Iterator[str]:
    """Yield the generic form, and then the changes that are known, as far as they change it."""
    generic = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    yield generic
    changed = _by_version(generic, writer, to)
    if changed != generic:
        yield changed
    moved = moved_to_attributes(changed)
    if moved != changed:
        yield moved


def _by_version(text: str, writer: Side, to: Side) -> str:
    """The text with the changes between the versions of two packages."""
    written, read = llvm_version(writer.package), llvm_version(to.package)
    if written is None or read is None or min(written, read) < OLDEST:
        return text
    try:
        return between(text, written, read)
    except HostVersionError:
        # The parser names the op that it does not have.
        return text


def _first_error(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    found = (line.removeprefix("error: ") for line in lines if line.startswith("error: "))
    return next(found, lines[0] if lines else "")


def _quoted(error: Exception, text: str) -> str:
    """The first message of a parser, with the line of the text if it points into the text."""
    message = _first_error(error)
    if "undefined symbol alias" in message and "'loc" not in message:
        message += " (aliases within types of smem stay as they are; write them out)"
    at = re.match(r'"-":(\d+):\d+: ', message)
    lines = text.splitlines()
    # An op that is refused is at its location in the module, which can have the same file name.
    if not at or message[at.end()] == "'" or not 0 < int(at[1]) <= len(lines):
        return message
    line = lines[int(at[1]) - 1].strip()
    shown = line if len(line) <= _QUOTED else line[:_QUOTED] + "..."
    return f"{message[at.end() :]}, in {shown}"


def _lost(printed: Module, read: Module, writer: Side) -> Iterator[str]:
    """Yield descriptions of attributes that were printed and not read.

    The two modules have the same ops, since one was parsed from the text of the other. An attribute that
    only the reader has is a default of its version. One that only the writer has is lost, unless it is a
    default that the writer sets again when it reads the module back.
    """
    missing = [
        (at, op, name)
        for at, (op, other) in enumerate(zip(_ops(printed), _ops(read), strict=True))
        for name in sorted(_attribute_names(op) - _attribute_names(other))
    ]
    if not missing:
        return
    back = _read_back(read, writer)
    for at, op, name in missing:
        if back is None or _attribute(back[at], name) != _attribute(op, name):
            yield f"the attribute '{name}' of '{op.operation.name}' at {op.operation.location}"


def _read_back(read: Module, writer: Side) -> list[Op] | None:
    """The ops of a module after the writer has read it back; None if it cannot."""
    for printed in _generic_forms(read, Side.of(read), writer):
        try:
            return list(_ops(writer.parse(respelled(printed, writer.ir, writer.context))))
        except writer.ir.MLIRError:
            continue
    return None


def _attribute(op: Op, name: str) -> str | None:
    attributes = op.operation.attributes
    return str(attributes[name]) if name in attributes else None


def _ops(root: Op) -> Iterator[Op]:
    """Yield the ops in `root` in pre-order; `ir.walk` is for ops of the bindings in use."""
    yield root
    for region in root.operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield from _ops(op)


def _attribute_names(op: Op) -> set[str]:
    # Depending on their version, the bindings iterate over names or over attributes with names.
    return {each if isinstance(each, str) else each.name for each in op.operation.attributes}
