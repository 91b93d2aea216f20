"""Copies from tiles to tiles: the reads and writes of threads, and their bank conflicts."""

import numpy as np
import pytest
from each import for_each
from hypothesis import given
from hypothesis import strategies as st
from strategies import swizzles, tile_orders

from mlir_smem.layout import (
    LayoutError,
    PathElement,
    Relayout,
    Swizzle,
    TileCopy,
    TileCopyUse,
    TileOrder,
    Transfer,
    Transposition,
    choose,
    element,
    parse_layout,
    tile_of_atoms,
    transposition,
)
from mlir_smem.layout.swizzle import WIDEST_FIRST

element_types = st.sampled_from([element(name) for name in ("e4m3", "bf16", "tf32")])


@st.composite
def pairs(draw):
    """Two layouts of a tile, each contiguous along either dimension."""
    element_type = draw(element_types)
    shape = tuple(draw(st.integers(1, 10)) * element_type.unit for _ in range(2))
    source, target = (
        tile_of_atoms(
            element_type, shape, draw(st.integers(0, 1)), draw(swizzles), draw(tile_orders)
        )
        for _ in range(2)
    )
    return source, target


threads = st.sampled_from([32, 128, 256])


def count_accesses(plan, layout):
    """How often each element is read, and written."""
    counts = []
    if isinstance(plan, Transposition):
        ends = [
            (plan.loads, plan.read, 1 - plan.contiguous),
            (plan.stores, plan.stored, plan.contiguous),
        ]
    else:
        ends = [(plan.coordinates, plan.vector, plan.contiguous)] * 2
    for places, count, along in ends:
        accesses = np.zeros(layout.shape, int)
        further = np.arange(count)
        for round_ in range(plan.rounds):
            row, column = (np.ravel(x)[:, None] for x in places(round_))
            down, right = (further, 0) if along == 0 else (0, further)
            np.add.at(accesses, (row + down, column + right), 1)
        counts.append(accesses)
    return counts


@given(pairs(), threads)
def test_every_element_is_read_and_written_once(pair, count):
    source, target = pair
    plan = TileCopy((0, 1), True, count).transfer(source).plan(target)
    read, written = count_accesses(plan, target)
    assert (read == 1).all() and (written == 1).all()


@given(pairs(), threads)
def test_a_thread_writes_the_block_that_it_reads(pair, count):
    source, target = pair
    plan = TileCopy((0, 1), True, count).transfer(source).plan(target)
    if isinstance(plan, Transposition):
        for round_ in range(plan.rounds):
            for read, written in zip(plan.loads(round_), plan.stores(round_), strict=True):
                assert (read.min(axis=0) == written.min(axis=0)).all()


