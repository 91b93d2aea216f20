"""A module of one bindings package as a module of another: printed by one, parsed by the other.

The generic form with locations depends least on the version of MLIR: assembly formats change more often
than ops do. An older version ignores a property that it does not have, without an error. What was read is
therefore compared with what was printed. Where the generic form is refused or loses something, known
differences are rewritten (`host_version`, `properties`); the pretty form is the last attempt. A version
number alone is no reason to rewrite: the numbers of development versions say little.
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
from .properties import move_to_attributes
from .spelling import respell

#: Characters of a printed line that a message quotes.
_QUOTED = 80

#: An error of an op of `smem`, from its verifier or from IRDL, which does not name the op.
_OF_SMEM = re.compile(r"(^|: )('smem\.[\w.]+' op|op) ")


class ExchangeError(ValueError):
    """A module that one bindings package prints and another cannot read without a loss."""


@dataclass(frozen=True)
class BindingsContext:
    """A bindings package that exchanges modules, and the context of its module.

    Attributes:
        package: its name, for example "jaxlib.mlir".
        ir: its module `ir`.
        context: a context of it.
    """

    package: str
    ir: Any
    context: Context

    @classmethod
    def of(cls, module: Module) -> "BindingsContext":
        """Return the package and the context of a module."""
        package = str(package_of(module))
        return cls(package, import_module(f"{package}.ir"), module.context)

    @classmethod
    def ours(cls, context: Context) -> "BindingsContext":
        """Return a context of the bindings that this process uses."""
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


def is_module(instance: Any) -> bool:
    """Return whether an object is a `builtin.module` of any bindings package."""
    operation = getattr(instance, "operation", None)
    return package_of(instance) is not None and getattr(operation, "name", None) == "builtin.module"


def llvm_version(package: str) -> int | None:
    """Return the major version of LLVM of a bindings package; None if it is not known."""
    version = mlir_version(package)
    return int(version.partition(".")[0]) if version else None


def exchange(module: Any, reader: BindingsContext) -> Module:
    """Return a module as a module of another bindings package, with its locations.

    Raises:
        ExchangeError: if the other package cannot read it, or would lose an attribute.
        MLIRError: with located diagnostics, if an op of `smem` in it is wrong.
    """
    writer = BindingsContext.of(module)
    problems = []
    for printed in _forms(module, writer, reader):
        text = respell(printed, reader.ir, reader.context)
        try:
            parsed = reader.parse(text)
        except reader.ir.MLIRError as error:
            if _OF_SMEM.search(_first_error(error)):
                raise
            problems.append(
                f"{reader} cannot read what {writer} printed: {_quote_error(error, text)}"
            )
            continue
        loss = next(_losses(module, parsed, writer), None)
        if loss is None:
            return parsed
        problems.append(f"{reader} would lose {loss}, which {writer} printed")
    # The problem of the module is that of most forms; others concern one form.
    raise ExchangeError(Counter(problems).most_common(1)[0][0])


def _forms(module: Module, writer: BindingsContext, reader: BindingsContext) -> Iterator[str]:
    """Yield the text of a module with locations, in the forms that are tried, in this order."""
    yield from _generic_forms(module, writer, reader)
    yield module.operation.get_asm(enable_debug_info=True)


def _generic_forms(
    module: Module, writer: BindingsContext, reader: BindingsContext
) -> Iterator[str]:
    """Yield the generic form, then that form with known differences rewritten, if there are any."""
    generic = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    yield generic
    changed = _by_version(generic, writer, reader)
    if changed != generic:
        yield changed
    moved = move_to_attributes(changed)
    if moved != changed:
        yield moved


def _by_version(text: str, writer: BindingsContext, reader: BindingsContext) -> str:
    """Return the text with the differences between the versions of two packages rewritten."""
    writer_version, reader_version = llvm_version(writer.package), llvm_version(reader.package)
    if (
        writer_version is None
        or reader_version is None
        or min(writer_version, reader_version) < OLDEST
    ):
        return text
    try:
        return between(text, writer_version, reader_version)
    except HostVersionError:
        # The parser names the op that it does not have.
        return text


def _first_error(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    messages = (line.removeprefix("error: ") for line in lines if line.startswith("error: "))
    return next(messages, lines[0] if lines else "")


def _quote_error(error: Exception, text: str) -> str:
    """Return the first message of a parser, with the line of the text if it points into the text."""
    message = _first_error(error)
    if "undefined symbol alias" in message and "'loc" not in message:
        message += " (aliases within types of smem stay as they are; write them out)"
    match = re.match(r'"-":(\d+):\d+: ', message)
    lines = text.splitlines()
    # An op that is refused is at its location in the module, which can have the same file name.
    if not match or message[match.end()] == "'" or not 0 < int(match[1]) <= len(lines):
        return message
    line = lines[int(match[1]) - 1].strip()
    excerpt = line if len(line) <= _QUOTED else line[:_QUOTED] + "..."
    return f"{message[match.end() :]}, in {excerpt}"


def _losses(original: Module, parsed: Module, writer: BindingsContext) -> Iterator[str]:
    """Yield descriptions of attributes that were printed and not read.

    The two modules have the same ops, since one was parsed from the text of the other. An attribute that
    only the reader has is a default of its version. One that only the writer has is lost, unless it is a
    default that the writer sets again when it reads the module back.
    """
    missing = [
        (index, op, name)
        for index, (op, parsed_op) in enumerate(zip(_ops(original), _ops(parsed), strict=True))
        for name in sorted(_attribute_names(op) - _attribute_names(parsed_op))
    ]
    if not missing:
        return
    reread = _read_back(parsed, writer)
    for index, op, name in missing:
        if reread is None or _attribute(reread[index], name) != _attribute(op, name):
            yield f"the attribute '{name}' of '{op.operation.name}' at {op.operation.location}"


def _read_back(parsed: Module, writer: BindingsContext) -> list[Op] | None:
    """Return the ops of a module after the writer has read it back; None if it cannot."""
    for printed in _generic_forms(parsed, BindingsContext.of(parsed), writer):
        try:
            return list(_ops(writer.parse(respell(printed, writer.ir, writer.context))))
        except writer.ir.MLIRError:
            continue
    return None


def _attribute(op: Op, name: str) -> str | None:
    attributes = op.operation.attributes
    return str(attributes[name]) if name in attributes else None


def _ops(root: Any) -> Iterator[Any]:
    """Yield the ops in `root` in pre-order; `ir.walk` is for ops of the bindings in use."""
    yield root
    for region in root.operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield from _ops(op)


def _attribute_names(op: Op) -> set[str]:
    # Depending on their version, the bindings iterate over names or over attributes with names.
    return {entry if isinstance(entry, str) else entry.name for entry in op.operation.attributes}
