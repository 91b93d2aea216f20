"""Mutations of a module's text: numbers, tokens, types, attributes, lines."""

import re
from collections.abc import Callable
from random import Random

from .seeds import lines, pool

_TOKEN = re.compile(r"\"[^\"\n]*\"|[%!#@^]?[\w.$-]+|->|::|\S")
_NUMBER = re.compile(r"(?<![\w.%!#@])-?\d+(?![\w.]*\w)|(?<=x)\d+(?=x)|(?<=<)\d+(?=x)")
_ELEMENT = re.compile(r"(?<=x)(?:[bt]?f\d+\w*|[su]?i\d+)|\b(?:[bt]?f\d+\w*|[su]?i\d+|index)\b")
_ENTRY = re.compile(r"\w[\w.]* = (?:[^,{}<>\"]|<[^<>]*>|\"[^\"]*\")+")
_TYPE = re.compile(r"!smem\.\w+<(?:[^<>]|<[^<>]*>)*>|memref<(?:[^<>]|<[^<>]*>)*>|!\w+\b")
_VALUE = re.compile(r"%[\w#]+")
_STRING = re.compile(r"\"[^\"\n]*\"")

#: Boundary values.
NUMBERS = (
    0, 1, -1, 2, 3, 4, 7, 8, 16, 31, 32, 48, 63, 64, 65, 96, 127, 128, 255, 256, 1000, 1024, 4095,
    4096, 16384, 65535, 65536, 232448, 1 << 20, (1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) - 1,
    1 << 32, 1 << 33, 1 << 40, (1 << 62), (1 << 63) - 1, 1 << 63, -(1 << 63), (1 << 64) - 1, 1 << 64,
)  # fmt: skip

ELEMENTS = (
    "i1", "i4", "i8", "si8", "ui8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32", "tf32", "f64",
    "f80", "f128", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN", "index",
    "none", "complex<f32>", "vector<4xf32>",
)  # fmt: skip


def mutated(random: Random, text: str, most: int = 4) -> str:
    """Apply one or a few mutations to the text."""
    for _ in range(1 + min(int(random.expovariate(1.4)), most - 1)):
        text = random.choice(_MUTATIONS)(random, text)
    return text


def drawn_number(random: Random, near: int) -> int:
    """Draw another number: a boundary value, or one near the old number."""
    return random.choice(
        (
            random.choice(NUMBERS),
            near + random.choice((-1, 1, 8, -8, 64)),
            near * random.choice((2, 3, 4, -1)),
            near // random.choice((2, 4, 3)),
        )
    )


