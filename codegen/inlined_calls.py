"""The calls of inlined instructions in PTX: `.loc` with `inlined_at` (PTX ISA, "Debugging Directives").

The NVPTX target of llvmlite writes only the innermost position of a location. Each inlined position
therefore gets a unique number as its line before LLVM runs, and its calls in PTX afterwards.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NODE = re.compile(
    r"^!(?P<id>\d+) = (?:distinct )?!DI(?:Location|Subprogram|LexicalBlock|LexicalBlockFile|File)"
    r"\((?P<fields>.*)\)$",
    re.M,
)

#: A field of a node. LLVM writes a quote in a string as \22.
_FIELD = re.compile(r'(\w+): (?:"([^"]*)"|!?([^,\s]+))')

_LINE = re.compile(r"\b(?:line|scopeLine): (\d+)")

_LOC = re.compile(r"^\s*\.loc\s+(?P<file>\d+) (?P<line>\d+) (?P<column>\d+)$", re.M)

_FILE = re.compile(r'^\s*\.file\s+(\d+) "(.*)"$', re.M)

#: The largest line of LLVM.
_MAX_LINE = (1 << 32) - 1


class _DebugLocation(NamedTuple):
    """A `DILocation` of LLVM, without its column.

    Attributes:
        line: the line.
        scope: the node of its function or file.
        caller: the node of the location that it is inlined at; "" if it is not inlined.
    """

    line: int
    scope: str
    caller: str


class InlinedCalls:
    """The inlined positions of a module.

    Attributes:
        llvm_ir: the module, with a number in place of the line of each inlined position.
    """

    def __init__(self, llvm_ir: str) -> None:
        self.llvm_ir = llvm_ir
        self._positions: dict[int, _DebugLocation] = {}
        if "inlinedAt:" not in llvm_ir:
            return
        self._nodes = {node["id"]: _fields(node) for node in _NODE.finditer(llvm_ir)}
        inlined = {
            id_: _debug_location(fields)
            for id_, fields in self._nodes.items()
            if "inlinedAt" in fields and fields["line"] != "0"
        }
        # No line of the module is one of the numbers.
        first = 1 + max(int(line) for line in _LINE.findall(llvm_ir))
        # Equal positions share a number, so that LLVM merges their instructions' locations to it.
        numbers = {
            location: first + n for n, location in enumerate(dict.fromkeys(inlined.values()))
        }
        if first + len(numbers) > _MAX_LINE:
            return
        self._positions = {number: position for position, number in numbers.items()}

        def number_line(node: re.Match[str]) -> str:
            if node["id"] not in inlined:
                return node[0]
            return _LINE.sub(f"line: {numbers[inlined[node['id']]]}", node[0], count=1)

        self.llvm_ir = _NODE.sub(number_line, llvm_ir)

    def in_ptx(self, ptx: str) -> str:
        """Return the PTX of the numbered module, with lines and calls in place of the numbers."""
        if not self._positions:
            return ptx
        files = {name: int(number) for number, name in _FILE.findall(ptx)}
        last_known, functions = max(files.values(), default=0), {}

        def restore_calls(loc: re.Match[str]) -> str:
            position = self._positions.get(int(loc["line"]))
            if position is None:
                return loc[0]
            return "\n".join(self._directives(position, loc["column"], files, functions))

        ptx = _LOC.sub(restore_calls, ptx)
        added = [
            f'\t.file\t{number} "{name}"' for name, number in files.items() if number > last_known
        ]
        return "\n".join((ptx.rstrip("\n"), *added, *_strings(functions), ""))

    def _directives(
        self,
        position: _DebugLocation,
        column: str,
        files: dict[str, int],
        functions: dict[str, int],
    ) -> Iterator[str]:
        """Yield the directives of a position, after those of its callers, which PTX wants before."""
        position_text = f"{self._number_of_file(position.scope, files)} {position.line} {column}"
        if not position.caller:
            yield f"\t.loc\t{position_text}"
            return
        fields = self._nodes[position.caller]
        caller, column = _debug_location(fields), fields.get("column", "0")
        yield from self._directives(caller, column, files, functions)
        name = self._of_scope(position.scope, "name")
        label = f"$L__info_string{functions.setdefault(name, len(functions))}"
        call_site = f"{self._number_of_file(caller.scope, files)} {caller.line} {column}"
        yield f"\t.loc\t{position_text}, function_name {label}, inlined_at {call_site}"

    def _number_of_file(self, scope: str, files: dict[str, int]) -> int:
        """Return the number of a scope's file; a new one if LLVM has not written the file."""
        file = self._nodes.get(self._of_scope(scope, "file"), {})
        name, directory = file.get("filename", ""), file.get("directory", "")
        # LLVM writes the path in this form.
        path = name if not directory or name.startswith("/") else f"{directory}/{name}"
        return files.setdefault(path, 1 + max(files.values(), default=0))

    def _of_scope(self, scope: str, field: str) -> str:
        """Return a field of the innermost scope that has it; "" if none has."""
        while scope in self._nodes and field not in self._nodes[scope]:
            scope = self._nodes[scope].get("scope", "")
        return self._nodes.get(scope, {}).get(field, "")


def _fields(node: re.Match[str]) -> dict[str, str]:
    return {name: text or word for name, text, word in _FIELD.findall(node["fields"])}


def _debug_location(fields: dict[str, str]) -> _DebugLocation:
    return _DebugLocation(int(fields["line"]), fields["scope"], fields.get("inlinedAt", ""))


def _strings(functions: dict[str, int]) -> Iterator[str]:
    """Yield the section with the names of functions, whose escapes are those of LLVM."""
    if not functions:
        return
    yield "\t.section\t.debug_str\n\t{"
    for name, number in functions.items():
        data = re.sub(
            rb"\\([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match[1].decode()), name.encode()
        ).replace(b"\0", b"")
        yield f"$L__info_string{number}:\n\t.b8 {','.join(map(str, (*data, 0)))}"
    yield "\t}"
