"""Subtiles that cut atoms: they have whole modes of the tile, and an origin within them."""

import re
from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anywhere, layouts, operands, tiles

from mlir_smem.layout import (
    LayoutError,
    Major,
    Mismatch,
    Mode,
    Multiple,
    Role,
    Swizzle,
    TileLayout,
    TileOrder,
    Transfer,
    element,
    instruction_k,
    match,
    mma_tiles,
    operand_addresses,
    parse_layout,
    parse_origin,
    tile_of_atoms,
)
from mlir_smem.layout.modes import format_origin
from mlir_smem.layout.text_error import TextError

BF16 = element("bf16")
WIDE = tile_of_atoms(BF16, (64, 256), 1, Swizzle.B128)
LEVELS = parse_layout("((8,4,4),16):((1,100,1000),50)", BF16)


def box(starts, sizes):
    """The index of a subtile, for NumPy."""
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))


class Run:
    """Slices of slices at run time, when the run-time starts are known."""

    def __init__(self, tile):
        self.layout = tile
        self.offset = 0
        self.origin = (0,) * len(tile.shape)

    def slice(self, known, starts, sizes):
        """Slice at `starts`, of which the layout only sees `known`."""
        subtile = self.layout.slice(known, sizes)
        static = [o if isinstance(o, int) else 0 for o in self.layout.origins]
        begins = [sum(positions) for positions in zip(self.origin, static, starts, strict=True)]
        self.offset += subtile.offset + sum(term.at(begins[term.dim]) for term in subtile.terms)
        self.layout = subtile.layout
        self.origin = tuple(
            begin if isinstance(o, Multiple) else 0
            for begin, o in zip(begins, subtile.layout.origins, strict=True)
        )

    @property
    def linear(self):
        """The offsets of its elements in the tile, before the swizzle."""
        here = [
            start
            for start, o in zip(self.origin, self.layout.origins, strict=True)
            if not is_int(o)
        ]
        return self.layout.with_origin(*here).linear() + self.offset


def is_int(start):
    return isinstance(start, int)


@st.composite
def starts(draw, layout, dim, run_time):
    """(known, start, size): what is known statically of the start, the start, and the extent."""
    size = draw(st.integers(1, layout.shape[dim]))
    start = draw(st.integers(0, layout.shape[dim] - size))
    if not (draw(st.booleans()) if run_time is None else run_time):
        return start, start, size
    divisor = draw(st.sampled_from([d for d in (1, 2, 3, 4, 8, 16, 24, 32, 64) if start % d == 0]))
    return Multiple(divisor), start, size


# The map.


@given(st.data(), tiles() | layouts())
def test_a_slice_anywhere_is_the_tile_restricted(data, tile):
    where = [data.draw(anywhere(tile, d)) for d in range(2)]
    begin, sizes = zip(*where, strict=True)
    subtile = tile.slice(begin, sizes)
    assert not subtile.terms
    assert np.array_equal(
        subtile.layout.linear() + subtile.offset, tile.linear()[box(begin, sizes)]
    )


@given(st.data(), tiles() | layouts(), st.integers(1, 3), st.sampled_from([None, True, False]))
def test_slices_of_slices_are_the_tile_restricted(data, tile, depth, run_time):
    run, begin = Run(tile), np.zeros(2, int)
    for _ in range(depth):
        drawn = [data.draw(starts(run.layout, d, run_time)) for d in range(2)]
        known, position, sizes = zip(*drawn, strict=True)
        run.slice(known, position, sizes)
        begin += position
    assert np.array_equal(run.linear, tile.linear()[box(begin, run.layout.shape)])


@given(st.data(), tiles())
def test_the_whole_slice_of_a_subtile_is_the_subtile(data, tile):
    drawn = [data.draw(starts(tile, d, None)) for d in range(2)]
    known, _, sizes = zip(*drawn, strict=True)
    subtile = tile.slice(known, sizes).layout
    assert subtile.coalesced() == subtile
    assert subtile.slice((0, 0), sizes).layout == subtile
    assert subtile.transposed().transposed() == subtile


@given(st.data(), tiles())
def test_only_a_subtile_that_cuts_an_atom_has_an_origin(data, tile):
    (row, rows), (column, columns) = (data.draw(anywhere(tile, d)) for d in range(2))
    subtile = tile.slice((row, column), (rows, columns)).layout
    for dim, (start, size) in enumerate([(row, rows), (column, columns)]):
        modes = tile.coalesced().modes[dim]
        atom = modes[0].extent if len(modes) > 1 else tile.shape[dim]
        cuts = start % atom != 0 and start % atom + size > atom
        assert subtile.origins[dim] == (start % atom if cuts else 0)