@given(pairs(), threads)
def test_elements_of_one_read_are_contiguous(pair, count):
    source, target = pair
    plan = TileCopy((0, 1), True, count).transfer(source).plan(target)
    if isinstance(plan, Transposition):
        size, along = plan.read * plan.element.bits // 8, 1 - plan.contiguous
        further = np.arange(plan.read)
        down, right = (further, 0) if along == 0 else (0, further)
        for round_ in range(plan.rounds):
            row, column = (np.ravel(x)[:, None] for x in plan.loads(round_))
            offsets = source.offsets_at(row + down, column + right)
            assert (offsets[:, 0] % size == 0).all()
            assert (offsets == offsets[:, :1] + further * plan.element.bits // 8).all()


def test_exchanged_indices_transpose_the_layout_that_is_read():
    source = tile_of_atoms(element("bf16"), (64, 128), 0, Swizzle.B128)
    transfer = TileCopy((1, 0), False, 128).transfer(source)
    assert transfer == Transfer(element("bf16"), (128, 64), 1, 128, source=source.transposed())
    assert isinstance(TileCopy((1, 0), True, 128).transfer(source), Relayout)


# Banks.


#: Tiles with the lines of one atom and of three. Between two tiles without a swizzle, blocks of 32-bit
#: elements have too few lines.
TRANSPOSED = [
    (element(element_type), source, target, lines, units)
    for element_type in ("e4m3", "bf16", "tf32")
    for source in WIDEST_FIRST
    for target in WIDEST_FIRST
    for lines in (1, 3)
    for units in (2, 4, 6, 8, 16)
    if units * 16 % target.width == 0
    if (element_type, source, target) != ("tf32", Swizzle.NONE, Swizzle.NONE)
]


@for_each("case", TRANSPOSED)
def test_no_canonical_tile_that_is_transposed_conflicts(case):
    element_type, source, target, lines, units = case
    width = max(source.atom_elements(element_type), 2 * element_type.unit)
    shape = (lines * width, units * element_type.unit)
    for order in TileOrder:
        read = tile_of_atoms(element_type, shape, 0, source, order)
        written = tile_of_atoms(element_type, shape, 1, target)
        plan = transposition(written, 128, read)
        assert plan.wavefronts(written).conflicts == 0
        # A wide source needs no skew, which would select registers at run time.
        assert source is not Swizzle.B128 or plan.source_skew == 1


@pytest.mark.parametrize("target", WIDEST_FIRST, ids=str)
@pytest.mark.parametrize("source", WIDEST_FIRST, ids=str)
def test_a_copy_that_transposes_nothing_has_no_conflicts(source, target):
    layouts = [
        tile_of_atoms(element("bf16"), (64, 128), 1, swizzle) for swizzle in (source, target)
    ]
    plan = TileCopy((0, 1), False, 128).transfer(layouts[0]).plan(layouts[1])
    assert plan.conflicts(layouts[1]).conflicts == 0


def test_conflicts_are_those_of_the_worse_end():
    wide, narrow = (
        tile_of_atoms(element("bf16"), (64, 64), 1, swizzle)
        for swizzle in (Swizzle.B128, Swizzle.NONE)
    )
    in_order = Transfer(element("bf16"), (64, 64), 1, 128, source=narrow)
    assert in_order.conflicts(wide).wavefronts == 32
    assert (
        Transfer(element("bf16"), (64, 64), 1, 128, source=wide).conflicts(narrow).wavefronts == 32
    )


# The evaluation of a layout by a copy.

TYPE = element("tf32")


def use(reads, other=None, directions=(), relayout=False, path=()):
    return TileCopyUse("the copy", TileCopy((0, 1), relayout, 128), reads, other, directions, path)


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("contiguous", [0, 1])
def test_a_tile_gets_the_layout_of_the_other(contiguous, reads):
    other = tile_of_atoms(TYPE, (64, 64), contiguous, Swizzle.B128)
    for relayout in (False, True):
        picked = choose(TYPE, (64, 64), [use(reads, other, relayout=relayout)]).picked
        assert picked.layout == other


@pytest.mark.parametrize("contiguous", [0, 1])
def test_a_tile_gets_a_direction_that_the_other_accepts(contiguous):
    for relayout in (False, True):
        uses = [use(True, directions=(contiguous,), relayout=relayout)]
        assert choose(TYPE, (64, 64), uses).picked.layout.contiguous_dim == contiguous


def test_data_is_transposed_where_it_must_be():
    row_major = tile_of_atoms(TYPE, (64, 64), 1, Swizzle.B128)
    for known in ({"other": row_major}, {"directions": (1,)}):
        uses = [use(True, **known, relayout=True)]
        picked = choose(TYPE, (64, 64), uses, contiguous=0).picked
        assert picked.cost.transposed
        assert choose(TYPE, (64, 64), [use(True, **known)], contiguous=0).picked is None


@pytest.mark.parametrize("reads", [False, True])
def test_a_refusal_states_which_tile_is_read(reads):
    row_major = tile_of_atoms(TYPE, (64, 64), 1, Swizzle.B128)
    column_major = tile_of_atoms(TYPE, (64, 64), 0, Swizzle.B128)
    read, written = ("column", "row") if reads else ("row", "column")
    assert (
        use(reads, row_major)
        .evaluate(column_major)
        .reason.startswith(
            f"the tile that is read is {read}-major, but the one that is written is {written}-major"
        )
    )


def test_the_subtile_is_evaluated_not_the_tile():
    other = tile_of_atoms(TYPE, (32, 32), 1, Swizzle.B128)
    path = (PathElement((0, 4), (32, 32)),)
    assert (
        use(True, other, path=path)
        .evaluate(tile_of_atoms(TYPE, (64, 64), 1, Swizzle.B128))
        .accepted
    )
    evaluation = use(True, other, path=(PathElement((0, 2), (32, 32)),)).evaluate(
        tile_of_atoms(TYPE, (64, 64), 1, Swizzle.B128)
    )
    assert "need multiples of 16 bytes" in evaluation.reason


def test_what_is_contiguous_along_nothing_is_refused():
    nothing = parse_layout("(64,64):(128,2)", TYPE)
    with pytest.raises(LayoutError, match="the tile that is read is contiguous along no dimension"):
        TileCopy((0, 1), True, 128).transfer(nothing)
    assert not use(True).evaluate(nothing).accepted
