"""The order in which a tile's dimensions are written: (M, K) or (K, M), stages first or last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..layout import Role, TileLayout
from ..layout.text_error import TextError
from .answer import Answer

_STAGES = "stages"


@dataclass(frozen=True)
class DimensionOrder(Answer):
    """The order of the dimensions of a layout or a map, and their order in an answer about it.

    Attributes:
        written: the names of its dimensions in order, for example ("n", "k").
        answered: the names in the order of the answer: (m, k), (k, n) or (rows, factors), behind stages.
        assumed: whether the order was not given.
        others: where it was assumed, other orders in which such tiles are written; CuTe's is the first.
        fitting: those orders with which an instruction reads the tile.
        problem: why no instruction reads it in CuTe's order, either.
    """

    written: tuple[str, ...]
    answered: tuple[str, ...]
    assumed: bool = False
    others: tuple[tuple[str, ...], ...] = ()
    fitting: tuple[tuple[str, ...], ...] = ()
    problem: str | None = None

    @property
    def is_obvious(self) -> bool:
        """Whether the order was assumed, and everyone writes such tiles in it."""
        return self.assumed and not self.others

    def arrange(self, tile: TileLayout) -> TileLayout:
        """Return a layout that is written in this order, in the order of the answer."""
        dims = self._dims
        return TileLayout(
            tile.element,
            tuple(tile.shape[dim] for dim in dims),
            tuple(tile.modes[dim] for dim in dims),
            tile.swizzle,
            tuple(tile.origin[dim] for dim in dims) if tile.origin else (),
        )

    def arrange_map(self, places: np.ndarray) -> np.ndarray:
        """Return a map that is written in this order, in the order of the answer."""
        return places.transpose(self._dims)

    @property
    def _dims(self) -> list[int]:
        return [self.written.index(name) for name in self.answered]

    def compare(self, problem_in: Callable[[DimensionOrder], str | None]) -> DimensionOrder:
        """Return the order of a tile that no instruction reads, with the orders in which it fits.

        Args:
            problem_in: returns why no instruction reads the tile as it is written in another order, or
                None.
        """
        problems = {candidate.written: problem_in(candidate) for candidate in self._candidates}
        fitting = tuple(names for names, problem in problems.items() if problem is None)
        first = next(iter(problems.values()), None)
        return replace(self, fitting=fitting, problem=None if fitting else first)

    @property
    def _candidates(self) -> list[DimensionOrder]:
        """The other orders in which the tile may be written."""
        return [DimensionOrder(names, self.answered) for names in self.others]

    @property
    def hint(self) -> str | None:
        """The orders in which the tile fits, where it does not fit in the assumed one; else None."""
        if not self.fitting:
            return None
        orders = [f"{order_text(names)} (--order {','.join(names)})" for names in self.fitting]
        return f"it matches as {' or '.join(orders)}"


def order_text(names: tuple[str, ...]) -> str:
    """Return an order as CuTe writes it: `(M, K, stages)`."""
    return f"({', '.join(name.upper() if len(name) == 1 else name for name in names)})"


def assumed_order(role: Role | None, rank: int) -> DimensionOrder:
    """Return the order that is assumed where none is given.

    Args:
        role: A or B; None for scale factors.
        rank: the number of dimensions: 3 with stages.

    Example:
        >>> assumed_order(Role.B, 2).others
        (('n', 'k'),)
    """
    names, cute = _dimension_names(role)
    if rank != 3:
        others = (cute,) if cute != names and rank == 2 else ()
        return DimensionOrder(names, names, True, others)
    answered = (_STAGES, *names)
    others = dict.fromkeys(((*cute, _STAGES), (*names, _STAGES), (_STAGES, *cute)))
    return DimensionOrder(answered, answered, True, tuple(o for o in others if o != answered))


def parse_order(text: str, role: Role | None, rank: int) -> DimensionOrder:
    """Parse the names of dimensions, separated by commas, for example `m,k,stages`.

    Args:
        text: the names.
        role, rank: as for `assumed_order`.

    Raises:
        TextError: if it does not name each dimension once.

    Example:
        >>> str(parse_order("n,k", Role.B, 2))
        "(N, K), as given; the layouts of this answer are (K, N)"
    """
    assumed = assumed_order(role, rank)
    answered, example = assumed.answered, (*assumed.others, assumed.answered)[0]
    names = tuple(name.strip() for name in text.lower().split(","))
    if sorted(names) != sorted(answered):
        problem = f"expected {', '.join(answered)}, each once, in any order"
        raise TextError("--order", text, 0, problem, ",".join(example))
    return DimensionOrder(names, answered)


def _dimension_names(role: Role | None) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the dimensions without stages, in our order and in CuTe's."""
    if role is None:
        return ("rows", "factors"), ("rows", "factors")
    return (("m", "k"), ("m", "k")) if role is Role.A else (("k", "n"), ("n", "k"))
