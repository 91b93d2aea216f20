"""The base class of pictures; each class registers a function that draws it."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from ..answer import data
from .drawing import Drawing
from .svg import svg


@singledispatch
def drawing(picture: PictureBase) -> Drawing:
    """Return a picture as a drawing.

    Raises:
        LayoutError: if it cannot be drawn.
    """
    raise NotImplementedError(f"a {type(picture).__name__} has no drawing")


class PictureBase:
    """A picture as a value; a notebook shows its drawing."""

    def data(self) -> Any:
        """Return the picture as JSON data; see `advisor.answer.data`."""
        return data(self)

    def drawing(self) -> Drawing:
        """Return the picture as a drawing; see `drawing`."""
        return drawing(self)

    def _repr_svg_(self) -> str:
        return svg(drawing(self))
