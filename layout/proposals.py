"""Layouts that uses propose to the choice, because no swizzle's atoms make them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from .elements import Element
from .tile import TileLayout


@dataclass(frozen=True)
class Proposal:
    """A layout, and its name in explanations."""

    name: str
    layout: TileLayout


@runtime_checkable
class Proposing(Protocol):
    """A use that knows which layout it wants."""

    def propose(self, element: Element, shape: Sequence[int]) -> Proposal | None:
        """The layout of a tile of that type and shape; None if none would do."""
        ...


def proposed(element: Element, shape: Sequence[int], uses: Iterable[object]) -> list[Proposal]:
    """What the uses propose, each layout once."""
    asked = (use.propose(element, shape) for use in uses if isinstance(use, Proposing))
    return list(dict.fromkeys(proposal for proposal in asked if proposal))
