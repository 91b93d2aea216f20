"""Draws programs: statements at random, and the shapes that kernels have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

from ..generated.choices import Choose
from .functions import FUNCTIONS
from .program import (
    BOUND,
    ROWS,
    WINDOWS,
    BulkStore,
    Carried,
    Choice,
    Condition,
    Convert,
    Copy,
    Fill,
    For,
    Given,
    If,
    Index,
    Load,
    LoadGlobal,
    Map,
    Mma,
    Output,
    Program,
    ReadMemory,
    Statement,
    Store,
    TileOf,
    View,
    Window,
    WriteMemory,
    views,
)

#: Statements of the program, of a loop, and of a branch, at most.
_SLOTS, _LOOP_SLOTS, _BRANCH_SLOTS = 7, 5, 3

#: Positions of rows and stages.
_POSITIONS = 4

#: Loops around a statement, at most.
_DEPTH = 2

_GIVEN = (
    "gpu.barrier",
    '"smem.fence"() : () -> ()',
    '"smem.copy_commit"() : () -> ()',
    '"smem.copy_wait"() {pending = 0 : i32} : () -> ()',
    '"smem.copy_wait"() {pending = 1 : i32} : () -> ()',
    '"smem.warpgroup_barrier"() : () -> ()',
)

#: Kinds of statements, as often as they are drawn.
_KINDS = (
    *["none"] * 2,
    *["copy"] * 3,
    *["copy_async"] * 3,
    *["mma"] * 5,
    *["store"] * 3,
    *["load"] * 2,
    *["map"] * 2,
    *["for"] * 4,
    *["if"] * 2,
    *["output"] * 2,
    "tile copy",
    "load global",
    "fill",
)


@dataclass
class Scope:
    """What is defined at a place.

    Attributes:
        accumulators, fragments: the readable accumulators, and A fragments, the latest first.
        loops: the loops around it, the innermost first: number and iterations, None if unknown.
    """

    accumulators: list[int] = field(default_factory=list[int])
    fragments: list[int] = field(default_factory=list[int])
    loops: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, int | None]])

    def within(self, loop: tuple[int, int | None] | None = None) -> Scope:
        """Return the scope of a region."""
        loops = [*([loop] if loop else []), *self.loops]
        return Scope([*self.accumulators], [*self.fragments], loops)


class Drawing:
    """A program while it is drawn."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose
        self.warpgroups = choose("warpgroups", (1, 1, 1, 2, 2, 3))
        self.rows = ROWS * self.warpgroups
        self._numbers = count()
        self._loop_numbers = count()
        self._outputs = count()
        self._bulk = count()
        self._reads = count()
        self._features = {
            name: choose(name, (False,) * often + (True,))
            for name, often in (("viewed", 5), ("bulk", 9), ("given", 9))
        }
        # Parts of a tile of a given layout have layouts of their own, which the text does not compute.
        self._features["viewed"] &= self.warpgroups == 1
        self.tiles = tuple(
            TileOf(stages) for i in range(choose("tiles", (2, 1, 3, 4)))
            for stages in [choose(f"stages of {i}", (0, 0, 2, 3))]
        )
        self._viewed: int | None = None
        if self._features["viewed"]:
            self._viewed = len(self.tiles)
            self.tiles = (*self.tiles, TileOf(viewed=True))

    def program(self) -> Program:
        """Draw the program."""
        choose = self._choose
        scope = Scope()
        body = self.body("", _SLOTS, scope)
        if choose("dump", (False, True)):
            body = (*body, *self._dump())
        body = self._initialised(body)
        body = (*body, *self._rest(scope))
        return Program(
            self.warpgroups,
            choose("blocks", (1, 1, 1, 2)),
            choose("trips", (2, 0, 1, 3)),
            self.tiles,
            body,
            next(self._outputs) * WINDOWS,
            next(self._bulk) * WINDOWS,
            next(self._reads) * WINDOWS,
            choose("seed", range(1 << 16)),
        )

    # -- statements --------------------------------------------------------------------------------

    def body(self, path: str, slots: int, scope: Scope) -> tuple[Statement, ...]:
        """Draw the statements of a region; what they define is added to the scope."""
        found: list[Statement] = []
        for slot in range(slots):
            at = f"{path}{slot}"
            kind = self._choose(f"{at} is", _KINDS)
            for feature, kinds in (
                ("viewed", ("write", "read")),
                ("bulk", ("bulk store",)),
                ("given", ("given",)),
            ):
                if self._features[feature] and not (feature == "given" and self._features["bulk"]):
                    kind = self._choose(f"{at} {feature}", (kind, kind, kind, *kinds))
            if kind != "none":
                found += _DRAWN[kind](self, at, scope)
        return tuple(found)

    def copy(self, at: str, scope: Scope, asynchronous: bool = False) -> Iterable[Statement]:
        """Draw a copy from global memory to a tile."""
        target = self._view(at, scope, self._choose(f"{at} rows", (self.rows, ROWS, 16)))
        rows = target.rows
        parts = self.rows * 4 // rows
        row = self._position(f"{at} from", scope, parts, rows)
        # In kernels that store in bulk, other asynchronous copies are not followed.
        yield Copy(Window(row, rows), target, asynchronous and not self._features["bulk"])

    def copy_async(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw an asynchronous copy."""
        return self.copy(at, scope, asynchronous=True)

    def tile_copy(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a copy from one tile to another."""
        rows = self._choose(f"{at} rows", (self.rows, ROWS))
        target = self._view(at, scope, rows)
        source = self._view(f"{at} source", scope, rows, other_than=target.tile)
        if source.tile != target.tile:
            yield Copy(source, target)

    def mma(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw an mma; its A may be converted from an accumulator before."""
        a: View | int
        of_a = self._choose(f"{at} A", ("tile", "tile", "convert", "load", "fragment"))
        if of_a == "convert" and scope.accumulators:
            a = self._new(scope.fragments)
            yield Convert(a, self._accumulator(f"{at} A source", scope))
        elif of_a == "load":
            a = self._new(scope.fragments)
            yield Load(a, self._view(f"{at} A", scope, ROWS, own=True), as_a=True)
        elif of_a == "fragment" and scope.fragments:
            a = self._choose(f"{at} A fragment", scope.fragments[:2])
        else:
            a = self._view(f"{at} A", scope, ROWS, own=True)
        b = self._view(f"{at} B", scope, 16)
        added: int | None = None
        if scope.accumulators and self._choose(f"{at} adds", (True, False)):
            added = self._accumulator(f"{at} to", scope)
        yield Mma(self._new(scope.accumulators), a, b, added)

    def store(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a store of an accumulator to a tile."""
        if scope.accumulators:
            value = self._accumulator(at, scope)
            yield Store(value, self._view(at, scope, ROWS, own=True))

    def load(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a load of an accumulator from a tile: of the own rows, or of all warpgroups' the same."""
        view = self._view(at, scope, ROWS, own=self._choose(f"{at} own", (True, False)))
        yield Load(self._new(scope.accumulators), view)

    def load_global(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a load from global memory."""
        slot = self._choose(f"{at} slot", range(4))
        yield LoadGlobal(self._new(scope.accumulators), slot)

    def fill(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a fill."""
        value = self._choose(f"{at} value", (0, 1, -BOUND))
        yield Fill(self._new(scope.accumulators), value)

    def map(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw an element-wise function."""
        if scope.accumulators:
            name = self._choose(f"{at} function", (*FUNCTIONS,))
            inputs = [
                self._accumulator(f"{at} {i}", scope) for i in range(FUNCTIONS[name].arity)
            ]
            yield Map(self._new(scope.accumulators), name, tuple(inputs))

    def output(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a store to global memory."""
        if scope.accumulators:
            yield Output(self._accumulator(at, scope), self._window(self._outputs, scope))

    def bulk_store(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a store by TMA."""
        # TMA reads tiles at multiples of 128 bytes.
        yield BulkStore(self._view(at, scope, ROWS, other_than=self._viewed), self._window(self._bulk, scope))

    def write(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a store to viewed memory."""
        yield WriteMemory(self._viewed or 0, self._choose(f"{at} value", range(5)))

    def read(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a load from viewed memory."""
        yield ReadMemory(self._viewed or 0, self._window(self._reads, scope))

    def given(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw an op that orders accesses."""
        yield Given(self._choose(f"{at} op", _GIVEN))

    # -- control flow ------------------------------------------------------------------------------

    def loop(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a loop, with accumulators that it carries."""
        if len(scope.loops) == _DEPTH:
            return
        number = next(self._loop_numbers)
        trips = self._choose(f"{at} trips", (3, 2, None, 1, 2, 4, 0))
        inner = scope.within((number, trips))
        taken: list[tuple[int, int]] = []
        for i in range(self._choose(f"{at} carries", (0, 1, 2))):
            if scope.accumulators:
                initial = self._accumulator(f"{at} carried {i}", scope)
            else:
                initial = self._new(scope.accumulators)
                yield Fill(initial, 0)
            taken.append((initial, self._new(inner.accumulators)))
        body = self.body(f"{at}.", _LOOP_SLOTS, inner)
        carried: list[Carried] = []
        for i, (initial, argument) in enumerate(taken):
            yielded = self._accumulator(f"{at} yielded {i}", inner)
            carried.append(Carried(initial, argument, yielded, self._new(scope.accumulators)))
        yield For(number, trips, tuple(carried), body)

    def branch(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw branches, of a condition that is the same for all threads."""
        of = self._choose(f"{at} of", ("trips", "block", *["loop"] * 3 * bool(scope.loops)))
        predicate = self._choose(f"{at} predicate", ("ult", "eq", "ne"))
        number = self._choose(f"{at} number", (1, 0, 2))
        loop = scope.loops[0][0] if scope.loops else 0
        first, second = scope.within(), scope.within()
        then = self.body(f"{at}.then.", _BRANCH_SLOTS, first)
        otherwise: tuple[Statement, ...] = ()
        if self._choose(f"{at} has else", (False, True)):
            otherwise = self.body(f"{at}.else.", _BRANCH_SLOTS, second)
        results: tuple[Choice, ...] = ()
        made = first.accumulators[:1] != scope.accumulators[:1]
        if scope.accumulators and made and self._choose(f"{at} results", (False, True)):
            # A branch without ops would become a selection, which no op does for fragments.
            other = self._accumulator(f"{at} otherwise", second)
            results = (
                Choice(first.accumulators[0], other, self._new(scope.accumulators)),
            )
        condition = Condition(of, loop, predicate, number)
        if then or otherwise or results:
            yield If(condition, then, otherwise, results)

    # -- parts -------------------------------------------------------------------------------------

    def _new(self, values: list[int]) -> int:
        """Define a value."""
        value = next(self._numbers)
        values.insert(0, value)
        return value

    def _accumulator(self, at: str, scope: Scope) -> int:
        """One of the latest accumulators."""
        place = self._choose(f"{at} value", (0, 0, 1, 2))
        return scope.accumulators[min(place, len(scope.accumulators) - 1)]

    def _view(
        self, at: str, scope: Scope, rows: int, own: bool = False, other_than: int | None = None
    ) -> View:
        """Rows of a tile: all of them, or a part that begins at a multiple of them."""
        whole = rows == self.rows
        tiles = [
            i for i, of in enumerate(self.tiles) if i != other_than and (whole or not of.viewed)
        ]
        tile = self._choose(f"{at} tile", tiles or [0])
        stage = None
        if stages := self.tiles[tile].stages:
            stage = self._position(f"{at} stage", scope, stages)
        if whole:
            return View(tile, stage, None, rows)
        if own:
            return View(tile, stage, Index(), rows, own=True)
        return View(tile, stage, self._position(f"{at} row", scope, self.rows // rows, rows), rows)

    def _position(self, at: str, scope: Scope, extent: int, scale: int = 1) -> Index:
        """An index below an extent, a constant or of a loop."""
        # Remainders multiply what is to be told apart in loops whose iterations are not known.
        extent = min(extent, _POSITIONS)
        add = self._choose(f"{at} at", range(extent))
        if scope.loops and self._choose(f"{at} moves", (True, True, False)):
            place = self._choose(f"{at} with", range(len(scope.loops)))
            number, trips = scope.loops[place]
            most = trips if trips is not None else WINDOWS
            small = add + most <= extent and self._choose(f"{at} direct", (False, True))
            return Index(add, number, 0 if small else extent, scale)
        return Index(add, scale=scale)

    def _window(self, counter: count[int], scope: Scope) -> Index:
        """The windows of an output: one for each iteration of the innermost loop."""
        first = next(counter) * WINDOWS
        return Index(first, scope.loops[0][0] if scope.loops else None)

    # -- around ------------------------------------------------------------------------------------

    def _initialised(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Add what writes each tile before the first statement that accesses it."""
        found: list[Statement] = []
        written = set[int]()
        for statement in body:
            for tile in dict.fromkeys(views(statement)):
                if tile not in written:
                    written.add(tile)
                    if not _writes_all(statement, tile):
                        found += self._writes(tile)
            found.append(statement)
        return tuple(found)

    def _writes(self, tile: int) -> Iterable[Statement]:
        how = self._choose(f"writes {tile}", ("copy", "copy_async", "loop", "async loop", "store"))
        stages = self.tiles[tile].stages
        asynchronous = "async" in how and not self._features["bulk"]
        if how == "store":
            value = next(self._numbers)
            yield LoadGlobal(value, tile % 4)
            for stage in range(max(1, stages)):
                at = Index(stage) if stages else None
                whole = self.warpgroups == 1
                row = None if whole else Index()
                yield Store(value, View(tile, at, row, ROWS, own=not whole))
        elif "loop" in how and stages:
            number = next(self._loop_numbers)
            window = Window(Index(0, number, 0, self.rows), self.rows)
            target = View(tile, Index(0, number), None, self.rows)
            yield For(number, stages, (), (Copy(window, target, asynchronous),))
        else:
            for stage in range(max(1, stages)):
                at = Index(stage) if stages else None
                window = Window(Index((tile + stage) % 4, scale=self.rows), self.rows)
                yield Copy(window, View(tile, at, None, self.rows), asynchronous)

    def _dump(self) -> Iterable[Statement]:
        """Store every tile to D."""
        for tile, kind in enumerate(self.tiles):
            for stage in range(max(1, kind.stages)):
                value = next(self._numbers)
                row = None if self.warpgroups == 1 else Index()
                at = Index(stage) if kind.stages else None
                yield Load(value, View(tile, at, row, ROWS, own=row is not None))
                yield Output(value, Index(next(self._outputs) * WINDOWS))

    def _rest(self, scope: Scope) -> Iterable[Statement]:
        """Store the latest accumulators to D."""
        for value in scope.accumulators[: self._choose("latest", (1, 2, 3))]:
            yield Output(value, Index(next(self._outputs) * WINDOWS))


def _writes_all(statement: Statement, tile: int) -> bool:
    """Whether a statement writes a tile whole, and does not read it."""
    if not isinstance(statement, Copy):
        return False
    target = statement.target
    reads = isinstance(statement.source, View) and statement.source.tile == tile
    return target.tile == tile and target.row is None and target.stage is None and not reads


_DRAWN: dict[str, Callable[[Drawing, str, Scope], Iterable[Statement]]] = {
    "copy": Drawing.copy,
    "copy_async": Drawing.copy_async,
    "tile copy": Drawing.tile_copy,
    "mma": Drawing.mma,
    "store": Drawing.store,
    "load": Drawing.load,
    "load global": Drawing.load_global,
    "fill": Drawing.fill,
    "map": Drawing.map,
    "output": Drawing.output,
    "bulk store": Drawing.bulk_store,
    "write": Drawing.write,
    "read": Drawing.read,
    "given": Drawing.given,
    "for": Drawing.loop,
    "if": Drawing.branch,
}
