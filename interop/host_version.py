"""Generic-form IR for, and from, a host that is built with another version of LLVM.

MLIR's text has no version: a parser refuses the properties that its version of an op does not have. The
tables here list where the ops that this project emits differ. Each entry was tried with mlir-opt 22.1,
with the bindings of numba-cuda-mlir 0.6 (LLVM 23) and with those of torch-mlir (LLVM 24).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from ..bindings.mlir import ir
from ..dialect import new_context

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
        pattern: a pattern for the property.
        replacement: its replacement at the other end, a template of `re`; None if there is none.
    """

    ops: str
    since: int
    pattern: str
    replacement: str | None


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
    # Flags only permit, so a conversion without them is right.
    Change(r"llvm\.fp(?:ext|trunc)", 23, r"fastmathFlags = #llvm\.fastmath<[^>]*>", ""),
)

#: From older to newer.
_OLD_TO_NEW = (
    Change(r"nvvm\.barrier", 24, r"(operandSegmentSizes = array<i32: \d, \d), 0>", r"\1>"),
    Change(r"nvvm\.barrier", 24, r"reductionOp = #nvvm\.\w+<\w+>", None),
    Change(_SCALED, 23, r"#nvvm\.block_scale_kind<(mx\w+)>", r"#nvvm.tcgen05_mma_kind<\1>"),
)

#: The version in which two attributes of `gpu.func` became properties: the mark of a kernel, and the
#: number of workgroup attributions. Older versions drop unknown properties of this op without an error.
_FUNCTIONS_SINCE = 23


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
    return between(text, bindings_version(), version)


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
    return between(text, version, bindings_version())


def between(text: str, writer: int, reader: int) -> str:
    """Return what one version of LLVM printed in the generic form as another reads it.

    Args:
        text: the module.
        writer, reader: the major versions of LLVM.

    Raises:
        HostVersionError: at the first op that the reader cannot represent.
    """
    if writer <= reader:
        for change in _OLD_TO_NEW:
            if writer < change.since <= reader:
                lacks = f"which LLVM {writer} has; LLVM {reader}, which reads it, does not"
                text = _apply_change(text, change, lacks)
        crosses = writer < _FUNCTIONS_SINCE <= reader
        return _change_functions(text, _to_new_function) if crosses else text
    for change in _NEW_TO_OLD:
        if reader < change.since:
            lacks = f"which LLVM {change.since} introduced; LLVM {reader} does not have it"
            text = _apply_change(text, change, lacks)
    return _change_functions(text, _to_old_function) if reader < _FUNCTIONS_SINCE else text


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


def _apply_change(text: str, change: Change, problem: str) -> str:
    """Apply a change to the properties of each op that it concerns.

    Raises:
        HostVersionError: if a property has no replacement.
    """
    parts, end = [], 0
    for op in _ops(text, change.ops):
        properties = op["properties"]
        match = re.search(change.pattern, properties)
        if match is None:
            continue
        if change.replacement is None:
            raise HostVersionError(
                f"'{op['name']}' op has {match[0]}, {problem}", _location(text, op.end())
            )
        head = properties[: match.start()] + match.expand(change.replacement)
        properties = head + properties[match.end() :]
        # A removed property leaves a comma.
        properties = properties.removeprefix(", ").removesuffix(", ").replace(", , ", ", ")
        parts += [text[end : op.start("dictionary")], f" <{{{properties}}}>" if properties else ""]
        end = op.end("dictionary")
    return "".join([*parts, text[end:]])


def _ops(text: str, name: str) -> Iterator[re.Match[str]]:
    """Yield the ops of a name that have properties; an op of the generic form starts its line."""
    return re.finditer(
        rf'^[ \t]*(?:%[^"\n]* = )?"(?P<name>{name})"\([^()\n]*\)'
        r"(?P<dictionary> <\{(?P<properties>.*?)\}>)",
        text,
        re.M,
    )


def _change_functions(text: str, change: Callable[[str, str], tuple[str, str]]) -> str:
    """Change the properties and the attributes of each `gpu.func` by a function of them."""
    parts, end = [], 0
    for head in re.finditer(r'^([ \t]*)"gpu\.func"\(\) <\{(.*)\}> \(\{', text, re.M):
        tail = re.compile(rf"^{head[1]}\}}\)(?: \{{(.*)\}})? : \(\) -> \(\)", re.M).search(
            text, head.end()
        )
        if tail is None:
            continue
        properties, attributes = change(head[2], tail[1] or "")
        parts += [
            text[end : head.start()],
            f'{head[1]}"gpu.func"() <{{{properties}}}> ({{',
            text[head.end() : tail.start()],
            f"{head[1]}}}) {{{attributes}}} : () -> ()",
        ]
        end = tail.end()
    return "".join([*parts, text[end:]])


def _to_old_function(properties: str, attributes: str) -> tuple[str, str]:
    """Return the properties and the attributes of a `gpu.func` of LLVM 23 for LLVM 22."""
    if match := re.search(r", workgroup_attributions = \d+ : i64$", properties):
        properties, attributes = properties[: match.start()], attributes + match[0]
    # The properties are sorted; attributes of arguments, which may hold any word, come before the type.
    if match := re.search(r"^.*\bfunction_type = .*?(, kernel)(?=, |$)", properties):
        properties = properties[: match.start(1)] + properties[match.end(1) :]
        attributes = "gpu.kernel, " + re.sub(r"(^|, )gpu\.kernel, ", r"\1", attributes)
    return properties, attributes.removeprefix(", ")


def _to_new_function(properties: str, attributes: str) -> tuple[str, str]:
    """Return the properties and the attributes of a `gpu.func` of LLVM 22 for LLVM 23."""
    if match := re.search(r", workgroup_attributions = (\d+) : i64$", attributes):
        attributes = attributes[: match.start()]
        properties += match[0] if match[1] != "0" else ""
    if match := re.search(r"(?:^|(?<=, ))gpu\.kernel, ", attributes):
        attributes = attributes[: match.start()] + attributes[match.end() :]
        properties += ", kernel"
    return properties, attributes


def _location(text: str, offset: int) -> str:
    """Return the location of the op without regions whose line contains an offset, or ""."""
    line = text[offset : (text + "\n").index("\n", offset)]
    match = re.search(r"loc\((#loc\d*|.*)\)\s*$", line)
    if match is None or not match[1].startswith("#loc"):
        return match[1] if match else ""
    definition = re.search(rf"^{match[1]} = loc\((.*)\)$", text, re.M)
    return definition[1] if definition else ""
