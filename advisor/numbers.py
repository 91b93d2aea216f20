"""Numbers in command lines: decimal or hexadecimal, with the suffixes of C; descriptors as printed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..layout.text_error import TextError

_DIGITS = {10: "0123456789", 16: "0123456789abcdef"}
_SUFFIX = re.compile(r"[uU]?[lL]{0,2}$")


#: The number of digits that are converted at most: Python refuses texts of thousands of digits.
_MOST_DIGITS = 40


@dataclass(frozen=True)
class BitPattern:
    """A bit pattern, such as a descriptor, as it was written.

    Attributes:
        value: its bits, as a number that is not negative.
        note: another number that the text could be; None if there is none.
    """

    value: int
    note: str | None = None


def parse_number(name: str, text: str, example: str, bits: int = 64) -> int:
    """Parse a non-negative number.

    Args:
        name: the number's name in messages.
        text: for example `1024`, `0x400` or `0x4000004000010000ULL`.
        example: a valid text, for the message.
        bits: the number of bits that it must fit.

    Raises:
        TextError: if the text is not such a number.
    """
    begin, number = _strip(text)
    if re.match(r"-\d", number):
        raise TextError(name, text, begin, "it is negative; expected 0 or more", example)
    value = _magnitude(name, text, begin, number, example)
    if value >> bits:
        range_ = f"expected 0 to {(1 << bits) - 1:#x}"
        raise TextError(name, text, begin, f"it does not fit {bits} bits; {range_}", example)
    return value


def parse_bits(
    name: str,
    text: str,
    example: str,
    doubts: Callable[[int], int],
    bits: int = 64,
) -> BitPattern:
    """Parse a bit pattern, as people print it: `0x4000004000010000ULL` in C, `4611686293305360384` or
    `-9223371899415756800` in MLIR and LLVM IR (two's complement), `4000004000010000` by `%llx`.

    Digits without `0x` may be decimal or hexadecimal. The reading with fewer doubts is taken; of equals,
    the hexadecimal one if the text has all digits of the pattern. The note names the other reading.

    Args:
        name, text, example: as for `parse_number`.
        doubts: returns the number of reasons against a value.
        bits: the number of bits of the pattern.

    Raises:
        TextError: if the text is not such a number.

    Example:
        >>> parse_bits("descriptor", "-1", "0x0", lambda value: 0, bits=8).value
        255
    """
    begin, stripped = _strip(text)
    if re.match(r"-\d", stripped):
        value = _magnitude(name, text, begin + 1, stripped[1:], example)
        _check_range(name, text, begin, -value, bits, example)
        return BitPattern(-value % (1 << bits))
    digits, letters = _SUFFIX.sub("", stripped), set("abcdef")
    plain = digits == stripped and 0 < len(digits) <= bits // 4
    if plain and letters & set(digits) and set(digits) <= set(_DIGITS[16]):
        value = int(digits, 16)
        return BitPattern(value, f"{digits} is read as hexadecimal, {value:#x}: it has letters")
    value = _magnitude(name, text, begin, stripped, example)
    _check_range(name, text, begin, value, bits, example)
    if not plain or int(digits, 16) == value:
        return BitPattern(value)
    as_hexadecimal = int(digits, 16)
    padded = len(digits) > 1 and digits[0] == "0"
    doubts_of_decimal, doubts_of_hexadecimal = doubts(value), doubts(as_hexadecimal)
    full = len(digits) == bits // 4
    hexadecimal = padded or (doubts_of_hexadecimal, not full) < (doubts_of_decimal, full)
    readings = ("decimal", value), ("hexadecimal", as_hexadecimal)
    (base, number), (other_base, other) = readings[::-1] if hexadecimal else readings
    return BitPattern(
        number,
        f"{digits} is read as {base}, {number:#x}; as {other_base} it is {other:#x}: write it with 0x "
        "to choose",
    )


def _check_range(name: str, text: str, index: int, value: int, bits: int, example: str) -> None:
    """Check that a number fits some bits, signed or unsigned.

    Raises:
        TextError: if it is not.
    """
    least, most = -(1 << bits - 1), (1 << bits) - 1
    if not least <= value <= most:
        problem = f"it does not fit {bits} bits; expected {least} to {most} ({most:#x})"
        raise TextError(name, text, index, problem, example)


def _strip(text: str) -> tuple[int, str]:
    """Return the index of the first character that is no space, and the text in lower case without spaces
    around it."""
    return len(text) - len(text.lstrip()), text.strip().lower()


def _magnitude(name: str, text: str, begin: int, number: str, example: str) -> int:
    """Return a number without a sign, decimal or with 0x.

    Args:
        name, text, example: as for `parse_number`.
        begin: the index of the number in the text.
        number: the number in lower case.

    Raises:
        TextError: if it is not one.
    """

    def error_at(index: int, problem: str) -> TextError:
        return TextError(name, text, index, problem, example)

    base = 16 if number.startswith("0x") else 10
    prefix = 2 if base == 16 else 0
    digits = _SUFFIX.sub("", number[prefix:])
    for index, digit in enumerate(digits):
        if digit not in _DIGITS[base]:
            hint = "; hexadecimal begins with 0x" if digit in _DIGITS[16] else ""
            raise error_at(begin + prefix + index, f"unexpected '{digit}'{hint}")
    if not digits:
        raise error_at(begin + prefix, "expected a number")
    significant = digits.lstrip("0") or "0"
    # A longer one does not fit, whatever its digits.
    return int(significant[:_MOST_DIGITS], base)


def parse_numbers(name: str, text: str, example: str) -> tuple[int, ...]:
    """Parse numbers that are separated by commas.

    Raises:
        TextError: if one of them is not a number.
    """
    numbers: list[int] = []
    index = 0
    for entry in text.split(","):
        try:
            numbers.append(parse_number(name, entry, example))
        except TextError as error:
            raise TextError(name, text, index + error.index, error.problem, example) from None
        index += len(entry) + 1
    return tuple(numbers)
