"""Draws programs: statements at random, and the shapes that kernels have."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..generated.choices import Choose
from .drawing import Drawing, Scope
from .functions import FUNCTIONS
from .kernel_shapes import attention, matmul
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
    View,
    Window,
    WriteMemory,
)
from .written import dumped, initialised

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


class _Statements(Drawing):
    """Statements while they are drawn."""

    def program(self) -> Program:
        """Draw the program."""
        choose = self.choose
        scope = Scope()
        body = self.body("", _SLOTS, scope)
        if choose("dump", (False, True)):
            body = (*body, *dumped(self))
        body = initialised(self, body)
        body = (*body, *self._rest(scope))
        return Program(
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

    def body(self, path: str, slots: int, scope: Scope) -> tuple[Statement, ...]:
        """Draw the statements of a region; what they define is added to the scope."""
        found: list[Statement] = []
        for slot in range(slots):
            at = f"{path}{slot}"
            if not self.left:
                break
            kind = self.choose(f"{at} is", _KINDS)
            for feature, kinds in (
                ("viewed", ("write", "read")),
                ("bulk", ("bulk store",)),
                ("given", ("given",)),
            ):
                if self.features[feature] and not (feature == "given" and self.features["bulk"]):
                    kind = self.choose(f"{at} {feature}", (kind, kind, kind, *kinds))
            if kind != "none":
                self.left -= 1
                found += _DRAWN[kind](self, at, scope)
        return tuple(found)

    def copy(self, at: str, scope: Scope, asynchronous: bool = False) -> Iterable[Statement]:
        """Draw a copy from global memory to a tile."""
        target = self.view(at, scope, self.choose(f"{at} rows", (self.rows, ROWS, 16)))
        rows = target.rows
        parts = self.rows * 4 // rows
        row = self.position(f"{at} from", scope, parts, rows)
        # In kernels that store in bulk, other asynchronous copies are not followed.
        yield Copy(Window(row, rows), target, asynchronous and not self.features["bulk"])

    def copy_async(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw an asynchronous copy."""
        return self.copy(at, scope, asynchronous=True)

    def tile_copy(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a copy from one tile to another."""
        rows = self.choose(f"{at} rows", (self.rows, ROWS))
        target = self.view(at, scope, rows)
        source = self.view(f"{at} source", scope, rows, other_than=target.tile)
        if source.tile != target.tile:
            yield Copy(source, target)

    def mma(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw an mma; its A may be converted from an accumulator before."""
        a: View | int
        of_a = self.choose(f"{at} A", ("tile", "tile", "convert", "load", "fragment"))
        if of_a == "convert" and scope.accumulators:
            a = self.new(scope.fragments)
            yield Convert(a, self.accumulator(f"{at} A source", scope))
        elif of_a == "load":
            a = self.new(scope.fragments)
            yield Load(a, self.view(f"{at} A", scope, ROWS, own=True), as_a=True)
        elif of_a == "fragment" and scope.fragments:
            a = self.choose(f"{at} A fragment", scope.fragments[:2])
        else:
            a = self.view(f"{at} A", scope, ROWS, own=True)
        b = self.view(f"{at} B", scope, 16)
        added: int | None = None
        if scope.accumulators and self.choose(f"{at} adds", (True, False)):
            added = self.accumulator(f"{at} to", scope)
        yield Mma(self.new(scope.accumulators), a, b, added)

    def store(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a store of an accumulator to a tile."""
        if scope.accumulators:
            value = self.accumulator(at, scope)
            yield Store(value, self.view(at, scope, ROWS, own=True))

    def load(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a load of an accumulator from a tile: of the own rows, or of all warpgroups' the same."""
        view = self.view(at, scope, ROWS, own=self.choose(f"{at} own", (True, False)))
        yield Load(self.new(scope.accumulators), view)

    def load_global(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a load from global memory."""
        slot = self.choose(f"{at} slot", range(4))
        yield LoadGlobal(self.new(scope.accumulators), slot)

    def fill(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a fill."""
        value = self.choose(f"{at} value", (0, 1, -BOUND))
        yield Fill(self.new(scope.accumulators), value)

    def map(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw an element-wise function."""
        if scope.accumulators:
            name = self.choose(f"{at} function", (*FUNCTIONS,))
            inputs = [self.accumulator(f"{at} {i}", scope) for i in range(FUNCTIONS[name].arity)]
            yield Map(self.new(scope.accumulators), name, tuple(inputs))

    def output(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a store to global memory."""
        if scope.accumulators:
            yield Output(self.accumulator(at, scope), self.window(self.outputs, scope))

    def bulk_store(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a store by TMA."""
        # TMA reads tiles at multiples of 128 bytes.
        yield BulkStore(
            self.view(at, scope, ROWS, other_than=self.viewed), self.window(self.bulk, scope)
        )

    def write(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a store to viewed memory."""
        yield WriteMemory(self.viewed or 0, self.choose(f"{at} value", range(5)))

    def read(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a load from viewed memory."""
        yield ReadMemory(self.viewed or 0, self.window(self.reads, scope))

    def given(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw an op that orders accesses."""
        yield Given(self.choose(f"{at} op", _GIVEN))

    # -- control flow ------------------------------------------------------------------------------

    def loop(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw a loop, with accumulators that it carries."""
        if len(scope.loops) == _LOOPS or scope.depth == _DEPTH:
            return
        number = next(self.loop_numbers)
        trips = self.choose(f"{at} trips", (3, 2, None, 1, 2, 4, 0))
        inner = scope.within((number, trips))
        taken: list[tuple[int, int]] = []
        for i in range(self.choose(f"{at} carries", (0, 1, 2))):
            if scope.accumulators:
                initial = self.accumulator(f"{at} carried {i}", scope)
            else:
                initial = self.new(scope.accumulators)
                yield Fill(initial, 0)
            taken.append((initial, self.new(inner.accumulators)))
        body = self.body(f"{at}.", _LOOP_SLOTS, inner)
        carried: list[Carried] = []
        for i, (initial, argument) in enumerate(taken):
            yielded = self.accumulator(f"{at} yielded {i}", inner)
            carried.append(Carried(initial, argument, yielded, self.new(scope.accumulators)))
        yield For(number, trips, tuple(carried), body)

    def branch(self, at: str, scope: Scope) -> Iterable[Statement]:
        """Draw branches, of a condition that is the same for all threads."""
        if scope.depth == _DEPTH:
            return
        of = self.choose(f"{at} of", ("trips", "block", *["loop"] * 3 * bool(scope.loops)))
        predicate = self.choose(f"{at} predicate", ("ult", "eq", "ne"))
        number = self.choose(f"{at} number", (1, 0, 2))
        loop = scope.loops[0][0] if scope.loops else 0
        first, second = scope.within(), scope.within()
        then = self.body(f"{at}.then.", _BRANCH_SLOTS, first)
        otherwise: tuple[Statement, ...] = ()
        if self.choose(f"{at} has else", (False, True)):
            otherwise = self.body(f"{at}.else.", _BRANCH_SLOTS, second)
        results: tuple[Choice, ...] = ()
        made = first.accumulators[:1] != scope.accumulators[:1]
        if scope.accumulators and made and self.choose(f"{at} results", (False, True)):
            # A branch without ops would become a selection, which no op does for fragments.
            other = self.accumulator(f"{at} otherwise", second)
            results = (Choice(first.accumulators[0], other, self.new(scope.accumulators)),)
        condition = Condition(of, loop, predicate, number)
        if then or otherwise or results:
            yield If(condition, then, otherwise, results)

    def _rest(self, scope: Scope) -> Iterable[Statement]:
        """Store the latest accumulators to D."""
        for value in scope.accumulators[: self.choose("latest", (1, 2, 3))]:
            yield Output(value, Index(next(self.outputs) * WINDOWS))


_DRAWN: dict[str, Callable[[_Statements, str, Scope], Iterable[Statement]]] = {
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
    "given": _Statements.given,
    "for": _Statements.loop,
    "if": _Statements.branch,
}


def draw(choose: Choose) -> Program:
    """Draw a program."""
    return _Statements(choose).program()
