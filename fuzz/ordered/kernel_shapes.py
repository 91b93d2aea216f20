"""Statements in the shapes that kernels have: a matmul with stages, and attention."""

from __future__ import annotations

from collections.abc import Iterable

from .drawing import ProgramDrawing, RegionScope
from .program import (
    ROWS,
    WINDOWS,
    Carried,
    Condition,
    Convert,
    Copy,
    Fill,
    For,
    If,
    Index,
    Map,
    Mma,
    Output,
    Statement,
    View,
    Window,
)

#: Iterations that are known; None for the argument of the kernel.
_TRIPS = (4, 3, 2, None)


def matmul(drawing: ProgramDrawing, prefix: str, scope: RegionScope) -> Iterable[Statement]:
    """Draw a loop that multiplies one stage of two tiles, and copies a later one."""
    choose = drawing.choose
    a, b = (_choose_staged_tile(drawing, f"{prefix} {name}") for name in "AB")
    if a is None or b is None or scope.loops:
        return
    stages = min(drawing.tiles[a].stages, drawing.tiles[b].stages)
    ahead = choose(f"{prefix} ahead", range(1, stages + 1))
    trips = choose(f"{prefix} trips", _TRIPS)
    tiles = dict.fromkeys((a, b))
    asynchronous = choose(f"{prefix} asynchronous", (True, False)) and not drawing.features["bulk"]

    def copies(add: int, loop: int) -> tuple[Statement, ...]:
        row = Index(add, loop, 4, drawing.rows)
        return tuple(
            Copy(
                Window(row, drawing.rows),
                View(tile, Index(add, loop, drawing.tiles[tile].stages), None, drawing.rows),
                asynchronous,
            )
            for tile in tiles
        )

    first = next(drawing.loop_numbers)
    yield For(first, ahead, (), copies(0, first))
    number = next(drawing.loop_numbers)
    inner = scope.within((number, trips))
    pairs: list[tuple[int, int]] = []
    body: list[Statement] = []
    later: tuple[Statement, ...] = copies(ahead, number)
    if trips is not None and ahead < trips and choose(f"{prefix} guarded", (True, False)):
        later = (If(Condition("loop", number, "ult", trips - ahead), later, ()),)
    for i in range(choose(f"{prefix} accumulators", (1, 2))):
        initial = drawing.new(scope.accumulators)
        yield Fill(initial, 0)
        argument = drawing.new(inner.accumulators)
        rows_of_a = _rows_of_a(drawing, a, Index(0, number, drawing.tiles[a].stages))
        stage = Index(0, number, drawing.tiles[b].stages)
        body.append(
            Mma(drawing.new(inner.accumulators), rows_of_a, _sixteen_rows(b, stage, i), argument)
        )
        pairs.append((initial, argument))
    products = [statement.result for statement in body if isinstance(statement, Mma)]
    body = [*later, *body] if choose(f"{prefix} copies first", (False, True)) else [*body, *later]
    if choose(f"{prefix} reads", (False, False, True)):
        body.append(Output(products[0], Index(next(drawing.outputs) * WINDOWS, number)))
    carried = [
        Carried(initial, argument, result, drawing.new(scope.accumulators))
        for (initial, argument), result in zip(pairs, products, strict=True)
    ]
    yield For(number, trips, tuple(carried), tuple(body))


def attention(drawing: ProgramDrawing, prefix: str, scope: RegionScope) -> Iterable[Statement]:
    """Draw a loop that multiplies Q by a tile, and the result, changed, by another tile."""
    choose = drawing.choose
    if scope.loops:
        return
    q, k, v = (choose(f"{prefix} {name}", range(len(drawing.tiles))) for name in "QKV")
    if drawing.viewed in (q, k, v) or q in (k, v):
        return
    trips = choose(f"{prefix} trips", _TRIPS)
    number = next(drawing.loop_numbers)
    inner = scope.within((number, trips))
    initial = drawing.new(scope.accumulators)
    yield Fill(initial, 0)
    argument = drawing.new(inner.accumulators)
    asynchronous = choose(f"{prefix} asynchronous", (True, False)) and not drawing.features["bulk"]

    def stage_of(tile: int) -> Index | None:
        stages = drawing.tiles[tile].stages
        return Index(0, number, stages) if stages else None

    def copy(tile: int, add: int) -> Statement:
        window = Window(Index(add, number, 4, drawing.rows), drawing.rows)
        return Copy(window, View(tile, stage_of(tile), None, drawing.rows), asynchronous)

    rows_of_q = _rows_of_a(drawing, q, Index(0) if drawing.tiles[q].stages else None)
    scores, changed, sums = (drawing.new(inner.accumulators) for _ in range(3))
    converted = drawing.new(inner.fragments)
    body: list[Statement] = [
        copy(k, 0),
        Mma(scores, rows_of_q, _sixteen_rows(k, stage_of(k), 0)),
        Map(changed, "difference", (scores, argument)),
        Convert(converted, changed),
        Mma(sums, converted, _sixteen_rows(v, stage_of(v), 1), argument),
    ]
    body.insert(choose(f"{prefix} V", (1, 0, 2, 4)), copy(v, 1))
    result = drawing.new(scope.accumulators)
    yield For(number, trips, (Carried(initial, argument, sums, result),), tuple(body))


def _choose_staged_tile(drawing: ProgramDrawing, prefix: str) -> int | None:
    """Draw a tile with stages; None if there is none."""
    staged = [i for i, tile in enumerate(drawing.tiles) if tile.stages]
    return drawing.choose(prefix, staged) if staged else None


def _rows_of_a(drawing: ProgramDrawing, tile: int, stage: Index | None) -> View:
    """Return the rows of a tile that each warpgroup multiplies."""
    if drawing.warpgroups == 1:
        return View(tile, stage, None, ROWS)
    return View(tile, stage, Index(), ROWS, per_warpgroup=True)


def _sixteen_rows(tile: int, stage: Index | None, part: int) -> View:
    """Return 16 rows of a tile, as B."""
    return View(tile, stage, Index(part, scale=16), 16)