@given(st.data(), tiles())
def test_the_first_elements_divisor_divides_its_offset(data, tile):
    drawn = [data.draw(starts(tile, d, None)) for d in range(2)]
    known, position, sizes = zip(*drawn, strict=True)
    first = int(tile.linear()[position])
    multiple = tile.slice(known, sizes).first_multiple
    assert first == 0 if multiple == 0 else first % multiple == 0


def test_a_static_cut_by_hand():
    subtile = WIDE.slice((0, 80), (64, 64))
    assert str(subtile.layout) == "Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096)) from (0,16)"
    assert (subtile.offset, subtile.terms) == (4096, ())


def test_a_run_time_cut_keeps_the_whole_dimension():
    subtile = WIDE.slice((Multiple(8), Multiple(48)), (32, 64))
    assert str(subtile.layout) == "Swizzle<3,4,3> o (32,(64,4)):(64,(1,4096)) from (0,16n)"
    assert [(t.dim, t.stride) for t in subtile.terms] == [(0, 64)]


def test_a_cut_at_the_second_level_is_no_cut_at_the_first():
    subtile = LEVELS.slice((8, 0), (32, 16))
    assert str(subtile.layout) == "Swizzle<0,4,3> o ((8,4,2),16):((1,100,1000),50) from (8,0)"
    assert subtile.layout.slice((8, 0), (16, 16)).layout.origin == ()


def test_a_subtile_inside_an_atom_has_no_origin():
    subtile = WIDE.slice((0, 48), (64, 64)).layout
    assert subtile.slice((0, 16), (64, 16)).layout == WIDE.slice((0, 0), (64, 16)).layout
    assert subtile.slice((0, 16), (64, 16)).offset == 4096


def test_a_stage_of_a_subtile_that_cuts_atoms():
    stages = tile_of_atoms(BF16, (3, 64, 128), 1, Swizzle.B128)
    subtile = stages.slice((0, 0, 32), (3, 64, 64))
    stage = subtile.layout.stage(2)
    assert stage.layout.origin == (0, 32)
    assert np.array_equal(
        stage.layout.linear() + stage.offset + subtile.offset, stages.linear()[2, :, 32:96]
    )


# Instructions.


