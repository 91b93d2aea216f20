"""Accesses of fragments to tiles: `ldmatrix` simulated on a tile's bytes, and bank conflicts."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import layouts, tiles
from tile_layouts import any_layout

from mlir_smem.layout import (
    ELEMENTS,
    Access,
    LayoutError,
    Multiple,
    Swizzle,
    TileOrder,
    element,
    fragment_a,
    fragment_d,
    instruction_k,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.fragment_access import (
    a_fragment_access,
    accumulator_access,
    has_contiguous_runs,
)
from mlir_smem.layout.swizzle import WIDEST_FIRST

THREADS = np.arange(128)
BYTES = [name for name in ELEMENTS if name != "b1"]


class Memory:
    """The bytes of a tile, numbered as in a row-major matrix of the tile's shape."""

    def __init__(self, tile):
        self.tile, self.bits = tile, tile.element.bits
        self.offsets = tile.offsets()
        self.numbers = np.full(self.offsets.max() + 16, -1)
        row, column = np.indices(tile.shape)
        for byte in range(max(self.bits // 8, 1)):
            self.numbers[self.offsets + byte] = self.number(row, column) + byte

    def number(self, row, column):
        """The number of the byte at which an element begins, or that holds it."""
        return (row * self.tile.shape[1] + column) * self.bits // 8

    def read(self, row, column, size):
        """The bytes from elements on, at aligned addresses: int[..., size]."""
        addresses = self.offsets[row, column]
        assert not np.any(addresses % size)
        return self.numbers[addresses[..., None] + np.arange(size)]

    def matrices(self, row, column, count, transposed):
        """The result of `ldmatrix.x{count}`, int[thread, register, byte], for the rows threads address.

        PTX ISA 9.7.14.5.15: in each warp, threads 8j to 8j + 7 give the addresses of the rows of matrix
        j, each of 16 bytes. Thread t holds the 16-bit elements 2(t % 4) and 2(t % 4) + 1 of row t / 4;
        with `.trans`, of column t / 4.
        """
        used = THREADS.reshape(4, 32)[:, : 8 * count]
        rows = self.read(row[used], column[used], 16)
        matrices = rows.reshape(4, 1, count, 8, 8, 2)
        if transposed:
            matrices = matrices.swapaxes(3, 4)
        warp, lane = THREADS // 32, THREADS % 32
        thread_rows = matrices[warp, 0, :, lane // 4].reshape(128, count, 4, 4)
        return thread_rows[THREADS, :, lane % 4]

    def words(self, access, row, column, places):
        """The 32-bit words that threads read at each offset (rows, columns) from their first element."""
        size = access.vector * self.bits // 8
        return np.stack(
            [
                np.concatenate(
                    [
                        self.read(row + rows, column + columns + i, size)
                        for i in range(0, 32 // self.bits, access.vector)
                    ],
                    axis=-1,
                )
                for rows, columns in places
            ],
            axis=1,
        )

    def fragment_bytes(self, fragment, row, column):
        """The bytes in a fragment's registers; its first element is at (row, column) of the tile."""
        first = self.number(fragment.row + row, fragment.column + column)
        if self.bits < 8:
            return first[:, :: 8 // self.bits]
        return (first[..., None] + np.arange(self.bits // 8)).reshape(128, -1)


@st.composite
def subtiles(draw, columns, element_types=BYTES):
    """(tile, starts, known starts) of a subtile of 64 rows and `columns` columns; 0 stands for the K of
    an instruction."""
    element_type = element(draw(st.sampled_from(element_types)))
    columns = columns if columns else instruction_k(element_type)
    along = 1 if element_type.bits == 1 else draw(st.integers(0, 1))
    shape = (64 + draw(st.sampled_from([0, 8, 64])), columns * draw(st.integers(1, 3)))
    tile = draw(any_layout(element_type, shape, along))
    starts, known = [], []
    for dim, (extent, size) in enumerate(zip(shape, (64, columns), strict=True)):
        # Most starts are multiples of 16 bytes, as every access needs.
        less = draw(st.integers(0, 7)) == 0
        step = (
            element_type.unit if dim == along and not less else draw(st.sampled_from([1, 2, 8, 16]))
        )
        start = draw(st.integers(0, (extent - size) // step)) * step
        starts.append(start)
        known.append(Multiple(step) if draw(st.booleans()) else start)
    return tile, tuple(starts), tuple(known)


def access_of(choose, drawn, columns):
    """The access to a subtile at its known starts; examples that `passes/` refuses are discarded."""
    tile, _, known = drawn
    subtile = tile.slice(known, (64, columns))
    assume(subtile.first_multiple * tile.element.bits % 128 == 0)
    access = choose(subtile.layout)
    assume(subtile.multiple % access.vector == 0)
    return access


@given(subtiles(0))
def test_a_reaches_the_registers_of_the_figures(drawn):
    check_a_fragment(drawn)


@given(subtiles(0, ["b1"]))
def test_bits_reach_the_registers_of_the_figures(drawn):
    check_a_fragment(drawn)


def check_a_fragment(drawn):
    tile, (row, column), _ = drawn
    element_type, memory = tile.element, Memory(tile)
    access = access_of(a_fragment_access, drawn, instruction_k(element_type))
    rows, columns = access.start(THREADS)
    if access.matrices:
        registers = memory.matrices(rows + row, columns + column, 4, access.transposed)
    else:
        # Registers of A: the second and fourth are 8 rows below, the third and fourth 16 bytes further.
        places = [(0, 0), (8, 0), (0, element_type.unit), (8, element_type.unit)]
        registers = memory.words(access, rows + row, columns + column, places)
    expected = memory.fragment_bytes(fragment_a(element_type), row, column)
    assert np.array_equal(registers.reshape(128, -1), expected)


@given(subtiles(24))
def test_accumulators_reach_the_registers_of_the_figure(drawn):
    tile, (row, column), _ = drawn
    memory, n = Memory(tile), 24
    access = access_of(accumulator_access, drawn, n)
    rows, columns = (
        start + begin for start, begin in zip(access.start(THREADS), (row, column), strict=True)
    )
    if access.matrices:
        # 16 columns, and 8 that are left.
        halves = [(0, 4), (16, 2)]
        registers = [
            memory.matrices(rows, columns + right, count, access.transposed)
            for right, count in halves
        ]
    else:
        size = access.vector * tile.element.bits // 8
        registers = [
            memory.read(rows + below, columns + right + i, size)
            for right in range(0, n, 8)
            for below in (0, 8)
            for i in range(0, 2, access.vector)
        ]
    registers = np.concatenate([words.reshape(128, -1) for words in registers], axis=1)
    assert np.array_equal(registers, memory.fragment_bytes(fragment_d(n), row, column))


# Runs of elements.


def runs(layout, dim, count):
    """Whether the elements of each run from a multiple of `count` on are contiguous from a multiple of
    `count` on; None if the extent is not a multiple of `count`."""
    if layout.shape[dim] % count:
        return None
    linear = np.moveaxis(layout.linear(), dim, -1).reshape(-1, layout.shape[dim] // count, count)
    return bool(
        np.all(linear == linear[..., :1] + np.arange(count)) and not np.any(linear[..., 0] % count)
    )


@given(tiles() | layouts(), st.integers(0, 1), st.sampled_from([1, 2, 4, 8, 16]))
def test_what_is_found_is_a_run(layout, dim, count):
    if count > 1 and has_contiguous_runs(layout, dim, count):
        assert runs(layout, dim, count) is not False


@given(tiles(), st.integers(0, 1), st.sampled_from([2, 4, 8, 16]))
def test_every_run_is_found(layout, dim, count):
    if runs(layout, dim, count):
        assert has_contiguous_runs(layout, dim, count)


@given(st.data(), tiles(), st.sampled_from([2, 4, 8]))
def test_runs_of_a_subtile_are_contiguous_wherever_it_begins(data, tile, count):
    dim = tile.contiguous_dim or 0
    known, starts, sizes = [], [], []
    aligned = data.draw(st.booleans())
    for d, extent in enumerate(tile.shape):
        divisor = count if d == dim and aligned else data.draw(st.sampled_from([1, 2, 4, 8]))
        sizes.append(data.draw(st.integers(1, extent)))
        starts.append(data.draw(st.integers(0, (extent - sizes[-1]) // divisor)) * divisor)
        known.append(data.draw(st.sampled_from([starts[-1], Multiple(divisor)])))
    subtile = tile.slice(known, sizes)
    together = subtile.multiple % count == 0 and has_contiguous_runs(subtile.layout, dim, count)
    there = tile.linear()[tuple(slice(s, s + n) for s, n in zip(starts, sizes, strict=True))]
    lines = np.moveaxis(there, dim, -1)
    lines = lines[..., : lines.shape[-1] // count * count].reshape(-1, count)
    run = np.array_equal(lines, lines[:, :1] + np.arange(count)) and not np.any(lines[:, 0] % count)
    assert run or not together
    # If the subtile and the tile's lines consist of whole runs, the runs are found.
    if aligned and sizes[dim] % count == 0 and tile.modes[dim][0].extent % count == 0:
        assert together


# Bank conflicts.

#: Passes beyond the fewest, by bits of an element and the contiguous dimension, for no swizzle, 32B, 64B
#: and 128B. Accesses by `ldmatrix` and `stmatrix` have none. The others depend on the banks of the pieces
#: of 32 bytes that are accessed together:
#: - tf32 of A, M-major: of 4 neighbouring lines, which fill 128 bytes in the 32B swizzle alone; CuTe's
#:   selector narrows to it, too;
#: - 32-bit accumulators, row-major: the same, since 16 threads with 8 bytes each are served together;
#: - 32-bit accumulators, column-major: of 4 lines, every other one, which only the widest swizzle puts
#:   at 4 different places.
NONE = (0, 0, 0, 0)
MULTIPLICANDS = {
    (1, 1): NONE,
    (8, 1): NONE,
    (16, 1): NONE,
    (32, 1): NONE,
    (16, 0): NONE,
    (8, 0): (1, 1, 1, 1),
    (32, 0): (1, 0, 1, 1),
}
ACCUMULATORS = {
    (8, 1): NONE,
    (16, 1): NONE,
    (32, 1): (2, 0, 2, 2),
    (8, 0): NONE,
    (16, 0): NONE,
    (32, 0): (1, 1, 1, 0),
}


@pytest.mark.parametrize("order", TileOrder)
@pytest.mark.parametrize(
    "choose, bits, contiguous, conflicts",
    [
        (choose, *key, conflicts)
        for choose, table in (
            (a_fragment_access, MULTIPLICANDS),
            (accumulator_access, ACCUMULATORS),
        )
        for key, conflicts in table.items()
    ],
)
def test_conflicts_in_canonical_layouts(choose, bits, contiguous, conflicts, order):
    element_type = next(
        element_type for element_type in ELEMENTS.values() if element_type.bits == bits
    )
    counts = []
    for swizzle in reversed(WIDEST_FIRST):
        line = Swizzle.B128.atom_elements(element_type)
        shape = (128, 2 * line) if contiguous else (2 * line, 128)
        layout = tile_of_atoms(element_type, shape, contiguous, swizzle, order)
        counts.append(choose(layout).conflicts(layout).conflicts)
    assert tuple(counts) == conflicts


def test_conflicts_of_a_plain_layout_and_what_padding_does():
    for stride, passes in ((64, 32), (72, 4)):
        layout = parse_layout(f"(64,64):({stride},1)", element("bf16"))
        assert a_fragment_access(layout).conflicts(layout) == Access(passes, 4)


def test_conflicts_where_a_run_time_start_cuts_atoms_are_those_of_start_0():
    tile = tile_of_atoms(element("bf16"), (64, 128), 1, Swizzle.B128)
    subtile = tile.slice((0, Multiple(16)), (64, 64)).layout
    assert a_fragment_access(subtile).conflicts(subtile) == Access(4, 4)


# The access to a layout, in words.


@pytest.mark.parametrize(
    "name, layout, of_a, of_d",
    [
        ("bf16", "(64,64):(64,1)", "8x8 matrices", "8x8 matrices"),
        ("bf16", "(64,64):(1,64)", "8x8 matrices, transposed", "8x8 matrices, transposed"),
        ("bf16", "(64,64):(66,1)", "2 elements at a time", "2 elements at a time"),
        ("bf16", "(64,64):(65,1)", "1 element at a time", "1 element at a time"),
        ("bf16", "(64,64):(1,65)", "1 element at a time", "1 element at a time"),
        ("tf32", "(64,32):(32,1)", "8x8 matrices", "2 elements at a time"),
        ("tf32", "(64,32):(34,1)", "1 element at a time", "2 elements at a time"),
        ("tf32", "(64,32):(1,64)", "1 element at a time", "1 element at a time"),
        ("e4m3", "(64,64):(68,1)", "4 elements at a time", "2 elements at a time"),
        ("e4m3", "(64,64):(66,1)", "1 element at a time", "2 elements at a time"),
        ("e4m3", "(64,64):(1,64)", "1 element at a time", "1 element at a time"),
    ],
)
def test_the_widest_access_that_the_layout_allows(name, layout, of_a, of_d):
    parsed = parse_layout(layout, element(name))
    assert str(a_fragment_access(parsed)) == of_a
    assert str(accumulator_access(parsed)) == of_d


@pytest.mark.parametrize("layout", ["(64,256):(1,64)", "(64,256):(264,1)"])
def test_bits_of_a_register_are_adjacent(layout):
    with pytest.raises(LayoutError) as error:
        a_fragment_access(parse_layout(layout, element("b1")))
    assert str(error.value) == (
        "registers hold 32 elements of b1 along k, which must be adjacent in memory; expected contiguous "
        "rows at multiples of 32 elements"
    )


@pytest.mark.parametrize("choose", [a_fragment_access, accumulator_access])
def test_a_stage_is_accessed_at_a_time(choose):
    staged = tile_of_atoms(element("bf16"), (2, 64, 64), 1, Swizzle.B128)
    with pytest.raises(LayoutError) as error:
        choose(staged)
    assert str(error.value) == "a tile of rank 3 is accessed one stage at a time"
    assert choose(staged.stage(1).layout).matrices
