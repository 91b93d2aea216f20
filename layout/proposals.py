"""Layouts that uses propose to the choice, because they are not tiles of swizzle atoms."""

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
class ProposingUse(Protocol):
    """A use that proposes a layout."""

    def propose(self, element: Element, shape: Sequence[int]) -> Proposal | None:
        """Return a layout of a tile of that type and shape, or None if no layout fits the use."""
        ...


def collect_proposals(
    element: Element, shape: Sequence[int], uses: Iterable[object]
) -> list[Proposal]:
    """Return the proposals of the uses, without duplicates."""
    proposals = (use.propose(element, shape) for use in uses if isinstance(use, ProposingUse))
    return list(dict.fromkeys(proposal for proposal in proposals if proposal))
