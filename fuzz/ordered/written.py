"""What writes each tile before it is read, and what stores all of them at the end."""

from collections.abc import Iterable

from .drawing import Drawing
from .program import (
    ROWS,
    WINDOWS,
    Copy,
    For,
    Index,
    Load,
    LoadGlobal,
    Output,
    Statement,
    Store,
    View,
    Window,
    views,
)


def initialised(drawing: Drawing, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Add what writes each tile before the first statement that accesses it."""
    found: list[Statement] = []
    written = set[int]()
    for statement in body:
        for tile in dict.fromkeys(views(statement)):
            if tile not in written:
                written.add(tile)
                if not _writes_all(statement, tile):
                    found += _writes(drawing, tile)
        found.append(statement)
    return tuple(found)


def _writes(drawing: Drawing, tile: int) -> Iterable[Statement]:
    how = drawing.choose(f"writes {tile}", ("copy", "copy_async", "loop", "async loop", "store"))
    stages = drawing.tiles[tile].stages
    asynchronous = "async" in how and not drawing.features["bulk"]
    if how == "store":
        value = next(drawing.numbers)
        yield LoadGlobal(value, tile % 4)
        for stage in range(max(1, stages)):
            at = Index(stage) if stages else None
            whole = drawing.warpgroups == 1
            row = None if whole else Index()
            yield Store(value, View(tile, at, row, ROWS, own=not whole))
    elif "loop" in how and stages:
        number = next(drawing.loop_numbers)
        window = Window(Index(0, number, 0, drawing.rows), drawing.rows)
        target = View(tile, Index(0, number), None, drawing.rows)
        yield For(number, stages, (), (Copy(window, target, asynchronous),))
    else:
        for stage in range(max(1, stages)):
            at = Index(stage) if stages else None
            window = Window(Index((tile + stage) % 4, scale=drawing.rows), drawing.rows)
            yield Copy(window, View(tile, at, None, drawing.rows), asynchronous)


def dumped(drawing: Drawing) -> Iterable[Statement]:
    """Store every tile to D."""
    for tile, kind in enumerate(drawing.tiles):
        for stage in range(max(1, kind.stages)):
            value = next(drawing.numbers)
            row = None if drawing.warpgroups == 1 else Index()
            at = Index(stage) if kind.stages else None
            yield Load(value, View(tile, at, row, ROWS, own=row is not None))
            yield Output(value, Index(next(drawing.outputs) * WINDOWS))


def _writes_all(statement: Statement, tile: int) -> bool:
    """Whether a statement writes a tile whole, and does not read it."""
    if not isinstance(statement, Copy):
        return False
    target = statement.target
    reads = isinstance(statement.source, View) and statement.source.tile == tile
    return target.tile == tile and target.row is None and target.stage is None and not reads
