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


def mutate_text(random: Random, text: str, most: int = 4) -> str:
    """Apply one or a few mutations to the text."""
    for _ in range(1 + min(int(random.expovariate(1.4)), most - 1)):
        text = random.choice(_MUTATIONS)(random, text)
    return text


def draw_number(random: Random, near: int) -> int:
    """Draw another number: a boundary value, or one near the old number."""
    return random.choice(
        (
            random.choice(NUMBERS),
            near + random.choice((-1, 1, 8, -8, 64)),
            near * random.choice((2, 3, 4, -1)),
            near // random.choice((2, 4, 3)),
        )
    )


def _replace_match(
    random: Random, text: str, pattern: re.Pattern[str], make: Callable[[re.Match[str]], str]
) -> str:
    """Replace one match of a pattern."""
    matches = list(pattern.finditer(text))
    if not matches:
        return text
    match = random.choice(matches)
    return text[: match.start()] + make(match) + text[match.end() :]


def _change_number(random: Random, text: str) -> str:
    return _replace_match(random, text, _NUMBER, lambda m: str(draw_number(random, int(m[0]))))


def _change_number_everywhere(random: Random, text: str) -> str:
    """Replace a number everywhere, so that types still fit each other."""
    numbers = _NUMBER.findall(text)
    if not numbers:
        return text
    old = random.choice(numbers)
    new = str(draw_number(random, int(old)))
    return _NUMBER.sub(lambda m: new if m[0] == old else m[0], text)


def _change_element(random: Random, text: str) -> str:
    return _replace_match(random, text, _ELEMENT, lambda _: random.choice(ELEMENTS))


def _change_element_everywhere(random: Random, text: str) -> str:
    elements = _ELEMENT.findall(text)
    if not elements:
        return text
    old, new = random.choice(elements), random.choice(ELEMENTS)
    return _ELEMENT.sub(lambda m: new if m[0] == old else m[0], text)


def _change_type(random: Random, text: str) -> str:
    return _replace_match(random, text, _TYPE, lambda _: random.choice(pool(_TYPE.pattern)))


def _change_type_everywhere(random: Random, text: str) -> str:
    types = _TYPE.findall(text)
    if not types:
        return text
    return text.replace(random.choice(types), random.choice(pool(_TYPE.pattern)))


def _change_value(random: Random, text: str) -> str:
    names = _VALUE.findall(text)
    return _replace_match(random, text, _VALUE, lambda _: random.choice(names))


def _change_string(random: Random, text: str) -> str:
    return _replace_match(random, text, _STRING, lambda _: random.choice(pool(_STRING.pattern)))


def _remove_entry(random: Random, text: str) -> str:
    """Remove an attribute."""
    return _replace_match(random, text, re.compile(rf"(?:, )?{_ENTRY.pattern}"), lambda _: "")


def _change_entry(random: Random, text: str) -> str:
    """Replace an attribute."""
    return _replace_match(random, text, _ENTRY, lambda _: random.choice(pool(_ENTRY.pattern)))


def _add_entry(random: Random, text: str) -> str:
    entry = random.choice(pool(_ENTRY.pattern))
    return _replace_match(
        random, text, re.compile(r"\{(?=[\w.]+(?: =|\}))"), lambda _: f"{{{entry}, "
    )


def _remove_token(random: Random, text: str) -> str:
    return _replace_match(random, text, _TOKEN, lambda _: "")


def _duplicate_token(random: Random, text: str) -> str:
    return _replace_match(random, text, _TOKEN, lambda m: f"{m[0]} {m[0]}")


def _change_token(random: Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    return _replace_match(random, text, _TOKEN, lambda _: random.choice(tokens))


def _change_character(random: Random, text: str) -> str:
    position = random.randrange(len(text) + 1)
    new = random.choice(
        ("", '"', "<", ">", "{", "}", "-", "0", "é", "\0", "x", "?", "*", "\n", "\\")
    )
    return text[:position] + new + text[position + 1 :]


def _remove_lines(random: Random, text: str) -> str:
    kept_lines = text.splitlines(keepends=True)
    start = random.randrange(len(kept_lines) or 1)
    del kept_lines[start : start + random.choice((1, 1, 1, 2, 5))]
    return "".join(kept_lines)


def _duplicate_line(random: Random, text: str) -> str:
    text_lines = text.splitlines(keepends=True)
    if text_lines:
        start = random.randrange(len(text_lines))
        line = text_lines[start]
        # Its results need new names.
        new = re.sub(r"(%[\w#]+)(?=.*=\s)", r"\1_again", line, count=1) if " = " in line else line
        text_lines.insert(start + 1, new)
    return "".join(text_lines)


def _exchange_lines(random: Random, text: str) -> str:
    text_lines = text.splitlines(keepends=True)
    if text_lines:
        a, b = random.randrange(len(text_lines)), random.randrange(len(text_lines))
        text_lines[a], text_lines[b] = text_lines[b], text_lines[a]
    return "".join(text_lines)


def _move_line(random: Random, text: str) -> str:
    text_lines = text.splitlines(keepends=True)
    if text_lines:
        line = text_lines.pop(random.randrange(len(text_lines)))
        text_lines.insert(random.randrange(len(text_lines) + 1), line)
    return "".join(text_lines)


def _insert_line(random: Random, text: str) -> str:
    text_lines = text.splitlines(keepends=True)
    text_lines.insert(random.randrange(len(text_lines) + 1), f"{random.choice(lines())}\n")
    return "".join(text_lines)


def _nest_line(random: Random, text: str) -> str:
    """Put a line into nested regions."""
    text_lines = text.splitlines(keepends=True)
    position = random.randrange(len(text_lines) or 1)
    depth = random.choice((1, 10, 100, 200, 1000))
    inside = text_lines[position : position + 1] or [""]
    text_lines[position : position + 1] = [
        "%nested = arith.constant true\n", "scf.if %nested {\n" * depth, *inside, "}\n" * depth
    ]  # fmt: skip
    return "".join(text_lines)


#: Mutations that leave most modules parsable are more frequent.
_MUTATIONS = (
    *(_change_number, _change_number_everywhere, _change_element, _change_element_everywhere) * 3,
    *(
        _change_type,
        _change_type_everywhere,
        _change_value,
        _change_string,
        _change_entry,
        _remove_entry,
        _add_entry,
    )
    * 2,
    *(_remove_lines, _duplicate_line, _exchange_lines, _move_line) * 2,
    *(_change_token, _remove_token, _duplicate_token, _change_character, _insert_line, _nest_line),
)
