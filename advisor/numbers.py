"""Numbers in command lines: decimal or hexadecimal, with the suffixes of C."""

from __future__ import annotations

import re

from ..layout.text_error import TextError

_DIGITS = {10: "0123456789", 16: "0123456789abcdef"}
_SUFFIX = re.compile(r"[uU]?[lL]{0,2}$")


def parse_number(what: str, text: str, example: str, bits: int = 64) -> int:
    """Parse a non-negative number.

    Args:
        what: the number's name in messages.
        text: for example `1024`, `0x400` or `0x4000004000010000ULL`.
        example: a valid text, for the message.
        bits: the number of bits that it must fit.

    Raises:
        TextError: if the text is not such a number.
    """

    def wrong(at: int, problem: str) -> TextError:
        return TextError(what, text, at, problem, example)

    begin = len(text) - len(text.lstrip())
    number = text[begin:].rstrip().lower()
    base = 16 if number.startswith("0x") else 10
    prefix = 2 if base == 16 else 0
    digits = _SUFFIX.sub("", number[prefix:])
    for index, digit in enumerate(digits):
        if digit not in _DIGITS[base]:
            hint = "; hexadecimal begins with 0x" if digit in _DIGITS[16] else ""
            raise wrong(begin + prefix + index, f"unexpected '{digit}'{hint}")
    if not digits:
        raise wrong(begin + prefix, "expected a number")
    # Python's int() rejects numbers of thousands of decimal digits.
    significant = digits.lstrip("0") or "0"
    value = int(significant, base) if len(significant) <= bits else None
    if value is None or value >> bits:
        raise wrong(begin, f"it does not fit {bits} bits")
    return value


def parse_numbers(what: str, text: str, example: str) -> tuple[int, ...]:
    """Parse numbers that are separated by commas.

    Raises:
        TextError: if one of them is not a number.
    """
    found: list[int] = []
    at = 0
    for entry in text.split(","):
        try:
            found.append(parse_number(what, entry, example))
        except TextError as error:
            raise TextError(what, text, at + error.at, error.problem, example) from None
        at += len(entry) + 1
    return tuple(found)
