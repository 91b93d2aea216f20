"""Generic-form IR for, and from, a host that is built with another version of LLVM.

MLIR's text has no version: a parser refuses the properties that its version of an op does not have. The
tables here list where the ops that this project emits differ. Each entry was tried with mlir-opt 22.1,
with the bindings of numba-cuda-mlir 0.6 (LLVM 23) and with those of torch-mlir (LLVM 24).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ..dialect import new_context
from ..dialect.bindings import ir

#: The oldest version of LLVM that IR is exchanged with.
OLDEST = 22


class HostVersionError(ValueError):
    """An op that the version of LLVM at the other end cannot represent.

    Attributes:
        location: the op's location as MLIR prints it, or "" if the text has no locations.
    """

    def __init__(self, message: str, location: str) -> None:
        super().__init__(message)
        self.location = location


@dataclass(frozen=True)
class Change:
    """A property of an op that a version of LLVM changed.

    Attributes:
        ops: a pattern for the op's name.
        since: the version that changed it.
        found: a pattern for the property.
        written: what stands for it at the other end; None if nothing can.
    """

    ops: str
    since: int
    found: str
    written: str | None


_SCALED = r"nvvm\.tcgen05\.mma(?:\.sp)?\.block_scale"

#: From newer to older.
_NEW_TO_OLD = (
    Change(r"gpu\.barrier", 24, r"scope = #gpu\.barrier_scope<workgroup>", ""),
    Change(r"gpu\.barrier", 24, r"scope = #gpu\.barrier_scope<\w+>", None),
    # Without a list of address spaces, the barrier orders accesses to all of them.
    Change(r"gpu\.barrier", 23, r"address_spaces = \[[^\]]*\]", ""),
    # Before, every barrier was aligned, and reductions were operands of it: the third segment.
    Change(r"nvvm\.barrier", 24, r"aligned = true", ""),
    Change(r"nvvm\.barrier", 24, r"aligned = false", None),
    Change(r"nvvm\.barrier", 24, r"(operandSegmentSizes = array<i32: \d, \d)>", r"\1, 0>"),
    Change(_SCALED, 23, r"#nvvm\.tcgen05_mma_kind<(mx\w+)>", r"#nvvm.block_scale_kind<\1>"),
)

#: From older to newer.
_OLD_TO_NEW = (
    Change(r"nvvm\.barrier", 24, r"(operandSegmentSizes = array<i32: \d, \d), 0>", r"\1>"),
    Change(r"nvvm\.barrier", 24, r"reductionOp = #nvvm\.\w+<\w+>", None),
    Change(_SCALED, 23, r"#nvvm\.block_scale_kind<(mx\w+)>", r"#nvvm.tcgen05_mma_kind<\1>"),
)


def for_llvm(text: str, version: int) -> str:
    """Return a module for a host that is built with an LLVM of a version.

    Args:
        text: a module as this project's bindings print it in the generic form.
        version: the host's major version of LLVM, 22 or newer.

    Raises:
        HostVersionError: at the first op that the host's version cannot represent.
        ValueError: for an older version.
    """
    check_version(version)
    for change in _NEW_TO_OLD:
        if version < change.since:
            text = _changed(
                text,
                change,
                f"which LLVM {change.since} introduced; the host's LLVM {version} does not have it",
            )
    return text


def from_llvm(text: str, version: int) -> str:
    """Return a module of a host for this project's bindings; the reverse of `for_llvm`.

    Args:
        text: a module that the host printed in the generic form.
        version: the host's major version of LLVM, 22 or newer.

    Raises:
        HostVersionError: at the first op that the bindings' version cannot represent.
        ValueError: for an older version.
    """
    check_version(version)
    own = bindings_version()
    for change in _OLD_TO_NEW:
        if version < change.since <= own:
            text = _changed(
                text,
                change,
                f"which the host's LLVM {version} has; LLVM {own}, which reads it, does not",
            )
    return text


def check_version(version: int) -> None:
    """Check the version of a host's LLVM.

    Raises:
        ValueError: if it is too old.
    """
    if version < OLDEST:
        raise ValueError(
            f"LLVM {version} is too old to exchange IR with; expected {OLDEST} or newer"
        )


@cache
def bindings_version() -> int:
    """Return the major version of the LLVM that the bindings are built with, by what they can parse."""
    with new_context() as context:
        context.emit_error_diagnostics = True
        handler = context.attach_diagnostic_handler(lambda _: True)
        for version, attribute in (
            (24, "#gpu.barrier_scope<workgroup>"),
            (23, "#nvvm.tcgen05_mma_kind<mxf4>"),
        ):
            try:
                ir.Attribute.parse(attribute)
            except ir.MLIRError:
                continue
            handler.detach()
            return version
        handler.detach()
    return OLDEST


def _changed(text: str, change: Change, problem: str) -> str:
    """Apply a change to the properties of each op that it concerns.

    Raises:
        HostVersionError: if nothing stands for a property.
    """
    made, end = [], 0
    for op in _ops(text, change.ops):
        properties = op["properties"]
        found = re.search(change.found, properties)
        if found is None:
            continue
        if change.written is None:
            raise HostVersionError(
                f"'{op['name']}' op has {found[0]}, {problem}", _location(text, op.end())
            )
        left = properties[: found.start()] + found.expand(change.written)
        items = left + properties[found.end() :]
        # A removed property leaves a comma.
        items = items.removeprefix(", ").removesuffix(", ").replace(", , ", ", ")
        made += [text[end : op.start("dictionary")], f" <{{{items}}}>" if items else ""]
        end = op.end("dictionary")
    return "".join([*made, text[end:]])


def _ops(text: str, name: str) -> Iterator[re.Match[str]]:
    """Yield the ops of a name that have properties; an op of the generic form starts its line."""
    return re.finditer(
        rf'^[ \t]*(?:%[^"\n]* = )?"(?P<name>{name})"\([^()\n]*\)'
        r"(?P<dictionary> <\{(?P<properties>.*?)\}>)",
        text,
        re.M,
    )


def _location(text: str, at: int) -> str:
    """Return the location of the op without regions whose line contains an offset, or ""."""
    line = text[at : (text + "\n").index("\n", at)]
    found = re.search(r"loc\((#loc\d*|.*)\)\s*$", line)
    if found is None or not found[1].startswith("#loc"):
        return found[1] if found else ""
    defined = re.search(rf"^{found[1]} = loc\((.*)\)$", text, re.M)
    return defined[1] if defined else ""
