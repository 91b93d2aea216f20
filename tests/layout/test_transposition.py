"""Copies that transpose data: the accesses of threads, refusals of tiles, and bank conflicts."""

from itertools import product

import numpy as np
import pytest
from each import for_each
from hypothesis import given
from hypothesis import strategies as st
from strategies import elements, swizzles, tile_orders

from mlir_smem.layout import (
    ELEMENTS,
    Access,
    LayoutError,
    Relayout,
    Swizzle,
    TileOrder,
    Transfer,
    Transposition,
    element,
    parse_layout,
    tile_of_atoms,
    transposition,
)
from mlir_smem.layout.swizzle import WIDEST_FIRST

E4M3, BF16, TF32, B1 = (element(name) for name in ("e4m3", "bf16", "tf32", "b1"))


@st.composite
def tiles(draw):
    """A tile that a transposition can fill: whole units along its lines, and a multiple of 8 lines."""
    element_type = draw(elements)
    along, across = draw(st.integers(1, 12)) * element_type.unit, draw(st.integers(1, 24)) * 8
    contiguous = draw(st.integers(0, 1))
    shape = (along, across) if contiguous == 0 else (across, along)
    return tile_of_atoms(element_type, shape, contiguous, draw(swizzles), draw(tile_orders))


threads = st.sampled_from([32, 128, 256, 384])


def run_of(plan):
    """Indices of the elements of one write, relative to (row, column) of the first."""
    along = np.arange(plan.stored)
    return (along, 0) if plan.contiguous == 0 else (0, along)


@given(tiles(), threads)
def test_every_element_is_written_once(layout, count):
    plan = transposition(layout, count)
    written = np.zeros(layout.shape, int)
    down, right = run_of(plan)
    for round_ in range(plan.rounds):
        row, column = (x[..., None] for x in plan.stores(round_))
        np.add.at(written, (row + down, column + right), 1)
    assert (written == 1).all()


@given(tiles(), threads)
def test_elements_of_one_write_are_contiguous(layout, count):
    plan = transposition(layout, count)
    down, right = run_of(plan)
    for round_ in range(plan.rounds):
        row, column = (x[..., None] for x in plan.stores(round_))
        offsets = layout.offsets_at(row + down, column + right)
        size = plan.stored * layout.element.bits // 8
        assert (offsets[..., 0] % size == 0).all()
        assert (
            offsets == offsets[..., :1] + np.arange(plan.stored) * layout.element.bits // 8
        ).all()


@given(tiles(), threads)
def test_a_threads_writes_are_one_block(layout, count):
    # A block's lines are adjacent in global memory: one read has an element of each.
    plan = transposition(layout, count)
    line = plan.stores(0)[1 - plan.contiguous]
    assert (np.sort(line, axis=0) == line.min(axis=0) + np.arange(plan.read)[:, None]).all()
    assert (line.min(axis=0) % plan.read == 0).all()


@given(tiles(), threads)
def test_rounds_are_full_but_for_the_last(layout, count):
    plan = transposition(layout, count)
    sizes = [plan.stores(i)[0].shape[1] for i in range(plan.rounds)]
    assert sizes[:-1] == [count] * (plan.rounds - 1)
    assert sum(sizes) == plan.total and sizes[-1] > 0


#: Tiles with extents of M and N across lines, and of several widths along them.
CANONICAL = [
    (element_type, swizzle, order, lines, units)
    for element_type in ("b1", "e4m3", "bf16", "tf32")
    for swizzle in WIDEST_FIRST
    for order in TileOrder
    for lines in (8, 24, 64, 136, 192)
    for units in (2, 4, 6, 8, 16)
    if units * 16 % swizzle.width == 0
]


@for_each("case", CANONICAL)
def test_no_canonical_tile_conflicts(case):
    element_type, swizzle, order, lines, units = case
    shape = (lines, units * element(element_type).unit)
    layout = tile_of_atoms(element(element_type), shape, 1, swizzle, order)
    cost = transposition(layout, 128).wavefronts(layout)
    assert cost.conflicts == 0
    # Nothing is written twice: a pass writes at most 128 bytes.
    assert cost.wavefronts >= layout.size_bytes // 128


@for_each(
    "case", [*product(("b1", "e4m3", "bf16", "tf32"), WIDEST_FIRST, (8, 16, 64), (1, 2, 4, 8))]
)
def test_no_subtile_conflicts(case):
    element_type, swizzle, lines, units = case
    whole = tile_of_atoms(
        element(element_type), (64, 8 * swizzle.atom_elements(element(element_type))), 1, swizzle
    )
    subtile = whole.slice(
        (0, 0), (lines, min(units * element(element_type).unit, whole.shape[1]))
    ).layout
    assert transposition(subtile, 128).wavefronts(subtile).conflicts == 0


@pytest.mark.parametrize("count", [128, 256, 384])
@pytest.mark.parametrize("element_type", ELEMENTS)
def test_column_major_tiles_are_row_major_ones_transposed(element_type, count):
    shape = (64, Swizzle.B128.atom_elements(element(element_type)))
    rows = tile_of_atoms(element(element_type), shape, 1, Swizzle.B128)
    a, b = transposition(rows, count), transposition(rows.transposed(), count)
    assert (a.read, a.lanes, a.skew) == (b.read, b.lanes, b.skew)
    assert b.wavefronts(rows.transposed()) == a.wavefronts(rows)


