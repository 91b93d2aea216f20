"""The choice of a tile's layout: the candidates, what each use says of each, and the one picked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from .atoms import Order, padding, tile_of_atoms
from .banks import Access
from .canonical import Mismatch
from .elements import Element
from .fragment_access import FragmentAccess
from .modes import LayoutError
from .operand import OperandBlocks, Role, operand_blocks
from .path import Step, follow
from .proposals import proposed
from .swizzle import WIDEST_FIRST, Swizzle
from .tensor_box import check_start, share_of, tensor_box
from .tile import TileLayout
from .transfer import CONTIGUITY, Transfer
from .transposition import Relayout


@dataclass(frozen=True)
class Verdict:
    """What one use says of one layout.

    Attributes:
        accepted: whether the layout can be used so.
        reason: why, or how; or why not.
        dear: whether a loop pays for it, with descriptors that are computed at run time.
        turned: whether data has to be turned around for it, which costs instructions.
        conflicts: passes over the banks that an access takes beyond the least.
    """

    accepted: bool
    reason: str
    dear: bool = False
    turned: bool = False
    conflicts: int = 0


class Use(Protocol):
    """Something that a program does with a tile and that its layout must allow."""

    @property
    def what(self) -> str:
        """The use in words, for explanations."""
        ...

    def judge(self, layout: TileLayout) -> Verdict:
        """Whether the tile, having that layout, can be used so."""
        ...


_Judge = TypeVar("_Judge", bound=Callable[..., Verdict])


def refusing(judge: _Judge) -> _Judge:
    """Makes the refusal that it means of a `LayoutError` in a use's `judge`."""

    @wraps(judge)
    def verdict(self: Any, layout: TileLayout) -> Verdict:
        try:
            return judge(self, layout)
        except LayoutError as error:
            return Verdict(False, str(error))

    return cast(_Judge, verdict)


@dataclass(frozen=True)
class OperandUse:
    """A tile, or a part of it, as an operand of an mma, whose A may be sparse."""

    what: str
    role: Role
    path: tuple[Step, ...] = ()
    sparse: bool = False

    @refusing
    def judge(self, layout: TileLayout) -> Verdict:
        part = follow(layout, self.path).layout
        return read_by(operand_blocks(part, self.role, self.sparse))


def read_by(found: OperandBlocks | Mismatch) -> Verdict:
    """What is said of a tile whose parts instructions read so, or cannot read."""
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
    transfer: Transfer | Relayout
    path: tuple[Step, ...] = ()

    @refusing
    def judge(self, layout: TileLayout) -> Verdict:
        part = follow(layout, self.path).layout
        return filled(part, self.transfer)


def filled(part: TileLayout, transfer: Transfer | Relayout) -> Verdict:
    """What is said of a tile that is filled so."""
    problem = transfer.fits(part)
    if problem:
        return Verdict(False, problem)
    turned = isinstance(transfer, Relayout) and transfer.turns(part)
    how = "turned around in registers, " if turned else ""
    return _served(transfer.plan(part).conflicts(part), how, turned)


@dataclass(frozen=True)
class FragmentUse:
    """A tile, or a part of it, that a warpgroup loads into a fragment or stores one to.

    Attributes:
        access: from a layout to how its elements are accessed.
    """

    what: str
    access: Callable[[TileLayout], FragmentAccess]
    path: tuple[Step, ...] = ()

    @refusing
    def judge(self, layout: TileLayout) -> Verdict:
        part = follow(layout, self.path).layout
        access = self.access(part)
        return _served(access.conflicts(part), f"{access}, ")


@dataclass(frozen=True)
class BulkUse:
    """A tile, or a part of it, that bulk tensor copies (TMA) fill or read.

    Attributes:
        contiguous: the dimension along which the data in global memory is contiguous.
        blocks: blocks of a cluster that share the copy.
        stores: whether they read the tile.
    """

    what: str
    contiguous: int
    blocks: int = 1
    path: tuple[Step, ...] = ()
    stores: bool = False

    @refusing
    def judge(self, layout: TileLayout) -> Verdict:
        part = follow(layout, self.path)
        whole = tensor_box(part.layout)
        check_start(part)
        box = share_of(part.layout, self.blocks).box if self.blocks > 1 else whole
        if box.contiguous != self.contiguous:
            return Verdict(
                False,
                f"the data in global memory is {CONTIGUITY[self.contiguous]}, but the tile is "
                f"{CONTIGUITY[box.contiguous]}; TMA moves lines as they are",
            )
        copies = f"{len(box.places)} copies" if len(box.places) > 1 else "one copy"
        each = f" in each of {self.blocks} blocks" if self.blocks > 1 else ""
        return Verdict(True, f"{copies} of {box.shape[0]}x{box.shape[1]}{each}")


