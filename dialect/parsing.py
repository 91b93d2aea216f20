"""Parsing of MLIR text; text that would crash MLIR's parser is rejected first.

The parser and the printer recurse, and some thousand levels of nesting overflow the stack and end the
process. Brackets of a text, with those of the aliases that it uses, are therefore counted before it is
parsed.
"""

import re
from collections.abc import Iterator
from itertools import accumulate, repeat
from math import prod

from .bindings import ir, readable
from .irtypes import Module

#: Maximum nesting of brackets; the default of clang's `-fbracket-depth`.
MAX_NESTING = 256

#: Maximum digits and dots of a number.
MAX_DIGITS = 4096

#: Maximum elements of a vector: ops that list the elements make a value of each.
MAX_VECTOR = 1 << 24

#: Maximum characters of an affine map after its arrow.
MAX_MAP = 1 << 16

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_ALIAS = r"[!#][A-Za-z_][\w$.-]*"

#: Brackets, and tokens that contain characters of brackets or signs: strings, comments, arrows,
#: comparisons. After a type of a dialect, the parser ignores an unterminated string or an '@' without a
#: name, and skips the op.
_MARKS = (
    rf'{_STRING}|"|@(?![A-Za-z_"])|//[^\n]*|[-=]>|[<>]=|[{{}}\[\]()<>]'
    rf"|\d[\d.]{{{MAX_DIGITS}}}|-(?:[ \t]*-){{{MAX_NESTING}}}"
)
_MARK = re.compile(_MARKS)
_MARK_OR_ALIAS = re.compile(rf"{_MARKS}|(?P<defined>^{_ALIAS}(?=\s*=))|{_ALIAS}|\n", re.M)
_DEFINITION = re.compile(rf"^{_ALIAS}\s*=", re.M)
_MAP = re.compile(rf"affine_(?:map|set)<[^>]*->[^>]{{{MAX_MAP}}}")

#: An atomic of a type that LLVM does not have: the parser dereferences a missing type.
_ATOMIC = re.compile(
    r"llvm\.atomicrmw\s[^\n]*?:\s*!llvm\.ptr(?:<\d+>)?\s*,\s*(?!i\d|f\d|bf16|vector<|!)(?P<type>[^\s,)]+)"
)

#: A position in an aggregate of more than 32 bits: the verifier reads its low 32 bits.
_POSITION = re.compile(r"llvm\.(?:insert|extract)value\b[^\n]*?[\[,:]\s*(?P<at>\d{10,})\s*[\],>]")

#: A count that overflows: a verifier adds to it in 32 bits.
_COUNT = re.compile(r"\bworkgroup_attributions\s*=\s*(?P<count>\d{10,}|0x[\da-fA-F]{8,})")

#: A constant without its value, which verifiers of other ops read before the constant is verified.
#: Constants of unregistered dialects can be without one.
_CONSTANT = re.compile(
    r'"(?P<name>tosa\.const)"\(\s*\)(?:(?!\bvalues\s*=|->).)*->'
    r'|"(?P<other>(?:arith|complex|emitc|func|index|llvm\.mlir)\.constant|spirv\.Constant)"'
    r"\(\s*\)(?:(?!\bvalue\s*=|->).)*->",
    re.S,
)

#: An op name with escaped bytes that are not ASCII: Python would decode it as UTF-8.
_NAME = re.compile(
    r'(?m)(?:^|[={}])[ \t]*(?P<name>"(?:[^"\\\n]|\\.)*\\[89A-Fa-f][0-9A-Fa-f](?:[^"\\\n]|\\.)*")\s*\('
)

#: The extents of a vector, at least one of four digits or more.
_VECTOR = re.compile(r"\bvector<((?:\[?\d+\]?x)*\[?\d{4,}\]?x(?:\[?\d+\]?x)*)")

_STEP = {**dict.fromkeys("{[(<", 1), **dict.fromkeys("}])>", -1)}

#: Up to this number of aliases, nesting through aliases is not counted: it cannot overflow the stack.
_FEW_ALIASES = 8


#: The first bytes of MLIR bytecode.
BYTECODE = b"ML\xefR"


