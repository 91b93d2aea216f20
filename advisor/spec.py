"""A tile's shape and element type, parsed from a command line: `128x64xbf16`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..layout import ELEMENTS, Element
from ..layout.elements import NARROW
from ..layout.text_error import TextError, number_of

_EXAMPLE = "128x64xbf16"
_TYPES = ELEMENTS | NARROW


@dataclass(frozen=True)
class TileSpec:
    """A tile's shape and element type.

    Attributes:
        shape: (rows, columns), or (stages, rows, columns).
        element: the element type.

    Example:
        >>> TileSpec.parse("4x128x64xbf16").shape
        (4, 128, 64)
    """

    shape: tuple[int, ...]
    element: Element

    @classmethod
    def parse(cls, text: str) -> TileSpec:
        """Parse extents and an element type, separated by `x`.

        Raises:
            TextError: if the text is malformed, an extent is 0, or the type is unknown.
        """

        def error_at(index: int, problem: str) -> TextError:
            return TextError("tile", text, index, problem, _EXAMPLE)

        shape: list[int] = []
        index = 0
        while extent := re.compile(r"(\d+)x").match(text, index):
            number = number_of(extent[1])
            if number is None:
                raise error_at(index, "an extent that does not fit 63 bits")
            if number == 0:
                raise error_at(index, "an extent of 0")
            shape.append(number)
            index = extent.end()
        name = text[index:]
        if name not in _TYPES:
            if name[:1].isdigit():
                stop = index + len(re.match(r"\d+", name)[0])  # type: ignore[index]
                raise error_at(stop, "expected 'x' after an extent")
            raise error_at(index, f"expected an element type, one of {', '.join(_TYPES)}")
        if len(shape) not in (2, 3):
            raise error_at(
                0, f"{len(shape)} extents; expected rows and columns, or stages, rows and columns"
            )
        return cls(tuple(shape), _TYPES[name])

    def __str__(self) -> str:
        return "x".join(map(str, (*self.shape, self.element)))
