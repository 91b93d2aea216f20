"""The choice of a tile's layout: the candidates, their evaluation by each use, and the picked one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .atoms import TileOrder, padding, tile_of_atoms
from .elements import Element
from .modes import LayoutError
from .proposals import collect_proposals
from .swizzle import WIDEST_FIRST, Swizzle
from .tile import TileLayout, size_problem
from .transfer import CONTIGUITY
from .uses import LayoutEvaluation, Use


class Cost(NamedTuple):
    """The cost of a layout; costs are compared lexicographically.

    Attributes:
        in_loop: whether descriptors are computed inside the loop.
        transposed: whether a copy transposes data.
        conflicts: passes over the banks beyond the fewest, summed over one access of each use.
    """

    in_loop: bool
    transposed: bool
    conflicts: int


@dataclass(frozen=True)
class LayoutCandidate:
    """A layout that the choice evaluates.

    Attributes:
        layout: the layout.
        name: its name in explanations.
        evaluations: (use in words, evaluation): of the tile itself, unless the caller chose the layout,
            then of each use.
    """

    layout: TileLayout
    name: str
    evaluations: tuple[tuple[str, LayoutEvaluation], ...]

    @property
    def is_accepted(self) -> bool:
        """Whether every use accepts the layout."""
        return all(evaluation.accepted for _, evaluation in self.evaluations)

    @property
    def cost(self) -> Cost:
        """The cost of all uses together."""
        evaluations = [evaluation for _, evaluation in self.evaluations]
        return Cost(
            any(evaluation.in_loop for evaluation in evaluations),
            any(evaluation.transposed for evaluation in evaluations),
            sum(evaluation.conflicts for evaluation in evaluations),
        )

    @property
    def refusal(self) -> str:
        """The first refusal, with the use that refuses; empty if there is none."""
        refusals = (
            f"{use}: {evaluation.reason}"
            for use, evaluation in self.evaluations
            if not evaluation.accepted
        )
        return next(refusals, "")


@dataclass(frozen=True)
class ExplanationLine:
    """A line of an explanation: one candidate.

    Attributes:
        verdict: "picked", "possible" or "refused".
        candidate: the candidate.
        why: for "picked", the reasons of its uses; for "possible", why the picked one is preferred; for
            "refused", the use that refuses and its reason.
    """

    verdict: str
    candidate: LayoutCandidate
    why: str

    def __str__(self) -> str:
        return f"{self.verdict:8} {self.candidate.name}: {self.why}"


@dataclass(frozen=True)
class Choice:
    """The result of `choose`.

    Attributes:
        candidates: the evaluated candidates, in order of preference.
        picked: the first of the accepted candidates with the lowest cost; None if none is accepted.
    """

    candidates: tuple[LayoutCandidate, ...]
    picked: LayoutCandidate | None

    @property
    def lines(self) -> tuple[ExplanationLine, ...]:
        """A line for each candidate."""
        return tuple(map(self._line, self.candidates))

    def explain(self) -> str:
        """Return one line for each candidate: "picked", "possible" or "refused", its name, and why."""
        return "\n".join(map(str, self.lines))

    def _line(self, candidate: LayoutCandidate) -> ExplanationLine:
        if candidate is self.picked:
            reasons = "; ".join(
                f"{use}: {evaluation.reason}" for use, evaluation in candidate.evaluations[1:]
            )
            return ExplanationLine("picked", candidate, reasons or "nothing uses the tile")
        if candidate.is_accepted:
            return ExplanationLine("possible", candidate, self._explain_higher_cost(candidate))
        return ExplanationLine("refused", candidate, candidate.refusal)

    def _explain_higher_cost(self, candidate: LayoutCandidate) -> str:
        """Return why the picked candidate is preferred to another accepted one."""
        assert self.picked is not None
        costs = zip(Cost._fields, candidate.cost, self.picked.cost, strict=True)
        costlier = next((field for field, cost, lowest in costs if cost > lowest), None)
        if costlier is None:
            return "the picked one is preferred"
        pairs = zip(candidate.evaluations, self.picked.evaluations, strict=True)
        use, why = next(
            (use, evaluation.reason)
            for (use, evaluation), (_, picked) in pairs
            if getattr(evaluation, costlier) > getattr(picked, costlier)
        )
        return f"{use}: {why}; the picked one costs less"


def choose(
    element: Element,
    shape: Sequence[int],
    uses: Sequence[Use],
    max_swizzle: Swizzle = Swizzle.B128,
    contiguous: int | None = None,
    exhaustive: bool = True,
    swizzles: Sequence[Swizzle] = WIDEST_FIRST,
) -> Choice:
    """Pick a tile's layout: the widest swizzle whose atoms divide the tile and that every use accepts,
    unless a narrower one has fewer bank conflicts.

    A wide swizzle spreads a column of 16-byte units over all banks and gives the largest bulk copies;
    CuTe's selector has the same rule and the same exception. Of layouts that are otherwise equal,
    row-major comes before column-major, and `TileOrder.ACROSS` before `TileOrder.ALONG`.

    A layout that needs no transposition of data is preferred to one that needs it. A layout in which a
    run-time start cuts atoms comes last: its MMA tiles need descriptors of their own, which would be
    computed in the main loop.

    Args:
        element: the element type.
        shape: the tile's shape, (rows, columns) or (stages, rows, columns).
        uses: what the program does with the tile.
        max_swizzle: the widest swizzle to consider.
        contiguous: 0 or 1 to consider only layouts with rows or columns contiguous.
        exhaustive: evaluate the candidates after the picked one too, for explanations.
        swizzles: the architecture's modes, in order of preference.

    Raises:
        LayoutError: if shared memory cannot hold the tile.

    Example:
        >>> choice = choose(element("bf16"), (128, 64), uses=[])
        >>> choice.picked.layout.cute
        'Swizzle<3,4,3> o (128,64):(64,1)'
    """
    if problem := size_problem(element, shape):
        raise LayoutError(problem)
    directions = (1, 0) if contiguous is None else (contiguous,)
    candidates: list[LayoutCandidate] = []
    for candidate in _candidates(element, shape, uses, max_swizzle, directions, swizzles):
        candidates.append(candidate)
        if candidate.is_accepted and not any(candidate.cost) and not exhaustive:
            return Choice(tuple(candidates), candidate)
    accepted = [c for c in candidates if c.is_accepted]
    return Choice(tuple(candidates), min(accepted, key=lambda c: c.cost, default=None))


def evaluate(layout: TileLayout, uses: Sequence[Use]) -> LayoutCandidate:
    """Evaluate one layout by its uses."""
    return LayoutCandidate(layout, str(layout), _evaluations(layout, uses))


def _candidates(
    element: Element,
    shape: Sequence[int],
    uses: Sequence[Use],
    max_swizzle: Swizzle,
    directions: Sequence[int],
    swizzles: Sequence[Swizzle],
) -> Iterator[LayoutCandidate]:
    """Yield the evaluated candidates, in order of preference."""
    for proposal in collect_proposals(element, shape, uses):
        tile_evaluation = ("the tile", LayoutEvaluation(True, "a use of it proposes this"))
        yield LayoutCandidate(
            proposal.layout, proposal.name, (tile_evaluation, *_evaluations(proposal.layout, uses))
        )
    for swizzle in swizzles:
        if swizzle.width > max_swizzle.width:
            continue
        for direction in directions:
            seen: set[TileLayout] = set()
            for order in TileOrder:
                layout = tile_of_atoms(element, shape, direction, swizzle, order)
                if layout not in seen:
                    seen.add(layout)
                    yield _candidate(layout, direction, order, uses)


def _evaluations(
    layout: TileLayout, uses: Sequence[Use]
) -> tuple[tuple[str, LayoutEvaluation], ...]:
    return tuple((use.what, use.evaluate(layout)) for use in uses)


def _candidate(
    layout: TileLayout, direction: int, order: TileOrder, uses: Sequence[Use]
) -> LayoutCandidate:
    line = layout.swizzle.atom_elements(layout.element)
    extent = layout.shape[-2:][direction]
    name = f"swizzle {layout.swizzle}, {CONTIGUITY[direction]}, atoms {order.value}"
    if extent % line:
        tile_evaluation = LayoutEvaluation(
            False,
            f"its contiguous extent of {extent} elements is no multiple of the atom's {line}: "
            f"{padding(layout)} bytes would be padding",
        )
    else:
        tile_evaluation = LayoutEvaluation(
            True, f"{extent} is a multiple of the atom's {line} elements"
        )
    evaluations = _evaluations(layout, uses) if tile_evaluation.accepted else ()
    return LayoutCandidate(layout, name, (("the tile", tile_evaluation), *evaluations))
