"""The choice of a tile's layout: the candidates, what each use says of each, and the one picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .atoms import Order, padding, tile_of_atoms
from .canonical import Mismatch
from .elements import UNIT_BYTES, Element
from .modes import LayoutError, Start
from .operand import Role, operand_blocks
from .swizzle import WIDEST_FIRST, Swizzle
from .tile import Slice, TileLayout
from .transfer import CONTIGUITY, Transfer


@dataclass(frozen=True)
class Verdict:
    """What one use says of one layout.

    Attributes:
        accepted: whether it can be used so.
        reason: why, or how.
        dear: whether a loop pays for it, with descriptors that are computed at run time.
    """

    accepted: bool
    reason: str
    dear: bool = False


@dataclass(frozen=True)
class Step:
    """One step from a tile to the part of it that a use touches.

    Attributes:
        starts: where the part begins along each dimension, in elements.
        sizes: its extents; None takes one stage and drops the leading dimension.
    """

    starts: tuple[Start, ...]
    sizes: tuple[int, ...] | None


def follow(layout: TileLayout, path: Sequence[Step]) -> Slice:
    """The part at the end of a path, as a slice of the tile.

    Raises:
        LayoutError: if a step leaves the tile, or the part does not begin at a multiple of 16
            bytes.
    """
    part = Slice(layout, 0)
    for step in path:
        inner = part.layout
        part = part.then(
            inner.stage(step.starts[0])
            if step.sizes is None
            else inner.slice(step.starts, step.sizes)
        )
    if part.first_multiple * layout.element.bits % (UNIT_BYTES * 8):
        raise LayoutError(
            f"the part begins {part.first_multiple} elements of {layout.element} or a multiple of that "
            f"into the tile; tensor cores and 16-byte accesses need multiples of {UNIT_BYTES} bytes"
        )
    return part


class Use(Protocol):
    """Something that a program does with a tile and that its layout must allow."""

    @property
    def what(self) -> str:
        """The use in words, for explanations."""
        ...

    def judge(self, layout: TileLayout) -> Verdict:
        """Whether the tile, having that layout, can be used so."""
        ...


@dataclass(frozen=True)
class OperandUse:
    """A tile, or a part of it, as an operand of an mma."""

    what: str
    role: Role
    path: tuple[Step, ...] = ()

    def judge(self, layout: TileLayout) -> Verdict:
        try:
            part = follow(layout, self.path).layout
        except LayoutError as error:
            return Verdict(False, str(error))
        found = operand_blocks(part, self.role)
        if isinstance(found, Mismatch):
            return Verdict(False, found.reason)
        form = f"{found.canonical.swizzle.cute} o {found.canonical.form.text}"
        count = len(found.terms)
        more = f", by {count} descriptors computed at run time" if count > 1 else ""
        return Verdict(True, f"{found.canonical.major}, {form}{more}", bool(more))


@dataclass(frozen=True)
class TransferUse:
    """A tile, or a part of it, filled or read by 16-byte accesses of all threads."""

    what: str
    transfer: Transfer
    path: tuple[Step, ...] = ()

    def judge(self, layout: TileLayout) -> Verdict:
        try:
            part = follow(layout, self.path).layout
        except LayoutError as error:
            return Verdict(False, str(error))
        problem = self.transfer.fits(part)
        if problem:
            return Verdict(False, problem)
        access = self.transfer.conflicts(part)
        if access.conflicts:
            return Verdict(
                True, f"bank conflicts: {access.wavefronts} passes where {access.ideal} would do"
            )
        return Verdict(True, "no bank conflicts")


@dataclass(frozen=True)
class Candidate:
    """A layout that was considered.

    Attributes:
        layout: the layout.
        name: it in words.
        verdicts: what each use said; the tile itself speaks first.
    """

    layout: TileLayout
    name: str
    verdicts: tuple[tuple[str, Verdict], ...]

    @property
    def accepted(self) -> bool:
        """Whether nothing speaks against it."""
        return all(v.accepted for _, v in self.verdicts)

    @property
    def dear(self) -> bool:
        """Whether something pays for it in a loop."""
        return any(v.dear for _, v in self.verdicts)

    @property
    def objection(self) -> str:
        """The first refusal, with who refused; empty if there is none."""
        return next((f"{who}: {v.reason}" for who, v in self.verdicts if not v.accepted), "")


@dataclass(frozen=True)
class Choice:
    """The outcome.

    Attributes:
        candidates: all of them, in the order of preference.
        picked: the first that everything accepts and nothing pays for, else the first that
            everything accepts; None if there is none.
    """

    candidates: tuple[Candidate, ...]
    picked: Candidate | None

    def explain(self) -> str:
        """One line a candidate: the verdict, and why."""
        lines = []
        for candidate in self.candidates:
            if candidate is self.picked:
                said = "; ".join(f"{who}: {v.reason}" for who, v in candidate.verdicts[1:])
                lines.append(f"picked   {candidate.name}: {said or 'nothing uses the tile'}")
            elif candidate.accepted and candidate.dear and self.picked and not self.picked.dear:
                who, why = next((who, v.reason) for who, v in candidate.verdicts if v.dear)
                lines.append(f"possible {candidate.name}: {who}: {why}; the picked one needs none")
            elif candidate.accepted:
                lines.append(f"possible {candidate.name}: the picked one is preferred")
            else:
                lines.append(f"refused  {candidate.name}: {candidate.objection}")
        return "\n".join(lines)


def choose(
    element: Element,
    shape: Sequence[int],
    uses: Sequence[Use],
    max_swizzle: Swizzle = Swizzle.B128,
    contiguous: int | None = None,
    exhaustive: bool = True,
) -> Choice:
    """Picks a tile's layout: the widest swizzle whose atoms divide the tile and that every use takes.

    A wide swizzle spreads a column of 16-byte units over all banks and makes the largest bulk
    copies; CuTe's selector has the same rule. Between equals, columns contiguous come before rows,
    and atoms that follow each other across the contiguous dimension before those along it. A layout
    in which a run-time start cuts atoms, so that blocks of an operand need descriptors of their own,
    comes last: each would be computed in the loop that multiplies.

    Args:
        element: the element type.
        shape: the tile's shape, (rows, columns) or (stages, rows, columns).
        uses: what the program does with the tile.
        max_swizzle: the widest swizzle to consider.
        contiguous: 0 or 1 to consider only layouts with rows or columns contiguous.
        exhaustive: judge the candidates after the one that is picked too, for explanations.
    """
    directions = (1, 0) if contiguous is None else (contiguous,)
    candidates: list[Candidate] = []
    for swizzle in WIDEST_FIRST:
        if swizzle.value > max_swizzle.value:
            continue
        for direction in directions:
            seen: set[TileLayout] = set()
            for order in Order:
                layout = tile_of_atoms(element, shape, direction, swizzle, order)
                if layout not in seen:
                    seen.add(layout)
                    candidates.append(_judged(layout, direction, order, uses))
                    done = candidates[-1].accepted and not candidates[-1].dear
                    if done and not exhaustive:
                        return Choice(tuple(candidates), candidates[-1])
    accepted = sorted((c for c in candidates if c.accepted), key=lambda c: c.dear)
    return Choice(tuple(candidates), accepted[0] if accepted else None)


def judge(layout: TileLayout, uses: Sequence[Use]) -> Candidate:
    """What the uses say of a layout that was given."""
    return Candidate(layout, str(layout), tuple((use.what, use.judge(layout)) for use in uses))


def _judged(layout: TileLayout, direction: int, order: Order, uses: Sequence[Use]) -> Candidate:
    line = layout.swizzle.atom_elements(layout.element)
    extent = layout.shape[-2:][direction]
    name = f"swizzle {layout.swizzle}, {CONTIGUITY[direction]}, atoms {order.value}"
    if extent % line:
        own = Verdict(
            False,
            f"its contiguous extent of {extent} elements is no multiple of the atom's {line}: "
            f"{padding(layout)} bytes would be padding",
        )
    else:
        own = Verdict(True, f"{extent} is a multiple of the atom's {line} elements")
    verdicts = [("the tile", own)]
    if own.accepted:
        verdicts += [(use.what, use.judge(layout)) for use in uses]
    return Candidate(layout, name, tuple(verdicts))
