"""Draws of programs: statements at random, and the shapes that kernels have."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..generated.choices import Choose
from .drawing import ProgramDrawing, RegionScope
from .functions import FUNCTIONS
from .kernel_shapes import attention, matmul
from .program import (
    BOUND,
    ROWS,
    WINDOWS,
    BranchResult,
    BulkStore,
    Carried,
    Condition,
    Convert,
    Copy,
    Fill,
    For,
    If,
    Index,
    Load,
    LoadGlobal,
    Map,
    Mma,
    OrderedProgram,
    OrderingOp,
    Output,
    ReadMemory,
    Statement,
    Store,
    View,
    Window,
    WriteMemory,
    accessed_tiles,
)

#: Statements of the program, of a loop, and of a branch, at most.
_SLOTS, _LOOP_SLOTS, _BRANCH_SLOTS = 7, 5, 3

#: Loops around a statement, and loops and branches around it, at most.
_LOOPS, _DEPTH = 2, 3

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
    "matmul",
    "attention",
)


class _Statements(ProgramDrawing):
    """Statements while they are drawn."""

    def program(self) -> OrderedProgram:
        """Draw the program."""
        choose = self.choose
        scope = RegionScope()
        body = self.body("", _SLOTS, scope)
        if choose("dump", (False, True)):
            body = (*body, *store_tiles(self))
        body = write_tiles_first(self, body)
        body = (*body, *self._outputs(scope))
        return OrderedProgram(
            self.warpgroups,
            choose("blocks", (1, 1, 1, 2)),
            choose("trips", (2, 0, 1, 3)),
            self.tiles,
            body,
            next(self.outputs) * WINDOWS,
            next(self.bulk) * WINDOWS,
            next(self.reads) * WINDOWS,
            choose("seed", range(1 << 16)),
        )

    # -- statements --------------------------------------------------------------------------------

    def body(self, path: str, slots: int, scope: RegionScope) -> tuple[Statement, ...]:
        """Draw the statements of a region; what they define is added to the scope."""
        statements: list[Statement] = []
        for slot in range(slots):
            prefix = f"{path}{slot}"
            if not self.slots_left:
                break
            kind = self.choose(f"{prefix} is", _KINDS)
            for feature, kinds in (
                ("viewed", ("write", "read")),
                ("bulk", ("bulk store",)),
                ("given", ("given",)),
            ):
                if self.features[feature] and not (feature == "given" and self.features["bulk"]):
                    kind = self.choose(f"{prefix} {feature}", (kind, kind, kind, *kinds))
            if kind != "none":
                self.slots_left -= 1
                statements += _DRAWN[kind](self, prefix, scope)
        return tuple(statements)

    def copy(
        self, prefix: str, scope: RegionScope, asynchronous: bool = False
    ) -> Iterable[Statement]:
        """Draw a copy from global memory to a tile."""
        target = self.view(prefix, scope, self.choose(f"{prefix} rows", (self.rows, ROWS, 16)))
        rows = target.rows
        parts = self.rows * 4 // rows
        row = self.position(f"{prefix} from", scope, parts, rows)
        # In kernels that store in bulk, other asynchronous copies are not followed.
        yield Copy(Window(row, rows), target, asynchronous and not self.features["bulk"])

    def copy_async(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw an asynchronous copy."""
        return self.copy(prefix, scope, asynchronous=True)

    def tile_copy(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a copy from one tile to another."""
        rows = self.choose(f"{prefix} rows", (self.rows, ROWS))
        target = self.view(prefix, scope, rows)
        source = self.view(f"{prefix} source", scope, rows, other_than=target.tile)
        if source.tile != target.tile:
            yield Copy(source, target)

    def mma(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw an mma; its A may be converted from an accumulator before."""
        a: View | int
        kind_of_a = self.choose(f"{prefix} A", ("tile", "tile", "convert", "load", "fragment"))
        if kind_of_a == "convert" and scope.accumulators:
            a = self.new(scope.fragments)
            yield Convert(a, self.accumulator(f"{prefix} A source", scope))
        elif kind_of_a == "load":
            a = self.new(scope.fragments)
            yield Load(a, self.view(f"{prefix} A", scope, ROWS, per_warpgroup=True), as_a=True)
        elif kind_of_a == "fragment" and scope.fragments:
            a = self.choose(f"{prefix} A fragment", scope.fragments[:2])
        else:
            a = self.view(f"{prefix} A", scope, ROWS, per_warpgroup=True)
        b = self.view(f"{prefix} B", scope, 16)
        added: int | None = None
        if scope.accumulators and self.choose(f"{prefix} adds", (True, False)):
            added = self.accumulator(f"{prefix} to", scope)
        yield Mma(self.new(scope.accumulators), a, b, added)

    def store(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a store of an accumulator to a tile."""
        if scope.accumulators:
            value = self.accumulator(prefix, scope)
            yield Store(value, self.view(prefix, scope, ROWS, per_warpgroup=True))

    def load(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a load of an accumulator from a tile: of each warpgroup's rows, or of the same rows."""
        view = self.view(
            prefix, scope, ROWS, per_warpgroup=self.choose(f"{prefix} own", (True, False))
        )
        yield Load(self.new(scope.accumulators), view)

    def load_global(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a load from global memory."""
        slot = self.choose(f"{prefix} slot", range(4))
        yield LoadGlobal(self.new(scope.accumulators), slot)

    def fill(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a fill."""
        value = self.choose(f"{prefix} value", (0, 1, -BOUND))
        yield Fill(self.new(scope.accumulators), value)

    def map(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw an element-wise function."""
        if scope.accumulators:
            name = self.choose(f"{prefix} function", (*FUNCTIONS,))
            inputs = [
                self.accumulator(f"{prefix} {i}", scope) for i in range(FUNCTIONS[name].arity)
            ]
            yield Map(self.new(scope.accumulators), name, tuple(inputs))

    def output(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a store to global memory."""
        if scope.accumulators:
            yield Output(self.accumulator(prefix, scope), self.window(self.outputs, scope))

    def bulk_store(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a store by TMA."""
        # TMA reads tiles at multiples of 128 bytes.
        yield BulkStore(
            self.view(prefix, scope, ROWS, other_than=self.viewed), self.window(self.bulk, scope)
        )

    def write(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a store to viewed memory."""
        yield WriteMemory(self.viewed or 0, self.choose(f"{prefix} value", range(5)))

    def read(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a load from viewed memory."""
        yield ReadMemory(self.viewed or 0, self.window(self.reads, scope))

    def ordering_op(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw an op that orders accesses."""
        yield OrderingOp(self.choose(f"{prefix} op", _GIVEN))

    # -- control flow ------------------------------------------------------------------------------

    def loop(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw a loop, with accumulators that it carries."""
        if len(scope.loops) == _LOOPS or scope.depth == _DEPTH:
            return
        number = next(self.loop_numbers)
        trips = self.choose(f"{prefix} trips", (3, 2, None, 1, 2, 4, 0))
        inner = scope.within((number, trips))
        pairs: list[tuple[int, int]] = []
        for i in range(self.choose(f"{prefix} carries", (0, 1, 2))):
            if scope.accumulators:
                initial = self.accumulator(f"{prefix} carried {i}", scope)
            else:
                initial = self.new(scope.accumulators)
                yield Fill(initial, 0)
            pairs.append((initial, self.new(inner.accumulators)))
        body = self.body(f"{prefix}.", _LOOP_SLOTS, inner)
        carried: list[Carried] = []
        for i, (initial, argument) in enumerate(pairs):
            yielded = self.accumulator(f"{prefix} yielded {i}", inner)
            carried.append(Carried(initial, argument, yielded, self.new(scope.accumulators)))
        yield For(number, trips, tuple(carried), body)

    def branch(self, prefix: str, scope: RegionScope) -> Iterable[Statement]:
        """Draw branches, of a condition that is the same for all threads."""
        if scope.depth == _DEPTH:
            return
        operand = self.choose(f"{prefix} of", ("trips", "block", *["loop"] * 3 * bool(scope.loops)))
        predicate = self.choose(f"{prefix} predicate", ("ult", "eq", "ne"))
        number = self.choose(f"{prefix} number", (1, 0, 2))
        loop = scope.loops[0][0] if scope.loops else 0
        first, second = scope.within(), scope.within()
        then = self.body(f"{prefix}.then.", _BRANCH_SLOTS, first)
        otherwise: tuple[Statement, ...] = ()
        if self.choose(f"{prefix} has else", (False, True)):
            otherwise = self.body(f"{prefix}.else.", _BRANCH_SLOTS, second)
        results: tuple[BranchResult, ...] = ()
        is_new = first.accumulators[:1] != scope.accumulators[:1]
        if scope.accumulators and is_new and self.choose(f"{prefix} results", (False, True)):
            # A branch without ops would become a selection, which no op does for fragments.
            other = self.accumulator(f"{prefix} otherwise", second)
            results = (BranchResult(first.accumulators[0], other, self.new(scope.accumulators)),)
        condition = Condition(operand, loop, predicate, number)
        if then or otherwise or results:
            yield If(condition, then, otherwise, results)

    def _outputs(self, scope: RegionScope) -> Iterable[Statement]:
        """Store the latest accumulators to D."""
        for value in scope.accumulators[: self.choose("latest", (1, 2, 3))]:
            yield Output(value, Index(next(self.outputs) * WINDOWS))


_DRAWN: dict[str, Callable[[_Statements, str, RegionScope], Iterable[Statement]]] = {
    "copy": _Statements.copy,
    "copy_async": _Statements.copy_async,
    "tile copy": _Statements.tile_copy,
    "mma": _Statements.mma,
    "store": _Statements.store,
    "load": _Statements.load,
    "load global": _Statements.load_global,
    "fill": _Statements.fill,
    "matmul": matmul,
    "attention": attention,
    "map": _Statements.map,
    "output": _Statements.output,
    "bulk store": _Statements.bulk_store,
    "write": _Statements.write,
    "read": _Statements.read,
    "given": _Statements.ordering_op,
    "for": _Statements.loop,
    "if": _Statements.branch,
}


def write_tiles_first(
    drawing: ProgramDrawing, body: tuple[Statement, ...]
) -> tuple[Statement, ...]:
    """Add statements that write each tile before the first statement that accesses it."""
    statements: list[Statement] = []
    written = set[int]()
    for statement in body:
        for tile in dict.fromkeys(accessed_tiles(statement)):
            if tile not in written:
                written.add(tile)
                if not _writes_all(statement, tile):
                    statements += _writes(drawing, tile)
        statements.append(statement)
    return tuple(statements)


def _writes(drawing: ProgramDrawing, tile: int) -> Iterable[Statement]:
    method = drawing.choose(f"writes {tile}", ("copy", "copy_async", "loop", "async loop", "store"))
    stages = drawing.tiles[tile].stages
    asynchronous = "async" in method and not drawing.features["bulk"]
    if method == "store":
        value = next(drawing.numbers)
        yield LoadGlobal(value, tile % 4)
        for stage in range(max(1, stages)):
            stage_index = Index(stage) if stages else None
            whole = drawing.warpgroups == 1
            row = None if whole else Index()
            yield Store(value, View(tile, stage_index, row, ROWS, per_warpgroup=not whole))
    elif "loop" in method and stages:
        number = next(drawing.loop_numbers)
        window = Window(Index(0, number, 0, drawing.rows), drawing.rows)
        target = View(tile, Index(0, number), None, drawing.rows)
        yield For(number, stages, (), (Copy(window, target, asynchronous),))
    else:
        for stage in range(max(1, stages)):
            stage_index = Index(stage) if stages else None
            window = Window(Index((tile + stage) % 4, scale=drawing.rows), drawing.rows)
            yield Copy(window, View(tile, stage_index, None, drawing.rows), asynchronous)


def store_tiles(drawing: ProgramDrawing) -> Iterable[Statement]:
    """Store every tile to D."""
    for tile, kind in enumerate(drawing.tiles):
        for stage in range(max(1, kind.stages)):
            value = next(drawing.numbers)
            row = None if drawing.warpgroups == 1 else Index()
            stage_index = Index(stage) if kind.stages else None
            yield Load(value, View(tile, stage_index, row, ROWS, per_warpgroup=row is not None))
            yield Output(value, Index(next(drawing.outputs) * WINDOWS))


def _writes_all(statement: Statement, tile: int) -> bool:
    """Whether a statement writes a tile whole, and does not read it."""
    if not isinstance(statement, Copy):
        return False
    target = statement.target
    reads = isinstance(statement.source, View) and statement.source.tile == tile
    return target.tile == tile and target.row is None and target.stage is None and not reads


def draw(choose: Choose) -> OrderedProgram:
    """Draw a program."""
    return _Statements(choose).program()
