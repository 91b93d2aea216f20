"""Parsing of MLIR text; text that would crash MLIR's parser is rejected first.

The parser and the printer recurse, and some thousand levels of nesting overflow the stack and end the
process. Brackets of a text, with those of the aliases that it uses, are therefore counted before it is
parsed.
"""

import re
import string
from collections.abc import Iterator
from itertools import accumulate, pairwise
from math import prod

from .irtypes import Module
from .mlir import ir, readable

#: Maximum nesting of brackets; the default of clang's `-fbracket-depth`.
MAX_NESTING = 256

#: Maximum digits and dots of a number.
MAX_DIGITS = 4096

#: Maximum elements of a vector: ops that list the elements make a value of each.
MAX_VECTOR = 1 << 24

#: Maximum characters of an affine map after its arrow.
MAX_MAP = 1 << 16

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = r"//[^\n]*"
_ALIAS = r"[!#][A-Za-z_][\w$.-]*"
_NO_NAME = r'@(?![A-Za-z_"])'
_LONG_NUMBER = rf"\d[\d.]{{{MAX_DIGITS}}}"
_SIGNS = rf"-(?:[ \t]*-){{{MAX_NESTING}}}"

#: Brackets, and tokens that contain characters of brackets or signs: strings, comments, arrows,
#: comparisons. After a type of a dialect, the parser ignores an unterminated string or an '@' without a
#: name, and skips the op.
_MARK = re.compile(
    rf'{_STRING}|"|{_NO_NAME}|{_COMMENT}|[-=]>|[<>]=|[{{}}\[\]()<>]|{_LONG_NUMBER}|{_SIGNS}'
    rf"|(?P<defined>^{_ALIAS}(?=\s*=))|{_ALIAS}|\n",
    re.M,
)
_NO_CODE = re.compile(f"{_STRING}|{_COMMENT}")
_LIMITS = [re.compile(limit) for limit in (_NO_NAME, _SIGNS)]
_NUMBER_LIMIT = re.compile(_LONG_NUMBER)
_DEFINITION = re.compile(rf"\n{_ALIAS}(?=\s*=)")
_USE = re.compile(_ALIAS)
_MAP = re.compile(rf"affine_(?:map|set)<[^>]*->[^>]{{{MAX_MAP}}}")

#: An atomic of a type that LLVM does not have: the parser dereferences a missing type.
_ATOMIC = re.compile(
    r"llvm\.atomicrmw\s[^\n]*?:\s*!llvm\.ptr(?:<\d+>)?\s*,\s*(?!i\d|f\d|bf16|vector<|!)(?P<type>[^\s,)]+)"
)

#: A position in an aggregate of more than 32 bits: the verifier reads its low 32 bits.
_POSITION = re.compile(
    r"llvm\.(?:insert|extract)value\b[^\n]*?[\[,:]\s*(?P<position>\d{10,})\s*[\],>]"
)

#: The search for positions is slow, and a text without this has none of ten digits: its white space goes,
#: and its separators and digits become these.
_SEPARATOR_AND_DIGITS = b"," + b"0" * 10
_LONG_NUMBERS = bytes.maketrans(b"[:123456789", b",,000000000")

#: A count that overflows: a verifier adds to it in 32 bits. The name comes before the check that a word
#: begins with it: `re` finds text that begins with letters several times faster.
_COUNT = re.compile(
    r"workgroup_attributions(?<!\wworkgroup_attributions)\s*=\s*(?P<count>\d{10,}|0x[\da-fA-F]{8,})"
)

#: A constant without its value, which verifiers of other ops read before the constant is verified.
#: Constants of unregistered dialects can be without one.
_CONSTANT = re.compile(
    r'"(?P<name>tosa\.const)"\(\s*\)(?:(?!\bvalues\s*=|->).)*->'
    r'|"(?P<constant>(?:arith|complex|emitc|func|index|llvm\.mlir)\.constant|spirv\.Constant)"'
    r"\(\s*\)(?:(?!\bvalue\s*=|->).)*->",
    re.S,
)

#: An op name with escaped bytes that are not ASCII: Python would decode it as UTF-8.
_NAME = re.compile(
    r'(?m)(?:^|[={}])[ \t]*(?P<name>"(?:[^"\\\n]|\\.)*\\[89A-Fa-f][0-9A-Fa-f](?:[^"\\\n]|\\.)*")\s*\('
)
_ESCAPED_BYTE = re.compile(r"\\[89A-Fa-f]")

#: The extents of a vector, at least one of four digits or more.
_VECTOR = re.compile(r"vector<(?<!\wvector<)((?:\[?\d+\]?x)*\[?\d{4,}\]?x(?:\[?\d+\]?x)*)")

_STEP = {**dict.fromkeys("{[(<", 1), **dict.fromkeys("}])>", -1)}

#: The same for bytes, and the bytes that are no brackets.
_BYTE_STEP = {ord(bracket): step for bracket, step in _STEP.items()}
_NO_BRACKETS = bytes(set(range(256)) - _BYTE_STEP.keys())

#: Up to this number of aliases, nesting through aliases is not counted: it cannot overflow the stack.
_FEW_ALIASES = 8


#: The first bytes of MLIR bytecode.
BYTECODE = b"ML\xefR"