@pytest.mark.parametrize(
    "element_type, lines, swizzle, read, lanes, skew",
    [
        # Lines of 128 bytes, eight lanes of one line: 16 bytes of 4 lines are read by whole sectors.
        (E4M3, 256, Swizzle.B128, 16, 8, 1),
        # Smaller reads, because otherwise some threads would have no block.
        (E4M3, 128, Swizzle.B128, 8, 8, 1),
        (BF16, 128, Swizzle.B128, 8, 8, 1),
        (TF32, 128, Swizzle.B128, 4, 8, 1),
        # Narrow atoms: lanes begin at different lines.
        (E4M3, 256, Swizzle.B64, 16, 4, 2),
        (E4M3, 256, Swizzle.B32, 16, 2, 4),
        (B1, 256, Swizzle.B128, 32, 4, 8),
    ],
)
def test_arrangements(element_type, lines, swizzle, read, lanes, skew):
    layout = tile_of_atoms(
        element_type, (lines, Swizzle.B128.atom_elements(element_type)), 1, swizzle
    )
    plan = transposition(layout, 128)
    assert (plan.read, plan.lanes, plan.skew) == (read, lanes, skew)


def test_one_block_is_at_most_64_registers():
    for element_type in ELEMENTS.values():
        layout = tile_of_atoms(element_type, (512, 8192 // element_type.bits), 1, Swizzle.B128)
        plan = transposition(layout, 128)
        assert plan.stored * max(1, plan.read // plan.per_register) <= 64


def test_a_subtile_of_an_odd_extent_conflicts():
    # Ten blocks across are no multiple of the eight lanes that write at once; the next are further
    # along the line, where another line of the block is in the same banks.
    whole = tile_of_atoms(E4M3, (64, 128), 1, Swizzle.B128)
    subtile = whole.slice((0, 0), (40, 32)).layout
    assert transposition(subtile, 128).wavefronts(subtile).conflicts > 0


def test_without_skew_narrow_atoms_would_conflict():
    layout = tile_of_atoms(E4M3, (256, 128), 1, Swizzle.B32)
    plain = Transposition(E4M3, (256, 128), 1, 128, read=16, lanes=2, skew=1)
    assert plain.wavefronts(layout) == Access(1024, 256)
    assert plain.conflicts(layout) == Access(16, 4)


@pytest.mark.parametrize(
    "text, element_type, problem",
    [
        ("(64,64):(2,128)", BF16, "the tile is contiguous along no dimension"),
        ("(64,(4,16)):(4,(1,256))", BF16, "16-byte accesses need 8 elements in a row"),
        ("(64,60):(64,1)", BF16, "a line of 60 elements of bf16 is not a multiple of 8"),
        (
            "(62,64):(64,1)",
            E4M3,
            "e4m3 is transposed in blocks of 4 or more elements of global memory; the tile has 62 "
            "rows",
        ),
        (
            "(256,60):(1,256)",
            B1,
            "b1 is transposed in blocks of 8 or more elements of global memory; the tile has 60 "
            "columns",
        ),
    ],
)
def test_tiles_that_do_not_fit(text, element_type, problem):
    with pytest.raises(LayoutError) as caught:
        transposition(parse_layout(text, element_type), 128)
    assert str(caught.value).startswith(problem)


def test_what_conflicts_in_any_arrangement_still_has_one():
    # Lines are 4096 bytes apart, and have one unit each: all writes use the same banks.
    layout = parse_layout("(64,16):(4096,1)", E4M3)
    plan = transposition(layout, 128)
    assert plan.wavefronts(layout) == Access(64, 8)
    assert plan.conflicts(layout) == Access(16, 2)


# A copy that may transpose data.

ROWS = tile_of_atoms(E4M3, (64, 128), 1, Swizzle.B128)


def test_a_relayout_transposes_only_the_other_direction():
    along, across = (Relayout(E4M3, (64, 128), contiguous, 128) for contiguous in (1, 0))
    assert not along.transposes(ROWS) and across.transposes(ROWS)
    assert along.plan(ROWS) == Transfer(E4M3, (64, 128), 1, 128)
    assert across.plan(ROWS) == transposition(ROWS, 128)
    assert across.conflicts(ROWS) == Access(4, 4)
    assert across.problem(ROWS) is None


@pytest.mark.parametrize(
    "contiguous, shape, text",
    [
        (1, (64, 60), "(64,60):(60,1)"),
        (0, (62, 64), "(62,64):(64,1)"),
        (1, (64, 64), "(64,64):(2,128)"),
        (1, (64, 64), "(64,(4,16)):(4,(1,256))"),
        (1, (64, 64), "(64,64):(68,1)"),
    ],
)
def test_a_relayout_states_what_is_wrong(contiguous, shape, text):
    layout = parse_layout(text, E4M3)
    copy = Relayout(E4M3, shape, contiguous, 128)
    problem = copy.problem(layout)
    assert problem
    with pytest.raises(LayoutError) as caught:
        copy.plan(layout)
    assert str(caught.value) == problem


def test_a_staged_tile_is_filled_stage_by_stage():
    staged = tile_of_atoms(E4M3, (2, 64, 128), 1, Swizzle.B128)
    problem = Relayout(E4M3, (64, 128), 0, 128).problem(staged)
    assert problem and "rank 3" in problem
