"""Copies by 16-byte accesses: the accesses of threads, refusals of tiles, and bank conflicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import elements, swizzles, tile_orders

from mlir_smem.layout import Access, LayoutError, Swizzle, Transfer, element, parse_layout
from mlir_smem.layout import tile_of_atoms as tile

BF16 = element("bf16")

transfers = st.builds(
    lambda element_type, units, lines, contiguous, threads: Transfer(
        element_type,
        (units * element_type.unit, lines)
        if contiguous == 0
        else (lines, units * element_type.unit),
        contiguous,
        threads,
    ),
    elements,
    st.integers(1, 5),
    st.integers(1, 20),
    st.integers(0, 1),
    st.sampled_from([1, 32, 128]),
)


@given(transfers)
def test_every_element_is_copied_once(transfer):
    copied = np.zeros(transfer.shape, dtype=int)
    along = np.arange(transfer.vector)
    for round_ in range(transfer.rounds):
        row, column = (x[:, None] for x in transfer.coordinates(round_))
        if transfer.contiguous == 0:
            copied[row + along, column] += 1
        else:
            copied[row, column + along] += 1
    assert np.all(copied == 1)


@given(transfers)
def test_rounds_are_full_but_for_the_last(transfer):
    sizes = [len(transfer.coordinates(i)[0]) for i in range(transfer.rounds)]
    assert sizes[:-1] == [transfer.threads] * (transfer.rounds - 1)
    assert sum(sizes) == transfer.total
    assert sizes[-1] > 0


def test_neighbouring_threads_copy_neighbouring_units_of_a_line():
    transfer = Transfer(BF16, (64, 64), 1, 128)
    assert (transfer.vector, transfer.per_line, transfer.total, transfer.rounds) == (8, 8, 512, 4)
    rows, columns = transfer.coordinates(1)
    assert rows[:9].tolist() == [16] * 8 + [17]
    assert columns[:9].tolist() == [0, 8, 16, 24, 32, 40, 48, 56, 0]


@given(transfers, swizzles, tile_orders)
def test_tiles_of_atoms_keep_each_access_together(transfer, swizzle, order):
    layout = tile(transfer.element, transfer.shape, transfer.contiguous, swizzle, order)
    assert transfer.problem(layout) is None
    along = layout.offsets() if transfer.contiguous == 1 else layout.offsets().T
    units = along.reshape(along.shape[0], -1, transfer.vector)
    assert np.all(units[..., 0] % 16 == 0)
    assert np.array_equal(units // 16, np.broadcast_to(units[..., :1] // 16, units.shape))


@pytest.mark.parametrize(
    "swizzle, passes",
    [(Swizzle.NONE, 32), (Swizzle.B32, 16), (Swizzle.B64, 8), (Swizzle.B128, 4)],
    ids=str,
)
def test_a_line_of_many_narrow_atoms_conflicts(swizzle, passes):
    layout = tile(BF16, (64, 64), 1, swizzle)
    assert Transfer(BF16, (64, 64), 1, 128).conflicts(layout) == Access(passes, 4)


def test_a_few_threads_conflict_less():
    layout = tile(BF16, (64, 64), 1, Swizzle.NONE)
    assert Transfer(BF16, (64, 64), 1, 4).conflicts(layout) == Access(4, 1)


@pytest.mark.parametrize(
    "contiguous, text, problem",
    [
        (
            1,
            "(64,64):(1,64)",
            "the data in global memory is row-major, but the tile is column-major; smem.copy with the "
            "unit attribute relayout transposes it",
        ),
        (
            0,
            "(64,64):(64,1)",
            "the data in global memory is column-major, but the tile is row-major; smem.copy with the "
            "unit attribute relayout transposes it",
        ),
        (
            1,
            "(64,64):(2,128)",
            "the data in global memory is row-major, but the tile is contiguous along no dimension",
        ),
        (
            1,
            "(64,(4,16)):(4,(1,256))",
            "16-byte accesses need 8 elements in a row and strides that are multiples of it; the "
            "tile has runs of 4 and strides [4, 256]",
        ),
        (
            1,
            "(64,64):(68,1)",
            "16-byte accesses need 8 elements in a row and strides that are multiples of it; the "
            "tile has runs of 64 and strides [68]",
        ),
    ],
)
def test_tiles_that_do_not_fit(contiguous, text, problem):
    assert Transfer(BF16, (64, 64), contiguous, 128).problem(parse_layout(text, BF16)) == problem


def test_a_tile_that_is_read_has_to_fit_too():
    narrow = parse_layout("(64,64):(68,1)", BF16)
    assert Transfer(BF16, (64, 64), 1, 128, source=narrow).problem(
        tile(BF16, (64, 64), 1, Swizzle.B128)
    ) == (
        "of the tile that is read: 16-byte accesses need 8 elements in a row and strides that are "
        "multiples of it; the tile has runs of 64 and strides [68]"
    )


def test_runs_of_a_line_go_down_the_lines_before_the_line_goes_on():
    transfer = Transfer(BF16, (16, 128), 1, 128, run=4, lines=8)
    line, along = transfer.place(np.arange(transfer.total))
    assert list(along[:6]) == [0, 8, 16, 24, 0, 8] and list(line[:6]) == [0, 0, 0, 0, 1, 1]
    # Four runs of eight lines; then the lines from the eighth on.
    assert (line[32], along[32]) == (0, 32) and (line[96], along[96]) == (0, 96)
    assert (line[128], along[128]) == (8, 0)
    assert len(set(zip(line.tolist(), along.tolist(), strict=True))) == transfer.total


def test_a_staged_tile_is_copied_stage_by_stage():
    problem = Transfer(BF16, (64, 64), 1, 128).problem(tile(BF16, (4, 64, 64), 1, Swizzle.B128))
    assert problem and "rank 3" in problem


@pytest.mark.parametrize("shape, contiguous", [((64, 60), 1), ((60, 64), 0)])
def test_a_line_is_whole_accesses(shape, contiguous):
    with pytest.raises(
        LayoutError, match="a line of 60 elements of bf16 is not a multiple of 8, the elements"
    ):
        Transfer(BF16, shape, contiguous, 128)