def reads(tiles, element_type, start, positions):
    """The byte addresses that the instructions read for an operand, (m/n, k), at run-time `positions`."""
    moved = [
        sum(t.at(positions[t.dim]) for t in terms) * element_type.bits // 8 for terms in tiles.terms
    ]
    major = tiles.canonical.major.value
    first = tiles.descriptor(start).encode()
    return np.block(
        [
            [
                operand_addresses(first + step + moved[base] // 16, element_type.name, major, piece)
                for step, base in zip(steps, bases, strict=True)
            ]
            for piece, steps, bases in zip(tiles.pieces, tiles.steps, tiles.bases, strict=True)
        ]
    )


@st.composite
def cuts(draw):
    """(operand, begin, sizes, steps): a subtile that begins at multiples of `steps` along m/n and k."""
    operand = draw(operands())
    tile, k = operand.tile, instruction_k(operand.tile.element)
    rows = 64 if operand.role is Role.A else 8
    # Along m/n, MMA tiles must not cut atoms: a line has at most 64 elements of 16 bits.
    steps = (8 if operand.major is Major.K else 64, k if operand.major is Major.K else 8)
    sizes = [draw(st.integers(1, e // u)) * u for e, u in zip(tile.shape, (rows, k), strict=True)]
    begin = [
        draw(st.integers(0, (extent - size) // step)) * step
        for extent, size, step in zip(tile.shape, sizes, steps, strict=True)
    ]
    return operand, begin, sizes, steps


@given(cuts(), st.booleans(), st.booleans())
def test_instructions_read_a_subtile_anywhere(cut, known_row, known_k):
    operand, begin, sizes, steps = cut
    tile, element_type, role = operand.tile, operand.tile.element, operand.role
    known = [
        start if seen else Multiple(step)
        for start, seen, step in zip(begin, (known_row, known_k), steps, strict=True)
    ]
    run = Run(tile)
    run.slice(known, begin, sizes)
    operand_tiles = mma_tiles(role.orient(run.layout), role)
    assert not isinstance(operand_tiles, Mismatch), operand_tiles.reason
    base = 0x400 + element_type.bytes(run.offset)
    positions = run.origin if role is Role.A else run.origin[::-1]
    read = reads(operand_tiles, element_type, base, positions)
    assert np.array_equal(read, 0x400 + tile.offsets()[box(begin, sizes)])


def test_static_cuts_keep_one_descriptor():
    operand_tiles = mma_tiles(WIDE.slice((0, 48), (64, 64)).layout, Role.A)
    assert operand_tiles.descriptor(0).encode() == 0x4000_0040_0001_0006
    assert operand_tiles.steps == ((0, 506, 508, 510),)
    assert operand_tiles.terms == ((),)


def test_run_time_cuts_have_a_descriptor_for_each_step_of_k():
    operand_tiles = mma_tiles(WIDE.slice((0, Multiple(16)), (64, 48)).layout, Role.A)
    assert operand_tiles.steps == ((0, 0, 0),)
    assert operand_tiles.bases == ((0, 1, 2),)
    assert [
        [(t.added, t.divisor, t.modulus, t.stride) for t in terms] for terms in operand_tiles.terms
    ] == [[(k, 1, 64, 1), (k, 64, None, 4096)] for k in (0, 16, 32)]


def test_rows_of_mma_tiles_share_the_descriptors_of_a_run_time_cut():
    tile = tile_of_atoms(BF16, (128, 128), 1, Swizzle.B128)
    operand_tiles = mma_tiles(tile.slice((0, Multiple(16)), (128, 32)).layout, Role.A)
    assert operand_tiles.steps == ((0, 0), (512, 512))
    assert operand_tiles.bases == ((0, 1), (0, 1))


def test_terms_of_b_have_the_tiles_dimensions():
    tile = tile_of_atoms(BF16, (128, 64), 0, Swizzle.B128)
    operand_tiles = mma_tiles(tile.slice((Multiple(16), 0), (32, 64)).layout, Role.B)
    assert {t.dim for terms in operand_tiles.terms for t in terms} == {0}


@pytest.mark.parametrize(
    "tile, starts, sizes, role, reason",
    [
        (
            *(WIDE, (0, 8), (64, 64), Role.A),
            "the MMA tile of 64x16 at (0, 48): it cuts an atom: along k, it begins 56 "
            "elements into one of 64 and is 16 long, but the next is 4096 elements apart and no "
            "descriptor reads across; begin at a multiple of 16",
        ),
        (
            *(WIDE, (0, Multiple(8)), (64, 64), Role.A),
            "at (0, 0): it cuts an atom: along k, it begins a multiple of 8 elements into one of 64",
        ),
        (
            *(WIDE, (0, 32), (64, 128), Role.B),
            "at (0, 0): it cuts an atom: along m/n, it begins 32 elements into one of 64 and is 128 "
            "long, but the next is 4096 elements apart and no descriptor reads across; begin at a "
            "multiple of 64, or stay inside one",
        ),
        (
            *(tile_of_atoms(BF16, (128, 16), 0, Swizzle.B128), (32, 0), (64, 16), Role.A),
            "at (0, 0): it cuts an atom: along m/n, it begins 32 elements into one of 64 and is 64 "
            "long, but the next is 1024 elements apart and no descriptor reads across; begin at a "
            "multiple of 64",
        ),
        (
            tile_of_atoms(BF16, (128, 128), 1, Swizzle.B128, TileOrder.ALONG),
            *((Multiple(4), 0), (64, 128), Role.A),
            "at (0, 0): it cuts an atom: along m/n, it begins a multiple of 4 elements into one of 8",
        ),
    ],
)
def test_mma_tiles_that_no_descriptor_reads(tile, starts, sizes, role, reason):
    mismatch = mma_tiles(tile.slice(starts, sizes).layout, role)
    assert isinstance(mismatch, Mismatch) and reason in mismatch.reason


def test_a_subtile_that_cuts_an_atom_has_no_canonical_layout():
    mismatch = match(LEVELS.slice((8, 0), (32, 16)).layout)
    assert isinstance(mismatch, Mismatch)
    assert mismatch.reason.startswith(
        "it cuts an atom: along m/n, it begins 8 elements into one of 32"
    )


def test_a_run_time_mma_tile_between_16_byte_units_is_named():
    tile = parse_layout("Swizzle<1,4,3> o ((8,8),(32,4)):((16,128),(1,1028))", BF16)
    mismatch = mma_tiles(tile.slice((0, Multiple(16)), (64, 48)).layout, Role.A)
    assert mismatch == Mismatch(
        "the MMA tile of 64x16 at (0, 0) starts 4 elements or a multiple of that into the "
        "tile, which is not a multiple of 16 bytes"
    )


# Copies.


def test_vectors_must_not_cut_atoms():
    transfer = Transfer(BF16, (64, 64), 1, 128)
    assert transfer.problem(WIDE.slice((0, 24), (64, 64)).layout) is None
    assert transfer.problem(WIDE.slice((0, Multiple(8)), (64, 64)).layout) is None
    reason = (
        "the subtile cuts an atom {} elements into it; 16-byte accesses need a multiple of 8 there"
    )
    for start, text in ((20, "20"), (Multiple(4), "a multiple of 4")):
        assert transfer.problem(WIDE.slice((0, start), (64, 64)).layout) == reason.format(text)


def test_conflicts_are_those_of_the_subtile_where_it_begins():
    # Rows of 128 bytes that begin inside an atom use the same banks as rows of whole atoms.
    transfer = Transfer(BF16, (64, 64), 1, 128)
    for start in (0, 48, Multiple(16)):
        assert transfer.conflicts(WIDE.slice((0, start), (64, 64)).layout).conflicts == 0


# How it is written.


@given(st.data(), tiles())
def test_a_subtile_is_parsed_as_it_is_written(data, tile):
    drawn = [data.draw(starts(tile, d, None)) for d in range(2)]
    known, _, sizes = zip(*drawn, strict=True)
    subtile = tile.slice(known, sizes).layout
    origin = parse_origin(format_origin(subtile.origin)) if subtile.origin else ()
    assert parse_layout(subtile.cute, tile.element, sizes, origin) == subtile


@pytest.mark.parametrize("text", ["", "16", "(16", "(0,)", "(0,n)", "(0,-1)", "(0,1m)", "(a,b)"])
def test_malformed_origins(text):
    with pytest.raises(LayoutError, match=re.escape(f"malformed origin '{text}': expected")):
        parse_origin(text)


@pytest.mark.parametrize(
    "text, index", [("", 0), ("16)", 0), (" (16", 4), ("(0,)", 3), ("(0, -1)", 4), ("(a,b)", 1)]
)
def test_the_caret_is_under_the_start_that_is_wrong(text, index):
    with pytest.raises(TextError) as error:
        parse_origin(text)
    assert error.value.index == index
    assert parse_origin(error.value.example) == (0, 16)


def test_an_origin_of_0_is_a_multiple_of_nothing():
    with pytest.raises(LayoutError, match="a start cannot be a multiple of 0"):
        parse_origin("(0,0n)")


@pytest.mark.parametrize("origin", [(16,), (0, 0), (0, 16, 0)])
def test_an_origin_has_a_start_for_each_dimension(origin):
    with pytest.raises(LayoutError, match="does not fit a subtile of rank 2"):
        parse_layout("(64,(64,2)):(64,(1,4096))", BF16, (64, 64), origin)


@pytest.mark.parametrize("origin, text", [(80, "80"), (Multiple(16), "a multiple of 16")])
def test_a_subtile_is_within_its_modes(origin, text):
    size = 64 if origin == 80 else 192
    message = f"dimension 1 has {size} elements from {text}, but its modes cover 128"
    with pytest.raises(LayoutError, match=message):
        parse_layout("(64,(64,2)):(64,(1,4096))", BF16, (64, size), (0, origin))


def test_elements_at_a_run_time_origin_have_no_offsets():
    subtile = WIDE.slice((0, Multiple(16)), (64, 64)).layout
    with pytest.raises(LayoutError, match=r"from \(0,16n\) are known at run time only"):
        subtile.offsets()
    assert subtile.overlap() is None


def test_known_divisors_are_kept_as_far_as_they_matter():
    for divisor in (16, 48, 1 << 32):
        origin = WIDE.slice((0, Multiple(divisor)), (64, 80)).layout.origin
        assert origin == ((0, Multiple(gcd(divisor, 64))) if divisor % 64 else ())


def test_an_origin_is_not_negative():
    with pytest.raises(LayoutError, match="dimension 0 has 8 elements from -8"):
        TileLayout(BF16, (8, 8), ((Mode(8, 8),), (Mode(8, 1),)), Swizzle.NONE, (-8, 0))
