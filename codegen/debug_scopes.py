"""Scopes of debug information: files, functions and parts of functions, as aliases of MLIR text."""

import os
from contextlib import suppress

from ..bindings.locations import SourceFrame
from ..bindings.mlir import ir

#: Bytes of the longest path of Linux, with the final zero (PATH_MAX). ptxas 13.5 crashes on a name of
#: 200,000 characters.
_PATH_MAX = 4096

#: ASCII characters that a file name of PTX cannot hold: ptxas ends a string at a quote, has no escapes,
#: and takes a backslash to separate folders.
_NOT_IN_PTX = '"\\'


class Scopes:
    """The scopes of a module, each defined once.

    Attributes:
        definitions: the definition of each alias, in an order in which each uses earlier ones.
    """

    def __init__(self, renamed: dict[str, str]) -> None:
        """`renamed` has other names for files of locations."""
        self.definitions: list[str] = []
        self._renamed = renamed
        self._aliases: dict[str, str] = {}

    def subprogram(self, name: str, frame: SourceFrame) -> str:
        """Return the scope of a function that begins at a position."""
        file = self._file(frame.file)
        return self._alias(
            f"di_subprogram<id = distinct[{{}}]<>, compileUnit = {self._unit(file)}, scope = {file}, "
            f"name = {quote(name)}, linkageName = {quote(name)}, file = {file}, "
            f"line = {frame.line}, scopeLine = {frame.line}, "
            'subprogramFlags = "Definition|Optimized", type = #llvm.di_subroutine_type<>>'
        )

    def inlined_subprogram(self, frame: SourceFrame) -> str:
        """Return the scope of a function that was inlined."""
        return self.subprogram(frame.function or frame.file, SourceFrame(frame.file, 0, 0))

    def block(self, subprogram: str, file: str) -> str:
        """Return the scope of a subprogram's ops from another file than its own."""
        return self._alias(
            f"di_lexical_block_file<scope = {subprogram}, file = {self._file(file)}, "
            "discriminator = 0>"
        )

    def _unit(self, file: str) -> str:
        """Return the compile unit, which has the file of the first function."""
        return self._aliases.get("unit") or self._alias(
            f"di_compile_unit<id = distinct[{{}}]<>, sourceLanguage = DW_LANG_C, file = {file}, "
            'producer = "mlir-smem", isOptimized = true, emissionKind = DebugDirectivesOnly>',
            "unit",
        )

    def _file(self, name: str) -> str:
        directory, name = _path(self._renamed.get(name, name))
        return self._alias(f"di_file<{quote(name)} in {quote(directory)}>")

    def _alias(self, definition: str, key: str | None = None) -> str:
        """Return the alias of an attribute of the LLVM dialect; `{}` in it becomes a new number."""
        key = key or definition
        if key not in self._aliases:
            number = len(self.definitions)
            self._aliases[key] = alias = f"#scope{number}"
            numbered = definition.replace("distinct[{}]", f"distinct[{number}]")
            self.definitions.append(f"{alias} = #llvm.{numbered}")
        return self._aliases[key]


def quote(text: str) -> str:
    """Return text as a string of MLIR."""
    return str(ir.StringAttr.get(text))


def current_directory() -> str:
    """Return the directory of relative names; "" if it was deleted."""
    with suppress(OSError):
        return os.getcwd()
    return ""


def _path(name: str) -> tuple[str, str]:
    """Return (directory, name) of a file, in characters that PTX can hold.

    A relative name gets the current directory, so that LLVM writes an absolute path, as clang and nvcc
    do. Names in angle brackets are no files.
    """
    is_file = not (name.startswith("<") and name.endswith(">"))
    directory = current_directory() if is_file and not os.path.isabs(name) else ""
    return _in_ptx(directory), _in_ptx(name)[1 - _PATH_MAX :]


def _in_ptx(path: str) -> str:
    """Return a path with each byte that PTX cannot hold as in a URI: '%' and two digits."""
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and chr(byte) not in _NOT_IN_PTX else f"%{byte:02X}"
        for byte in os.fsencode(path)
    )
