"""Parser of CuTe's notation for layouts: `Swizzle<3,4,3> o ((8,16),64):((64,512),1)`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from .elements import Element
from .modes import Mode, Multiple, Start
from .swizzle import Swizzle
from .text_error import TextError, number_of
from .tile import TileLayout

_SWIZZLE = re.compile(r"\s*((?:Swizzle|Sw)\s*<\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*>)\s*o\s*")
#: Text that CuTe prints in addition: a swizzle named `S`; after the swizzle, a pointer or an offset of 0.
_PRINTED = re.compile(
    r"\s*S(?:w|wizzle)?\s*(<[\s\d,]+>)\s*o\s*(?:(smem_ptr\S*|[\w.]*ptr\S*|0)\s*o\s*)?(\(.*)"
)
_ORIGIN = re.compile(r"\s*(\d+)\s*(n?)\s*")
_TOKEN = re.compile(r"\s*(?:_?(\d+)|([(),:]))")

#: How deep parentheses may nest.
_MAX_NESTING = 16

_EXAMPLE = "Swizzle<3,4,3> o ((8,16),64):((64,512),1)"


@dataclass(frozen=True)
class _Entry:
    """An entry of the notation, and the index of its first character."""

    value: int | tuple[_Entry, ...]
    index: int

    @property
    def flat(self) -> list[int]:
        """Its numbers at all depths."""
        if isinstance(self.value, int):
            return [self.value]
        return [number for entry in self.value for number in entry.flat]


@dataclass(frozen=True)
class _Token:
    """A number with its value, or a punctuation character, and the index of its first character."""

    text: str
    index: int
    value: int | None = None


def parse_origin(text: str) -> tuple[Start, ...]:
    """Parse the output of `modes.format_origin`, for example `(0,16n)`.

    Args:
        text: the index along each dimension, in elements.

    Returns:
        The starts.

    Raises:
        TextError: if the text is malformed.

    Example:
        >>> parse_origin("(0,16n)")
        (0, Multiple(of=16))
    """
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())

    def error_at(index: int) -> TextError:
        return TextError(
            "origin",
            text,
            index,
            "expected a start for each dimension, for example (0,16), or (0,16n) for a multiple of 16 "
            "that is known at run time",
            "(0,16)",
        )

    if text[begin : begin + 1] != "(":
        raise error_at(begin)
    if end - begin < 2 or text[end - 1] != ")":
        raise error_at(end)
    starts: list[Start] = []
    index = begin + 1
    for entry in text[index : end - 1].split(","):
        match = _ORIGIN.fullmatch(entry)
        number = number_of(match[1]) if match else None
        if match is None or number is None:
            raise error_at(index + len(entry) - len(entry.lstrip()))
        starts.append(Multiple(number) if match[2] else number)
        index += len(entry) + 1
    return tuple(starts)


def parse_layout(
    text: str,
    element: Element,
    shape: Sequence[int] | None = None,
    origin: tuple[Start, ...] = (),
) -> TileLayout:
    """Parse the output of `TileLayout.cute`; extents and strides are in elements.

    Args:
        text: for example `Swizzle<2,4,3> o ((8,4),32):((32,256),1)`; no prefix means no swizzle.
        element: the element type.
        shape: the tile's shape, if it does not fill the modes (a padded tile, or a subtile).
        origin: where a subtile begins within the modes.

    Returns:
        The layout.

    Raises:
        TextError: if the text is malformed, or names a swizzle that shared memory does not have.
        LayoutError: if it does not fit `shape`.

    Example:
        >>> tile = parse_layout("Swizzle<3,4,3> o (128,64):(64,1)", element("bf16"))
        >>> tile.shape, tile.size_bytes, tile.swizzle
        ((128, 64), 16384, <Swizzle.B128: 3>)
    """
    swizzle = Swizzle.NONE
    match = _SWIZZLE.match(text)
    if match:
        bits, base, shift = (_number(text, match, group) for group in (2, 3, 4))
        try:
            swizzle = Swizzle.of_cute(bits, base, shift)
        except ValueError as error:
            problem = f"{error}{_in_bytes(bits, base, shift, element)}"
            raise _error(text, match.start(1), problem) from None
    if (printed := _PRINTED.match(text)) and (not match or printed[2]):
        index = printed.start(2) if printed[2] else 0
        extra = f"'{printed[2]}' before the extents" if printed[2] else "a swizzle named 'S'"
        corrected = f"Swizzle{printed[1]} o {printed[3]}"
        raise TextError("layout", text, index, f"{extra} is not part of the notation", corrected)
    tokens = _tokens(text, match.end() if match else 0)
    extents = _parse(tokens, text)
    if not tokens or tokens[0].text != ":":
        raise _error(text, _next_index(tokens, text), "expected ':' and the strides")
    tokens.popleft()
    strides = _parse(tokens, text)
    if tokens:
        raise _error(text, tokens[0].index, f"'{tokens[0].text}' after the strides")
    for entry in (extents, strides):
        if isinstance(entry.value, int):
            raise _error(text, entry.index, "expected one entry for each dimension")
    modes = tuple(
        tuple(map(Mode, dim_extents.flat, dim_strides.flat))
        for dim_extents, dim_strides in _pair_dimensions(extents, strides, text)
    )
    full = tuple(prod(m.extent for m in dim) for dim in modes)
    return TileLayout(element, tuple(shape) if shape is not None else full, modes, swizzle, origin)


def _in_bytes(bits: int, base: int, shift: int, element: Element) -> str:
    """Return, for a message, the mode that a swizzle is if its base counts elements, not bytes."""
    if element.bits > 8:
        try:
            mode = Swizzle.of_cute(bits, base + (element.bits // 8).bit_length() - 1, shift)
        except ValueError:
            return ""
        return f"; if its {base} counts elements of {element}, it is {mode.cute}, whose base counts bytes"
    return ""


def _number(text: str, match: re.Match[str], group: int) -> int:
    """Return a number of a match.

    Raises:
        TextError: if it does not fit 63 bits.
    """
    number = number_of(match[group])
    if number is None:
        raise _error(text, match.start(group), "it does not fit 63 bits")
    return number


def _error(text: str, index: int, problem: str) -> TextError:
    return TextError("layout", text, index, problem, _EXAMPLE)


def _next_index(tokens: deque[_Token], text: str) -> int:
    """Return the index of the next token, or the length of the text."""
    return tokens[0].index if tokens else len(text)


def _tokens(text: str, index: int) -> deque[_Token]:
    """Return the tokens from `index` on."""
    tokens: deque[_Token] = deque()
    end = len(text.rstrip())
    while index < end:
        match = _TOKEN.match(text, index)
        if not match:
            unparsed = text[index:end].lstrip()
            raise _error(text, end - len(unparsed), f"unexpected '{unparsed[:8]}'")
        group = 1 if match[1] else 2
        value = _number(text, match, 1) if match[1] else None
        tokens.append(_Token(match[group], match.start(group), value))
        index = match.end()
    return tokens


def _parse(tokens: deque[_Token], text: str, depth: int = 0) -> _Entry:
    if not tokens:
        raise _error(text, len(text), "it ends too early")
    token = tokens.popleft()
    if token.value is not None:
        return _Entry(token.value, token.index)
    if token.text != "(":
        raise _error(text, token.index, f"unexpected '{token.text}'")
    if depth == _MAX_NESTING:
        raise _error(text, token.index, f"parentheses nest more than {_MAX_NESTING} deep")
    entries = [_parse(tokens, text, depth + 1)]
    while tokens and tokens[0].text == ",":
        tokens.popleft()
        entries.append(_parse(tokens, text, depth + 1))
    if not tokens or tokens[0].text != ")":
        raise _error(text, _next_index(tokens, text), "a parenthesis is not closed")
    tokens.popleft()
    return _Entry(tuple(entries), token.index)


def _pair_dimensions(extents: _Entry, strides: _Entry, text: str) -> list[tuple[_Entry, _Entry]]:
    """Return the extents and the strides of each dimension."""
    assert isinstance(extents.value, tuple) and isinstance(strides.value, tuple)
    pairs = list(zip(extents.value, strides.value, strict=False))
    unequal = [s for e, s in pairs if len(e.flat) != len(s.flat)]
    if unequal or len(extents.value) != len(strides.value):
        index = (unequal or [strides])[0].index
        raise _error(text, index, "extents and strides differ in structure")
    return pairs
