"""The description of a program: statements, each of which is complete before the next one begins.

All tiles have rows of 16 bf16, so that a tile can be A or B of an mma, and an accumulator can be stored
to it. A statement is executed by all warpgroups, each with its own rows and registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

#: Columns of every tile and accumulator, and K of an mma.
COLUMNS = 16

#: Rows of an accumulator, and of A.
ROWS = 64

#: The number that stores to tiles and A fragments are clamped to, so that all sums are exact.
BOUND = 2

#: Windows of D that an output has: one for each iteration of the loop that it is in.
WINDOWS = 4


@dataclass(frozen=True)
class Index:
    """((loop variable + add) mod modulus) * scale.

    Attributes:
        add: what is added; the index itself if it has no loop variable.
        loop: the number of the loop; None if the index is a constant.
        modulus: 0 for none.
        scale: the factor.
    """

    add: int = 0
    loop: int | None = None
    modulus: int = 0
    scale: int = 1


@dataclass(frozen=True)
class View:
    """Rows of a tile.

    Attributes:
        tile: the number of the tile.
        stage: the stage; None if the tile has none.
        row: the first row; None for the whole tile, or stage.
        rows: how many rows.
        per_warpgroup: whether each warpgroup has rows of its own, from `64 * warpgroup` rows later on.
    """

    tile: int
    stage: Index | None
    row: Index | None
    rows: int
    per_warpgroup: bool = False


@dataclass(frozen=True)
class Window:
    """Rows of the input X in global memory."""

    row: Index
    rows: int


@dataclass(frozen=True)
class Copy:
    """`smem.copy` or `smem.copy_async` by all threads."""

    source: Window | View
    target: View
    asynchronous: bool = False


@dataclass(frozen=True)
class Mma:
    """result = A * B (+ accumulator); `a` is a view, or the number of an A fragment."""

    result: int
    a: View | int
    b: View
    accumulator: int | None = None


@dataclass(frozen=True)
class Load:
    """Each warpgroup loads 64 rows of a tile: an accumulator, or an A fragment."""

    result: int
    source: View
    as_a: bool = False


@dataclass(frozen=True)
class LoadGlobal:
    """Each warpgroup loads an accumulator from the input C: the part `slot` of it."""

    result: int
    slot: int


@dataclass(frozen=True)
class Fill:
    """An accumulator with equal elements."""

    result: int
    value: int


@dataclass(frozen=True)
class Map:
    """An element-wise function of accumulators; see `FUNCTIONS`."""

    result: int
    function: str
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Convert:
    """An accumulator, clamped, as an A fragment."""

    result: int
    source: int


@dataclass(frozen=True)
class Store:
    """Each warpgroup stores an accumulator, clamped, to its rows of a tile."""

    value: int
    target: View


@dataclass(frozen=True)
class Output:
    """Each warpgroup stores an accumulator to its rows of a window of D."""

    value: int
    window: Index


@dataclass(frozen=True)
class BulkStore:
    """A thread stores rows of a tile to a window of E, by `smem.tma_store`."""

    source: View
    window: Index


@dataclass(frozen=True)
class WriteMemory:
    """Each thread stores a number to its element of a viewed memref."""

    tile: int
    value: int


@dataclass(frozen=True)
class ReadMemory:
    """Each thread loads its element of a viewed memref, and stores it to a window of F."""

    tile: int
    window: Index


@dataclass(frozen=True)
class OrderingOp:
    """An op that orders accesses, and that the program has before the pass; by its text."""

    text: str


@dataclass(frozen=True)
class Carried:
    """An accumulator that a loop carries: before it, in an iteration, at its end, and after the loop."""

    initial: int
    argument: int
    yielded: int
    result: int


@dataclass(frozen=True)
class For:
    """A loop; `trips` is None if their number is an argument of the kernel."""

    number: int
    trips: int | None
    carried: tuple[Carried, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Condition:
    """A comparison that has the same result for all threads of a CTA.

    Attributes:
        operand: "block", "trips" (the argument) or "loop".
        loop: the number of the loop.
        predicate: "eq", "ne" or "ult".
        number: what is compared with.
    """

    operand: str
    loop: int
    predicate: str
    number: int


@dataclass(frozen=True)
class BranchResult:
    """A result of an `If`: an accumulator of either branch."""

    then: int
    otherwise: int
    result: int


@dataclass(frozen=True)
class If:
    """Two branches, of which the second may be empty, and their results."""

    condition: Condition
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    results: tuple[BranchResult, ...] = ()


Statement = (
    Copy
    | Mma
    | Load
    | LoadGlobal
    | Fill
    | Map
    | Convert
    | Store
    | Output
    | BulkStore
    | WriteMemory
    | ReadMemory
    | OrderingOp
    | For
    | If
)


@dataclass(frozen=True)
class ProgramTile:
    """A tile.

    Attributes:
        stages: 0 for a tile without stages.
        viewed: whether it views a memref of the module, which ops of other dialects access, too.
    """

    stages: int = 0
    viewed: bool = False


@dataclass(frozen=True)
class OrderedProgram:
    """A kernel.

    Attributes:
        warpgroups: of a CTA.
        blocks: CTAs of the grid.
        trips: the value of the kernel's argument.
        tiles: its tiles, by number.
        body: what it does.
        outputs, bulk_outputs, reads: how many windows D, E and F have for each warpgroup, CTA and thread.
        seed: of the inputs.
    """

    warpgroups: int
    blocks: int
    trips: int
    tiles: tuple[ProgramTile, ...]
    body: tuple[Statement, ...]
    outputs: int
    bulk_outputs: int = 0
    reads: int = 0
    seed: int = 0

    @property
    def rows(self) -> int:
        """Rows of each tile: 64 for each warpgroup."""
        return ROWS * self.warpgroups

    @property
    def input_rows(self) -> int:
        """Rows of X."""
        return self.rows * 4


def bodies(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Return the statements within a statement, by region."""
    if isinstance(statement, For):
        return (statement.body,)
    if isinstance(statement, If):
        return (statement.then, statement.otherwise)
    return ()


def accessed_tiles(statement: Statement) -> Iterator[int]:
    """Yield the tiles that a statement accesses, itself or within."""
    for body in bodies(statement):
        for inner in body:
            yield from accessed_tiles(inner)
    for value in vars(statement).values():
        if isinstance(value, View):
            yield value.tile
    if isinstance(statement, WriteMemory | ReadMemory):
        yield statement.tile
