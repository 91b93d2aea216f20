"""The choice of a tile's layout: the candidates, what each use says of each, and the one picked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .atoms import TileOrder, padding, tile_of_atoms
from .elements import Element
from .modes import LayoutError
from .proposals import proposed
from .swizzle import WIDEST_FIRST, Swizzle
from .tile import TileLayout, size_problem
from .transfer import CONTIGUITY
from .uses import Evaluation, Use


class Cost(NamedTuple):
    """What a layout costs; layouts are compared by the first that differs.

    Attributes:
        in_loop: whether a loop pays for it.
        turned: whether data has to be transposed for it.
        conflicts: passes over the banks beyond the least, of one access of each use.
    """

    in_loop: bool
    transposed: bool
    conflicts: int


@dataclass(frozen=True)
class Candidate:
    """A layout that was considered.

    Attributes:
        layout: the layout.
        name: it in words.
        evaluations: what each use said; the tile itself speaks first.
    """

    layout: TileLayout
    name: str
    evaluations: tuple[tuple[str, Evaluation], ...]

    @property
    def accepted(self) -> bool:
        """Whether nothing speaks against it."""
        return all(v.accepted for _, v in self.evaluations)

    @property
    def cost(self) -> Cost:
        """What it costs all uses together."""
        said = [evaluation for _, evaluation in self.evaluations]
        return Cost(
            any(v.in_loop for v in said),
            any(v.transposed for v in said),
            sum(v.conflicts for v in said),
        )

    @property
    def refusal(self) -> str:
        """The first refusal, with who refused; empty if there is none."""
        return next((f"{who}: {v.reason}" for who, v in self.evaluations if not v.accepted), "")


@dataclass(frozen=True)
class Line:
    """What a choice says of a candidate.

    Attributes:
        evaluation: "picked", "possible" or "refused".
        candidate: the layout.
        why: what its uses say; why another is preferred; or who refused it, and why.
    """

    evaluation: str
    candidate: Candidate
    why: str

    def __str__(self) -> str:
        return f"{self.evaluation:8} {self.candidate.name}: {self.why}"


@dataclass(frozen=True)
class Choice:
    """The outcome.

    Attributes:
        candidates: all of them, in the order of preference.
        picked: of those that everything accepts, the first that costs least; or None.
    """

    candidates: tuple[Candidate, ...]
    picked: Candidate | None

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is said of each candidate."""
        return tuple(map(self._line, self.candidates))

    def explain(self) -> str:
        """One line a candidate: the evaluation, and why."""
        return "\n".join(map(str, self.lines))

    def _line(self, candidate: Candidate) -> Line:
        if candidate is self.picked:
            said = "; ".join(f"{who}: {v.reason}" for who, v in candidate.evaluations[1:])
            return Line("picked", candidate, said or "nothing uses the tile")
        if candidate.accepted:
            return Line("possible", candidate, self._preferred_to(candidate))
        return Line("refused", candidate, candidate.refusal)

    def _preferred_to(self, candidate: Candidate) -> str:
        """Why the picked one was preferred to another that everything accepts."""
        assert self.picked is not None
        pairs = zip(Cost._fields, candidate.cost, self.picked.cost, strict=True)
        costlier = next((field for field, its, best in pairs if its > best), None)
        if costlier is None:
            return "the picked one is preferred"
        both = zip(candidate.evaluations, self.picked.evaluations, strict=True)
        who, why = next(
            (who, its.reason)
            for (who, its), (_, best) in both
            if getattr(its, costlier) > getattr(best, costlier)
        )
        return f"{who}: {why}; the picked one costs less"


def choose(
    element: Element,
    shape: Sequence[int],
    uses: Sequence[Use],
    max_swizzle: Swizzle = Swizzle.B128,
    contiguous: int | None = None,
    exhaustive: bool = True,
    swizzles: Sequence[Swizzle] = WIDEST_FIRST,
) -> Choice:
    """Picks a tile's layout: of those that every use takes, the widest swizzle whose atoms divide the
    tile, unless a narrower one has fewer bank conflicts.

    Layouts for which no data is transposed on its way come before those for which some is.

    A wide swizzle spreads a column of 16-byte units over all banks and makes the largest bulk
    copies; CuTe's selector has the same rule, and the same exception. Between equals, columns
    contiguous come before rows, and atoms that follow each other across the contiguous dimension before
    those along it.

    A layout in which a run-time start cuts atoms, so that blocks of an operand need descriptors of
    their own, comes last: each would be computed in the loop that multiplies.

    Args:
        element: the element type.
        shape: the tile's shape, (rows, columns) or (stages, rows, columns).
        uses: what the program does with the tile.
        max_swizzle: the widest swizzle to consider.
        contiguous: 0 or 1 to consider only layouts with rows or columns contiguous.
        exhaustive: evaluate the candidates after the one that is picked too, for explanations.
        swizzles: the modes that the architecture has, the preferred first.

    Raises:
        LayoutError: if no memory holds the tile.
    """
    if problem := size_problem(element, shape):
        raise LayoutError(problem)
    directions = (1, 0) if contiguous is None else (contiguous,)
    candidates: list[Candidate] = []
    for candidate in _candidates(element, shape, uses, max_swizzle, directions, swizzles):
        candidates.append(candidate)
        if candidate.accepted and not any(candidate.cost) and not exhaustive:
            return Choice(tuple(candidates), candidate)
    accepted = [c for c in candidates if c.accepted]
    return Choice(tuple(candidates), min(accepted, key=lambda c: c.cost, default=None))


def evaluate(layout: TileLayout, uses: Sequence[Use]) -> Candidate:
    """What the uses say of a layout that was given."""
    return Candidate(layout, str(layout), _said(layout, uses))


def _candidates(
    element: Element,
    shape: Sequence[int],
    uses: Sequence[Use],
    max_swizzle: Swizzle,
    directions: Sequence[int],
    swizzles: Sequence[Swizzle],
) -> Iterator[Candidate]:
    """The layouts that are considered, in the order of preference, with what is said of each."""
    for found in proposed(element, shape, uses):
        own = ("the tile", Evaluation(True, "a use of it proposes this"))
        yield Candidate(found.layout, found.name, (own, *_said(found.layout, uses)))
    for swizzle in swizzles:
        if swizzle.width > max_swizzle.width:
            continue
        for direction in directions:
            seen: set[TileLayout] = set()
            for order in TileOrder:
                layout = tile_of_atoms(element, shape, direction, swizzle, order)
                if layout not in seen:
                    seen.add(layout)
                    yield _evaluated(layout, direction, order, uses)


def _said(layout: TileLayout, uses: Sequence[Use]) -> tuple[tuple[str, Evaluation], ...]:
    return tuple((use.what, use.evaluate(layout)) for use in uses)


def _evaluated(
    layout: TileLayout, direction: int, order: TileOrder, uses: Sequence[Use]
) -> Candidate:
    line = layout.swizzle.atom_elements(layout.element)
    extent = layout.shape[-2:][direction]
    name = f"swizzle {layout.swizzle}, {CONTIGUITY[direction]}, atoms {order.value}"
    if extent % line:
        own = Evaluation(
            False,
            f"its contiguous extent of {extent} elements is no multiple of the atom's {line}: "
            f"{padding(layout)} bytes would be padding",
        )
    else:
        own = Evaluation(True, f"{extent} is a multiple of the atom's {line} elements")
    evaluations = _said(layout, uses) if own.accepted else ()
    return Candidate(layout, name, (("the tile", own), *evaluations))