def _replaced(
    random: Random, text: str, pattern: re.Pattern[str], make: Callable[[re.Match[str]], str]
) -> str:
    """Replace one match of a pattern."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    return text[: match.start()] + make(match) + text[match.end() :]


def _number(random: Random, text: str) -> str:
    return _replaced(random, text, _NUMBER, lambda m: str(drawn_number(random, int(m[0]))))


def _same_number_everywhere(random: Random, text: str) -> str:
    """Replace a number everywhere, so that types still fit each other."""
    found = _NUMBER.findall(text)
    if not found:
        return text
    old = random.choice(found)
    new = str(drawn_number(random, int(old)))
    return _NUMBER.sub(lambda m: new if m[0] == old else m[0], text)


def _element(random: Random, text: str) -> str:
    return _replaced(random, text, _ELEMENT, lambda _: random.choice(ELEMENTS))


def _same_element_everywhere(random: Random, text: str) -> str:
    found = _ELEMENT.findall(text)
    if not found:
        return text
    old, new = random.choice(found), random.choice(ELEMENTS)
    return _ELEMENT.sub(lambda m: new if m[0] == old else m[0], text)


def _type(random: Random, text: str) -> str:
    return _replaced(random, text, _TYPE, lambda _: random.choice(pool(_TYPE.pattern)))


def _same_type_everywhere(random: Random, text: str) -> str:
    found = _TYPE.findall(text)
    if not found:
        return text
    return text.replace(random.choice(found), random.choice(pool(_TYPE.pattern)))


def _value(random: Random, text: str) -> str:
    names = _VALUE.findall(text)
    return _replaced(random, text, _VALUE, lambda _: random.choice(names))


def _string(random: Random, text: str) -> str:
    return _replaced(random, text, _STRING, lambda _: random.choice(pool(_STRING.pattern)))


def _entry_out(random: Random, text: str) -> str:
    """Remove an attribute."""
    return _replaced(random, text, re.compile(rf"(?:, )?{_ENTRY.pattern}"), lambda _: "")


def _entry(random: Random, text: str) -> str:
    """Replace an attribute."""
    return _replaced(random, text, _ENTRY, lambda _: random.choice(pool(_ENTRY.pattern)))


def _entry_more(random: Random, text: str) -> str:
    entry = random.choice(pool(_ENTRY.pattern))
    return _replaced(random, text, re.compile(r"\{(?=[\w.]+(?: =|\}))"), lambda _: f"{{{entry}, ")


def _token_out(random: Random, text: str) -> str:
    return _replaced(random, text, _TOKEN, lambda _: "")


def _token_twice(random: Random, text: str) -> str:
    return _replaced(random, text, _TOKEN, lambda m: f"{m[0]} {m[0]}")


def _token(random: Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    return _replaced(random, text, _TOKEN, lambda _: random.choice(tokens))


def _character(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    new = random.choice(
        ("", '"', "<", ">", "{", "}", "-", "0", "é", "\0", "x", "?", "*", "\n", "\\")
    )
    return text[:at] + new + text[at + 1 :]


def _line_out(random: Random, text: str) -> str:
    found = text.splitlines(keepends=True)
    start = random.randrange(len(found) or 1)
    del found[start : start + random.choice((1, 1, 1, 2, 5))]
    return "".join(found)


def _line_twice(random: Random, text: str) -> str:
    found = text.splitlines(keepends=True)
    if found:
        start = random.randrange(len(found))
        line = found[start]
        # Its results need new names.
        new = re.sub(r"(%[\w#]+)(?=.*=\s)", r"\1_again", line, count=1) if " = " in line else line
        found.insert(start + 1, new)
    return "".join(found)


def _lines_exchanged(random: Random, text: str) -> str:
    found = text.splitlines(keepends=True)
    if found:
        a, b = random.randrange(len(found)), random.randrange(len(found))
        found[a], found[b] = found[b], found[a]
    return "".join(found)


def _line_moved(random: Random, text: str) -> str:
    found = text.splitlines(keepends=True)
    if found:
        line = found.pop(random.randrange(len(found)))
        found.insert(random.randrange(len(found) + 1), line)
    return "".join(found)


def _line_of_another(random: Random, text: str) -> str:
    found = text.splitlines(keepends=True)
    found.insert(random.randrange(len(found) + 1), f"{random.choice(lines())}\n")
    return "".join(found)


def _nested(random: Random, text: str) -> str:
    """Put a line into nested regions."""
    found = text.splitlines(keepends=True)
    at = random.randrange(len(found) or 1)
    depth = random.choice((1, 10, 100, 200, 1000))
    inside = found[at : at + 1] or [""]
    found[at : at + 1] = [
        "%nested = arith.constant true\n", "scf.if %nested {\n" * depth, *inside, "}\n" * depth
    ]  # fmt: skip
    return "".join(found)


#: Mutations that leave most modules parsable are more frequent.
_MUTATIONS = (
    *(_number, _same_number_everywhere, _element, _same_element_everywhere) * 3,
    *(_type, _same_type_everywhere, _value, _string, _entry, _entry_out, _entry_more) * 2,
    *(_line_out, _line_twice, _lines_exchanged, _line_moved) * 2,
    *(_token, _token_out, _token_twice, _character, _line_of_another, _nested),
)
