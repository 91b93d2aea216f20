"""CuTe's notation for layouts: `Swizzle<3,4,3> o ((8,16),64):((64,512),1)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from .elements import Element
from .modes import LayoutError, Mode, Multiple, Start
from .swizzle import Swizzle
from .tile import TileLayout

Nested = int | tuple["Nested", ...]

_SWIZZLE = re.compile(r"\s*(?:Swizzle|Sw)\s*<\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*>\s*o\s*")
_ORIGIN = re.compile(r"\s*(\d+)\s*(n?)\s*")
_TOKEN = re.compile(r"\s*(?:_?(\d+)|([(),:]))")


def format_layout(layout: TileLayout) -> str:
    """The layout in CuTe's notation, without its origin; the swizzle is always written."""

    def nested(values: Sequence[int]) -> str:
        return str(values[0]) if len(values) == 1 else f"({','.join(map(str, values))})"

    extents = ",".join(nested([m.extent for m in modes]) for modes in layout.modes)
    strides = ",".join(nested([m.stride for m in modes]) for modes in layout.modes)
    return f"{layout.swizzle.cute} o ({extents}):({strides})"


def format_origin(origin: Sequence[Start]) -> str:
    """An origin, for example `(0,16)`; `16n` is a multiple of 16 that the running kernel knows."""
    return f"({','.join(str(o) if isinstance(o, int) else f'{o.of}n' for o in origin)})"


def parse_origin(text: str) -> tuple[Start, ...]:
    """Reads what `format_origin` writes.

    Raises:
        LayoutError: if the text is malformed.
    """
    entries = text.strip()
    found = [_ORIGIN.fullmatch(entry) for entry in entries[1:-1].split(",")]
    if entries[:1] + entries[-1:] != "()" or not all(found):
        raise LayoutError(
            f"malformed origin '{text}': expected a start for each dimension, for example (0,16), or "
            "(0,16n) for a multiple of 16 that is known at run time"
        )
    numbers = [(int(entry[1]), entry[2]) for entry in found if entry]
    return tuple(Multiple(number) if run_time else number for number, run_time in numbers)


def parse_layout(
    text: str,
    element: Element,
    shape: Sequence[int] | None = None,
    origin: tuple[Start, ...] = (),
) -> TileLayout:
    """Reads CuTe's notation; extents and strides in elements, nested at most one level per dimension.

    Args:
        text: for example `Swizzle<2,4,3> o ((8,4),32):((32,256),1)`; no prefix means no swizzle.
        element: the element type.
        shape: the tile's shape, where it does not fill the modes (a padded tile, or a part).
        origin: where a part begins within the modes.

    Raises:
        LayoutError: if the text is malformed, names a swizzle that shared memory has not, or does
            not fit `shape`.
    """
    swizzle = Swizzle.NONE
    match = _SWIZZLE.match(text)
    rest = text
    if match:
        bits, base, shift = (int(g) for g in match.groups())
        if bits > 3 or (base, shift) != (4, 3):
            raise LayoutError(
                f"Swizzle<{bits},{base},{shift}> is no swizzling mode of wgmma; expected "
                "Swizzle<0,4,3>, Swizzle<1,4,3>, Swizzle<2,4,3> or Swizzle<3,4,3>"
            )
        swizzle = Swizzle(bits)
        rest = text[match.end() :]
    tokens = _tokens(rest, text)
    extents = _parse(tokens, text)
    if not tokens or tokens.pop(0) != ":":
        raise LayoutError(f"malformed layout '{text}': expected ':' and the strides")
    strides = _parse(tokens, text)
    if tokens:
        raise LayoutError(f"malformed layout '{text}': '{tokens[0]}' after the strides")
    if not isinstance(extents, tuple) or not isinstance(strides, tuple):
        raise LayoutError(f"malformed layout '{text}': expected one entry for each dimension")
    modes = tuple(
        tuple(Mode(e, s) for e, s in zip(_flat(de), _flat(ds), strict=True))
        for de, ds in _paired(extents, strides, text)
    )
    full = tuple(prod(m.extent for m in dim) for dim in modes)
    return TileLayout(element, tuple(shape) if shape is not None else full, modes, swizzle, origin)


def _tokens(rest: str, text: str) -> list[str]:
    tokens, at = [], 0
    rest = rest.rstrip()
    while at < len(rest):
        match = _TOKEN.match(rest, at)
        if not match:
            raise LayoutError(f"malformed layout '{text}': unexpected '{rest[at:].strip()[:8]}'")
        tokens.append(match.group(1) or match.group(2))
        at = match.end()
    return tokens


def _parse(tokens: list[str], text: str) -> Nested:
    if not tokens:
        raise LayoutError(f"malformed layout '{text}': it ends too early")
    token = tokens.pop(0)
    if token.isdigit():
        return int(token)
    if token != "(":
        raise LayoutError(f"malformed layout '{text}': unexpected '{token}'")
    entries = [_parse(tokens, text)]
    while tokens and tokens[0] == ",":
        tokens.pop(0)
        entries.append(_parse(tokens, text))
    if not tokens or tokens.pop(0) != ")":
        raise LayoutError(f"malformed layout '{text}': a parenthesis is not closed")
    return tuple(entries)


def _flat(entry: Nested) -> list[int]:
    return [entry] if isinstance(entry, int) else [i for e in entry for i in _flat(e)]


def _paired(extents: tuple, strides: tuple, text: str) -> list[tuple[Nested, Nested]]:
    pairs = list(zip(extents, strides, strict=False))
    if len(extents) != len(strides) or any(len(_flat(e)) != len(_flat(s)) for e, s in pairs):
        raise LayoutError(f"malformed layout '{text}': extents and strides differ in structure")
    return pairs
