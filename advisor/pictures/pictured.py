"""What can be drawn: each kind of picture registers how it becomes a drawing."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from ..answer import data
from .drawing import Drawing
from .svg import svg


@singledispatch
def drawing(picture: Pictured) -> Drawing:
    """A picture as shapes.

    Raises:
        LayoutError: if what it shows cannot be drawn.
    """
    raise NotImplementedError(f"a {type(picture).__name__} has no drawing")


class Pictured:
    """A picture as a value; a notebook shows it as it is drawn."""

    def data(self) -> Any:
        """What it says, for JSON; see `advisor.answer.data`."""
        return data(self)

    def drawing(self) -> Drawing:
        """The picture as shapes; see `drawing`."""
        return drawing(self)

    def _repr_svg_(self) -> str:
        return svg(drawing(self))
