"""Debug information with lines: the file, line and call of every op of the LLVM dialect.

LLVM takes the file of a location from its scope. Upstream's `ensure-debug-info-scope-on-llvm-func` gives
the ops of a function the function's file, whatever their own is, so the scopes are made here.
"""

from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from typing import Any

from ..bindings.locations import SourceFrame, frames
from ..bindings.mlir import ir
from ..ir.walk import walk
from .debug_scopes import Scopes, quote

#: The file of a module that was parsed from text, if the caller does not name it.
TEXT = "<string>"

#: The name that the bindings give the file of a module parsed from text.
_PARSED = "-"

#: The scope in the location of a function with debug information.
_SCOPE = "#llvm.di_subprogram<"


def add_line_tables(kernels: Any, source_name: str | None = None) -> None:
    """Give the functions of a gpu.module of the LLVM dialect, and their ops, scopes of debug information.

    From them LLVM writes `.loc` and `.file`, and generates the same instructions, as for clang's
    `-gline-directives-only`.

    A function that has a scope keeps its own.

    Args:
        kernels: the gpu.module.
        source_name: the file of a module that was parsed from text.
    """
    scopes = Scopes({_PARSED: source_name or TEXT})
    ops: dict[str, list[Any]] = {}
    for function in walk(kernels, "llvm.func"):
        if len(function.regions[0].blocks) and _SCOPE not in str(function.location):
            for op, location in _located_ops(function, scopes):
                ops.setdefault(location, []).append(op)
    # Scopes are distinct attributes: parsed one by one, they would not be those of each other.
    carriers = (f"module {{}} loc({location})" for location in ops)
    parsed = ir.Module.parse("\n".join((*scopes.definitions, "module {", *carriers, "}")))
    for carrier, located_ops in zip(parsed.body.operations, ops.values(), strict=True):
        for op in located_ops:
            op.location = carrier.location


def _located_ops(function: Any, scopes: Scopes) -> Iterator[tuple[Any, str]]:
    """Yield a function and those of its ops that have a file, each with its location with scopes."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    function_frames = frames(function.location) or (SourceFrame(_PARSED, 0, 0),)
    subprogram = scopes.subprogram(name, function_frames[0])

    @cache
    def scoped_location(text: str) -> str:
        chain = _within(frames(text), function_frames)
        return _with_scopes(chain, subprogram, function_frames[0].file, scopes) if chain else ""

    for op in walk(function):
        if op == function.operation:
            yield op, _fused_location(function_frames[0], subprogram)
        elif location := scoped_location(str(op.location)):
            yield op, location
        elif op.name == "llvm.call":
            # LLVM requires a location of a call that it could inline.
            yield op, _fused_location(SourceFrame(function_frames[0].file, 0, 0), subprogram)


def _within(
    chain: tuple[SourceFrame, ...], function: tuple[SourceFrame, ...]
) -> tuple[SourceFrame, ...]:
    """Return the calls of an op up to the first that also led to the whole function.

    The outermost calls may differ: the bindings record a limited number of frames.
    """
    outer = set(function[1:])
    return (*chain[:1], *takewhile(lambda frame: frame not in outer, chain[1:]))


def _with_scopes(chain: tuple[SourceFrame, ...], subprogram: str, file: str, scopes: Scopes) -> str:
    """Return a location of calls, the innermost first; the outermost is in the subprogram of a file."""
    *inlined, outermost = chain
    in_same_file = outermost.file == file
    location = _fused_location(
        outermost, subprogram if in_same_file else scopes.block(subprogram, outermost.file)
    )
    for frame in reversed(inlined):
        location = (
            f"callsite({_fused_location(frame, scopes.inlined_subprogram(frame))} at {location})"
        )
    return location


def _fused_location(frame: SourceFrame, scope: str) -> str:
    return f"fused<{scope}>[{quote(frame.file)}:{frame.line}:{frame.column}]"