def _served(access: Access, how: str, turned: bool = False) -> Verdict:
    """What is said of an access that can be."""
    banks = "no bank conflicts"
    if access.conflicts:
        banks = f"bank conflicts: {access.wavefronts} passes where {access.ideal} would do"
    return Verdict(True, how + banks, turned=turned, conflicts=access.conflicts)


class Cost(NamedTuple):
    """What a layout costs; layouts are compared by the first that differs.

    Attributes:
        dear: whether a loop pays for it.
        turned: whether data has to be turned around for it.
        conflicts: passes over the banks beyond the least, of one access of each use.
    """

    dear: bool
    turned: bool
    conflicts: int


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
    def cost(self) -> Cost:
        """What it costs all uses together."""
        said = [verdict for _, verdict in self.verdicts]
        return Cost(
            any(v.dear for v in said),
            any(v.turned for v in said),
            sum(v.conflicts for v in said),
        )

    @property
    def objection(self) -> str:
        """The first refusal, with who refused; empty if there is none."""
        return next((f"{who}: {v.reason}" for who, v in self.verdicts if not v.accepted), "")


@dataclass(frozen=True)
class Line:
    """What a choice says of a candidate.

    Attributes:
        verdict: "picked", "possible" or "refused".
        candidate: the layout.
        why: what its uses say; why another is preferred; or who refused it, and why.
    """

    verdict: str
    candidate: Candidate
    why: str

    def __str__(self) -> str:
        return f"{self.verdict:8} {self.candidate.name}: {self.why}"


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
        """One line a candidate: the verdict, and why."""
        return "\n".join(map(str, self.lines))

    def _line(self, candidate: Candidate) -> Line:
        if candidate is self.picked:
            said = "; ".join(f"{who}: {v.reason}" for who, v in candidate.verdicts[1:])
            return Line("picked", candidate, said or "nothing uses the tile")
        if candidate.accepted:
            return Line("possible", candidate, self._preferred_to(candidate))
        return Line("refused", candidate, candidate.objection)

    def _preferred_to(self, candidate: Candidate) -> str:
        """Why the picked one was preferred to another that everything accepts."""
        assert self.picked is not None
        pairs = zip(Cost._fields, candidate.cost, self.picked.cost, strict=True)
        dearer = next((field for field, its, best in pairs if its > best), None)
        if dearer is None:
            return "the picked one is preferred"
        both = zip(candidate.verdicts, self.picked.verdicts, strict=True)
        who, why = next(
            (who, its.reason)
            for (who, its), (_, best) in both
            if getattr(its, dearer) > getattr(best, dearer)
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

    Layouts for which no data is turned around on its way come before those for which some is.

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
        exhaustive: judge the candidates after the one that is picked too, for explanations.
        swizzles: the modes that the architecture has, the preferred first.
    """
    directions = (1, 0) if contiguous is None else (contiguous,)
    candidates: list[Candidate] = []
    for candidate in _candidates(element, shape, uses, max_swizzle, directions, swizzles):
        candidates.append(candidate)
        if candidate.accepted and not any(candidate.cost) and not exhaustive:
            return Choice(tuple(candidates), candidate)
    accepted = [c for c in candidates if c.accepted]
    return Choice(tuple(candidates), min(accepted, key=lambda c: c.cost, default=None))


def judge(layout: TileLayout, uses: Sequence[Use]) -> Candidate:
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
        own = ("the tile", Verdict(True, "a use of it proposes this"))
        yield Candidate(found.layout, found.name, (own, *_said(found.layout, uses)))
    for swizzle in swizzles:
        if swizzle.width > max_swizzle.width:
            continue
        for direction in directions:
            seen: set[TileLayout] = set()
            for order in Order:
                layout = tile_of_atoms(element, shape, direction, swizzle, order)
                if layout not in seen:
                    seen.add(layout)
                    yield _judged(layout, direction, order, uses)


def _said(layout: TileLayout, uses: Sequence[Use]) -> tuple[tuple[str, Verdict], ...]:
    return tuple((use.what, use.judge(layout)) for use in uses)


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
    verdicts = _said(layout, uses) if own.accepted else ()
    return Candidate(layout, name, (("the tile", own), *verdicts))
