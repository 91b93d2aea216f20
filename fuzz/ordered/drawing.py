"""A program while it is drawn: its tiles, numbers for what it defines, and parts of statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from ..generated.choices import Choose
from .program import ROWS, WINDOWS, Index, ProgramTile, View

#: Statements of a program, at most, without those of shapes and those that write tiles before.
_STATEMENTS = 14

#: Positions of rows and stages.
_POSITIONS = 4


@dataclass
class RegionScope:
    """The values that are defined at a position of a program.

    Attributes:
        accumulators, fragments: the readable accumulators, and A fragments, the latest first.
        loops: the loops around it, the innermost first: number and iterations, None if unknown.
        depth: the loops and branches around it.
    """

    accumulators: list[int] = field(default_factory=list[int])
    fragments: list[int] = field(default_factory=list[int])
    loops: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, int | None]])
    depth: int = 0

    def within(self, loop: tuple[int, int | None] | None = None) -> RegionScope:
        """Return the scope of a region."""
        loops = [*([loop] if loop else []), *self.loops]
        return RegionScope([*self.accumulators], [*self.fragments], loops, self.depth + 1)


class ProgramDrawing:
    """A program while it is drawn."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.warpgroups = choose("warpgroups", (1, 1, 1, 2, 2, 3))
        self.rows = ROWS * self.warpgroups
        #: Statements that can still be drawn.
        self.slots_left = _STATEMENTS
        self.numbers = count()
        self.loop_numbers = count()
        self.outputs = count()
        self.bulk = count()
        self.reads = count()
        self.features = {
            name: choose(name, (False,) * often + (True,))
            for name, often in (("viewed", 5), ("bulk", 9), ("given", 9))
        }
        # Parts of a tile of a given layout have layouts of their own, which the text does not compute.
        self.features["viewed"] &= self.warpgroups == 1
        self.tiles = tuple(
            ProgramTile(stages)
            for i in range(choose("tiles", (2, 1, 3, 4)))
            for stages in [choose(f"stages of {i}", (0, 0, 2, 3))]
        )
        self.viewed: int | None = None
        if self.features["viewed"]:
            self.viewed = len(self.tiles)
            self.tiles = (*self.tiles, ProgramTile(viewed=True))

    # -- parts -------------------------------------------------------------------------------------

    def new(self, values: list[int]) -> int:
        """Define a value."""
        value = next(self.numbers)
        values.insert(0, value)
        return value

    def accumulator(self, prefix: str, scope: RegionScope) -> int:
        """Draw one of the latest accumulators."""
        place = self.choose(f"{prefix} value", (0, 0, 1, 2))
        return scope.accumulators[min(place, len(scope.accumulators) - 1)]

    def view(
        self,
        prefix: str,
        scope: RegionScope,
        rows: int,
        per_warpgroup: bool = False,
        other_than: int | None = None,
    ) -> View:
        """Draw rows of a tile: all, or a part that begins at a multiple of its extent."""
        whole = rows == self.rows
        tiles = [
            i for i, spec in enumerate(self.tiles) if i != other_than and (whole or not spec.viewed)
        ]
        tile = self.choose(f"{prefix} tile", tiles or [0])
        stage = None
        if stages := self.tiles[tile].stages:
            stage = self.position(f"{prefix} stage", scope, stages)
        if whole:
            return View(tile, stage, None, rows)
        if per_warpgroup:
            return View(tile, stage, Index(), rows, per_warpgroup=True)
        return View(
            tile, stage, self.position(f"{prefix} row", scope, self.rows // rows, rows), rows
        )

    def position(self, prefix: str, scope: RegionScope, extent: int, scale: int = 1) -> Index:
        """Draw an index below an extent: a constant, or a function of a loop variable."""
        # Remainders multiply the cases of loops whose number of iterations is not known.
        extent = min(extent, _POSITIONS)
        add = self.choose(f"{prefix} at", range(extent))
        if scope.loops and self.choose(f"{prefix} moves", (True, True, False)):
            place = self.choose(f"{prefix} with", range(len(scope.loops)))
            number, trips = scope.loops[place]
            most = trips if trips is not None else WINDOWS
            small = add + most <= extent and self.choose(f"{prefix} direct", (False, True))
            return Index(add, number, 0 if small else extent, scale)
        return Index(add, scale=scale)

    def window(self, counter: count[int], scope: RegionScope) -> Index:
        """Return the windows of an output: one for each iteration of the innermost loop."""
        first = next(counter) * WINDOWS
        return Index(first, scope.loops[0][0] if scope.loops else None)