def parse_module(text: str | bytes) -> Module:
    """Parse a module in the current context.

    Args:
        text: MLIR text, in UTF-8 if it is bytes, or bytecode. Bytecode is not checked before.

    Raises:
        MLIRError: with a located diagnostic, if the text is malformed or nests too deep, or the bytecode
            cannot be read.
    """
    if isinstance(text, bytes):
        if text.startswith(BYTECODE):
            return _parse_bytecode(text)
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise ir.MLIRError(
                f"Unable to parse module assembly:\nerror: neither bytecode nor text in UTF-8: "
                f"{error.reason} at byte {error.start}"
            ) from None
    found = _problem(text)
    if found is not None:
        at, message = found
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        location = ir.Location.file("-", line, column)
        if location.context.emit_error_diagnostics:
            location.emit_error(message)
        raise ir.MLIRError(
            f'Unable to parse module assembly:\nerror: "-":{line}:{column}: {message}'
        )
    return ir.Module.parse(readable(text))


def _parse_bytecode(data: bytes) -> Module:
    try:
        return ir.Module.parse(data)
    except RuntimeError as error:
        if isinstance(error, ir.MLIRError):
            raise
        # A message of the reader quotes bytes that are not text.
        raise ir.MLIRError(
            "Unable to parse module assembly:\nerror: the bytecode is damaged"
        ) from None


def _problem(text: str) -> tuple[int, str] | None:
    """The offset and the message of the first problem that would crash the parser; None if there is
    none."""
    if found := _MAP.search(text):
        return found.start(), f"an affine map of more than {MAX_MAP} characters"
    if found := next(_in_code(_ATOMIC, text), None):
        return found.start(), (
            f"llvm.atomicrmw of {found['type']}; expected a signless integer, a float, a pointer or a "
            "vector of them"
        )
    for found in _in_code(_POSITION, text):
        if len(found["at"]) > MAX_DIGITS or int(found["at"]) >> 32:
            return found.start("at"), "a position of more than 32 bits"
    if found := next(_in_code(_COUNT, text), None):
        return found.start("count"), "a count of more than 31 bits"
    if found := next(_in_code(_CONSTANT, text), None):
        name, value = (found["name"], "values") if found["name"] else (found["other"], "value")
        return found.start(), f"'{name}' op requires attribute '{value}'"
    if found := next(_in_code(_NAME, text), None):
        return found.start("name"), "an op with a name that is not ASCII"
    for found in _in_code(_VECTOR, text):
        if prod(int(digits[:MAX_DIGITS]) for digits in re.findall(r"\d+", found[1])) > MAX_VECTOR:
            return found.start(), f"a vector of more than {MAX_VECTOR} elements"
    marks = _MARK.findall(text)
    deepest = max(accumulate(map(_STEP.get, marks, repeat(0))), default=0)
    long = any(len(mark) > MAX_NESTING and mark[0] not in '"/' for mark in marks)
    lone = '"' in marks or "@" in marks
    aliases = sum(1 for _ in _DEFINITION.finditer(text))
    if deepest <= MAX_NESTING and not long and not lone and aliases <= _FEW_ALIASES:
        return None
    return _first_problem(text)


def _in_code(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern outside of comments."""
    for found in pattern.finditer(text):
        if "//" not in text[text.rfind("\n", 0, found.start()) + 1 : found.start()]:
            yield found


def _first_problem(text: str) -> tuple[int, str] | None:
    depth = 0
    # The nesting of each alias, and the alias that is being defined.
    depths: dict[str, int] = {}
    defined = None
    for found in _MARK_OR_ALIAS.finditer(text):
        mark = found[0]
        total = depth = max(0, depth + _STEP.get(mark, 0))
        if mark == '"':
            return found.start(), "a string that does not end in its line"
        if mark == "@":
            return found.start(), "'@' without a name"
        if mark[0].isdigit():
            return found.start(), f"a number of more than {MAX_DIGITS} digits"
        if mark[0] == "-" and len(mark) > MAX_NESTING:
            return found.start(), f"more than {MAX_NESTING} signs in a row"
        if mark == "\n" and depth == 0:
            defined = None
        elif found["defined"]:
            defined = mark
        elif mark[0] in "!#":
            total += depths.get(mark, 0)
        if total > MAX_NESTING:
            return found.start(), f"brackets nest {total} deep here; expected at most {MAX_NESTING}"
        if defined is not None:
            depths[defined] = max(depths.get(defined, 0), total)
    return None