def parse_module(text: str | bytes) -> Module:
    """Parse a module that a person or a host wrote, in the current context.

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
    problem = _find_problem(text)
    if problem is not None:
        offset, message = problem
        line = text.count("\n", 0, offset) + 1
        column = offset - text.rfind("\n", 0, offset)
        location = ir.Location.file("-", line, column)
        if location.context.emit_error_diagnostics:
            location.emit_error(message)
        raise ir.MLIRError(
            f'Unable to parse module assembly:\nerror: "-":{line}:{column}: {message}'
        )
    return parse_printed(text)


def parse_printed(text: str | bytes) -> Module:
    """Parse a module in the current context, without a check.

    Args:
        text: what this package printed of a module that it lowered and verified, or its bytecode. Any
            other text can end the process; it is for `parse_module`.

    Raises:
        MLIRError: if an op has no form that can be read again.
    """
    return ir.Module.parse(readable(text) if isinstance(text, str) else text)


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


def _find_problem(text: str) -> tuple[int, str] | None:
    """Return the offset and the message of the first problem that would crash the parser; None if there
    is none."""
    if match := _MAP.search(text):
        return match.start(), f"an affine map of more than {MAX_MAP} characters"
    if match := next(_in_code(_ATOMIC, text), None):
        return match.start(), (
            f"llvm.atomicrmw of {match['type']}; expected a signless integer, a float, a pointer or a "
            "vector of them"
        )
    data = text.encode(errors="replace").translate(_LONG_NUMBERS, string.whitespace.encode())
    for match in _in_code(_POSITION, text) if _SEPARATOR_AND_DIGITS in data else ():
        if len(match["position"]) > MAX_DIGITS or int(match["position"]) >> 32:
            return match.start("position"), "a position of more than 32 bits"
    if match := next(_in_code(_COUNT, text), None):
        return match.start("count"), "a count of more than 31 bits"
    if match := next(_in_code(_CONSTANT, text), None):
        name, value = (match["name"], "values") if match["name"] else (match["constant"], "value")
        return match.start(), f"'{name}' op requires attribute '{value}'"
    if _ESCAPED_BYTE.search(text) and (match := next(_in_code(_NAME, text), None)):
        return match.start("name"), "an op with a name that is not ASCII"
    for match in _in_code(_VECTOR, text):
        if prod(int(digits[:MAX_DIGITS]) for digits in re.findall(r"\d+", match[1])) > MAX_VECTOR:
            return match.start(), f"a vector of more than {MAX_VECTOR} elements"
    return None if _is_within_limits(text) else _first_problem(text)


def _is_within_limits(text: str) -> bool:
    """Return whether a bound shows that `_first_problem` finds nothing, in a tenth of its time."""
    # A string leaves a letter, because '@"f"' has a name. A comment would be a name, too.
    code = "\n" + _NO_CODE.sub("_", text)
    if '"' in code or "@//" in text or any(limit.search(code) for limit in _LIMITS):
        return False
    if max(map(len, code.split("\n"))) > MAX_DIGITS and _NUMBER_LIMIT.search(code):
        return False
    definitions = list(_DEFINITION.finditer(code))
    if len(definitions) <= _FEW_ALIASES:
        definitions = []
    bounds = [0, *(definition.start() for definition in definitions), len(code)]
    head, *parts = (code[start:end] for start, end in pairwise(bounds))
    depths = _depths(head, 0)
    lowest, deepest = min(depths), max(depths)
    alias_depths: dict[str, int] = {}
    deepest_alias = 0
    for definition, part in zip(definitions, parts, strict=True):
        name = definition[0].strip()
        line, _, remainder = part[len(definition[0]) :].partition("\n")
        depths = _depths(line, depths[-1])
        aliases = set(_USE.findall(line))
        if depths[-1] != 0 or name in aliases or name in alias_depths:
            return False  # a definition of several lines, or a wrong one
        alias_depths[name] = max(depths) + max(
            (alias_depths.get(alias, 0) for alias in aliases), default=0
        )
        deepest_alias = max(deepest_alias, alias_depths[name])
        lowest = min(lowest, *depths)
        if remainder:
            depths = _depths(remainder, 0)
            lowest, deepest = min(lowest, *depths), max(deepest, max(depths) + deepest_alias)
    return lowest >= 0 and max(deepest, deepest_alias) <= MAX_NESTING


def _depths(code: str, before: int) -> list[int]:
    """Return the nesting after each bracket of code without strings and comments."""
    data = code.encode(errors="replace").replace(b"->", b" ")
    for comparison in (b"<=", b"=>", b">="):
        data = data.replace(comparison, b" ")
    brackets = data.translate(None, _NO_BRACKETS)
    return list(accumulate(map(_BYTE_STEP.__getitem__, brackets), initial=before))


def _in_code(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern outside of comments."""
    for match in pattern.finditer(text):
        if "//" not in text[text.rfind("\n", 0, match.start()) + 1 : match.start()]:
            yield match


def _first_problem(text: str) -> tuple[int, str] | None:
    depth = 0
    # The nesting of each alias, and the alias that is being defined.
    depths: dict[str, int] = {}
    defined = None
    for match in _MARK.finditer(text):
        mark = match[0]
        total = depth = max(0, depth + _STEP.get(mark, 0))
        if mark == '"':
            return match.start(), "a string that does not end in its line"
        if mark == "@":
            return match.start(), "'@' without a name"
        if mark[0].isdigit():
            return match.start(), f"a number of more than {MAX_DIGITS} digits"
        if mark[0] == "-" and len(mark) > MAX_NESTING:
            return match.start(), f"more than {MAX_NESTING} signs in a row"
        if mark == "\n" and depth == 0:
            defined = None
        elif match["defined"]:
            defined = mark
        elif mark[0] in "!#":
            total += depths.get(mark, 0)
        if total > MAX_NESTING:
            return match.start(), f"brackets nest {total} deep here; expected at most {MAX_NESTING}"
        if defined is not None:
            depths[defined] = max(depths.get(defined, 0), total)
    return None
