"""Bulk tensor copies, byte for byte, against a simple model of boxes and swizzles."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from emulated import ELEMENTS, faults_of, run_text
from tma_copies import FENCE, FILL, START, WAIT, WIDTHS, dump, kernel, load, map_type, store

from mlir_smem.emulator import EmulationError, ViolationKind


def places(order, box, size, swizzle):
    """Yield the indices of each element of a box, and the offset of its first byte in shared memory.

    Args:
        order: the array's dimensions, the contiguous one first.
        box: extents, in the order of the array's dimensions.
        size: bytes of an element.
        swizzle: the tensor map's swizzle.
    """
    for index in itertools.product(*map(range, box)):
        offset, pitch = 0, size
        for dim in order:
            offset, pitch = offset + index[dim] * pitch, pitch * box[dim]
        address = START + offset
        if swizzle != "none":
            unit = 32 if swizzle == "128B_ATOM_32B" else 16
            bits = WIDTHS[swizzle] // unit - 1
            address ^= (address // 128 & bits) * unit
        yield index, address - START


def expected_bytes(array, box, order, start, swizzle):
    """The bytes of shared memory after a load of the box at `start`."""
    memory = np.full(int(np.prod(box)) * array.itemsize, 0xEE, np.uint8)
    for index, offset in places(order, box, array.itemsize, swizzle):
        index_in_array = tuple(a + i for a, i in zip(start, index, strict=True))
        inside = all(0 <= w < n for w, n in zip(index_in_array, array.shape, strict=True))
        value = array[index_in_array] if inside else array.dtype.type(0)
        memory[offset : offset + array.itemsize] = np.frombuffer(value.tobytes(), np.uint8)
    return memory


def numbers(shape, dtype, order="C"):
    random = np.random.default_rng(sum(shape))
    return np.asarray(random.integers(1, 100, shape).astype(dtype), order=order)


def order_of(rank, contiguous):
    """The dimensions of an array, the contiguous one first."""
    return [contiguous, *(d for d in reversed(range(rank)) if d != contiguous)]


def load_box(array, box, swizzle, start, contiguous=None):
    """Return the bytes of shared memory after a load of the box at `start`, and the expected ones."""
    contiguous = array.ndim - 1 if contiguous is None else contiguous
    size = int(np.prod(box)) * array.itemsize
    memory = np.zeros(size // 4, np.int32)
    maps = [map_type(box, ELEMENTS[array.dtype], swizzle, contiguous)]
    coordinates = [start[d] for d in order_of(array.ndim, contiguous)]
    body = load(coordinates) + "\n" + WAIT + "\n" + dump("B", size)
    run_text(kernel(body, [array, memory], maps, size), "k", (array, memory), shared=size + 8)
    exact = expected_bytes(array, box, order_of(array.ndim, contiguous), start, swizzle)
    return memory.view(np.uint8), exact


BF16 = ml_dtypes.bfloat16


@pytest.mark.parametrize("swizzle", WIDTHS)
@pytest.mark.parametrize(
    "dtype, shape, box, contiguous",
    [
        (BF16, (64, 48), (16, 16), 1),
        (np.float32, (40, 24), (24, 8), 1),
        (np.uint8, (40, 80), (32, 32), 1),
        (np.float16, (48, 64), (16, 24), 0),
        (BF16, (3, 24, 32), (2, 8, 16), 2),
        (BF16, (2, 3, 8, 24), (1, 2, 8, 16), 3),
    ],
)
def test_box_is_loaded(dtype, shape, box, contiguous, swizzle):
    array = numbers(shape, dtype, "C" if contiguous else "F")
    unit = 16 // np.dtype(dtype).itemsize
    steps = [unit if d == contiguous else 1 for d in range(len(shape))]
    start = tuple(min(s, n - b) for s, n, b in zip(steps, shape, box, strict=True))
    memory, exact = load_box(array, box, swizzle, start, contiguous)
    assert (memory == exact).all()


@pytest.mark.parametrize(
    "swizzle, inner", [("32B", 16), ("64B", 32), ("128B", 64), ("128B_ATOM_32B", 64)]
)
def test_rows_as_wide_as_the_swizzle(swizzle, inner):
    memory, exact = load_box(numbers((64, 128), BF16), (32, inner), swizzle, (8, 16))
    assert (memory == exact).all()


@pytest.mark.parametrize(
    "start",
    [
        (-3, 0),
        (0, -8),
        (-16, -16),
        (-40, 8),
        (30, 40),
        (37, 0),
        (40, 0),
        (1000, 0),
        (5, 56),
        (-8, 56),
    ],
    ids=[f"at{i}" for i in range(10)],
)
def test_out_of_bounds_elements_are_loaded_as_zeros(start):
    memory, exact = load_box(numbers((40, 64), BF16), (16, 16), "32B", start)
    assert (memory == exact).all()


@pytest.mark.parametrize(
    "start", [(0, 0), (3, 8), (30, 60), (100, 0), (5, 64)], ids=[f"at{i}" for i in range(5)]
)
@pytest.mark.parametrize("swizzle", ["none", "64B", "128B", "128B_ATOM_32B"])
def test_box_is_stored_and_clipped(swizzle, start):
    box, size = (16, 16), 16 * 16 * 4
    array = np.full((40, 64), 7, np.int32)
    maps = [map_type(box, "f32", swizzle, 1)]
    body = f"{FILL}\n{FENCE}\ngpu.barrier\n{store(start[::-1])}"
    text = kernel(body, [array.view(np.float32)], maps, size)
    run_text(text, "k", (array.view(np.float32),), shared=size + 8)
    exact = np.full((40, 64), 7, np.int32)
    for (i, j), offset in places([1, 0], box, 4, swizzle):
        if 0 <= start[0] + i < 40 and 0 <= start[1] + j < 64:
            exact[start[0] + i, start[1] + j] = offset // 4
    assert (array == exact).all()


# Copies at which the chip stops, or that it executes at another place.


def faults_at(access, shape, start):
    """The faults of a load or store of a box of 16 x 16 f32 at `start`."""
    array = np.full(shape, 7, np.int32)
    maps = [map_type((16, 16), "f32", "none", 1)]
    body = f"{FILL}\n{FENCE}\ngpu.barrier\n{access(start[::-1])}"
    text = kernel(body, [array.view(np.float32)], maps, 1024)
    return [
        (fault.kind, fault.message)
        for fault in faults_of(text, "k", (array.view(np.float32),), shared=1032)
    ]


@pytest.mark.parametrize("access, does", [(load, "reads"), (store, "writes")])
@pytest.mark.parametrize("column, begins", [(1, 4), (6, 24)])
def test_boxes_begin_at_multiples_of_16_bytes(access, does, column, begins):
    assert faults_at(access, (40, 64), (8, column)) == [
        (
            ViolationKind.MISALIGNED,
            f"{does} a box that begins {begins} bytes into the lines of argument 0; expected a "
            "multiple of 16",
        )
    ]


@pytest.mark.parametrize("start", [(-1, 0), (0, -4), (-16, 0)], ids=["at0", "at1", "at2"])
def test_stores_at_negative_coordinates(start):
    assert faults_at(store, (40, 64), start) == [
        (
            ViolationKind.OUT_OF_BOUNDS,
            f"writes a box at {list(start[::-1])} of argument 0; a store takes no coordinate below 0",
        )
    ]


def test_store_after_a_load_needs_no_fence():
    source, result = numbers((32, 32), BF16), np.zeros((32, 32), BF16)
    maps = [map_type((32, 32), "bf16", "64B", 1, n) for n in (0, 1)]
    body = f"{load((0, 0))}\n{WAIT}\n{store((0, 0), '%map1').replace('%x', '%y')}"
    run_text(kernel(body, [source, result], maps, 2048), "k", (source, result), shared=2056)
    assert (source == result).all()


# Elements of 4 and 6 bits, which are padded in shared memory and not in the array.


@pytest.mark.parametrize("swizzle", ["none", "128B", "128B_ATOM_32B"])
@pytest.mark.parametrize("element, bits", [("e2m1_p64", 4), ("e2m3_p32", 6), ("e3m2_p32", 6)])
@pytest.mark.parametrize(
    "start", [(4, 128), (-2, 0), (0, 256), (20, -128)], ids=[f"at{i}" for i in range(4)]
)
def test_elements_are_padded(element, bits, swizzle, start):
    unpadded, rows = bits * 2, 16
    array = numbers((24, 384 * bits // 8), np.uint8)
    size = rows * 128
    words = np.zeros(size // 4, np.int32)
    maps = [map_type((rows, 128), element, swizzle, 1)]
    body = load(start[::-1]) + "\n" + WAIT + "\n" + dump("B", size)
    run_text(kernel(body, [array, words], maps, size), "k", (array, words), shared=size + 8)
    memory = words.view(np.uint8)
    for (row, column), offset in places([1, 0], (rows, 128), 1, swizzle):
        group, byte = divmod(column, 16)
        if byte >= unpadded:
            continue
        line, first = start[0] + row, start[1] * bits // 8 + group * unpadded + byte
        inside = 0 <= line < array.shape[0] and 0 <= first < array.shape[1]
        assert memory[offset] == (array[line, first] if inside else 0), (row, column)


def test_boxes_of_padded_elements_begin_at_multiples_of_128():
    array, result = numbers((24, 192), np.uint8), np.zeros(8, np.int32)
    text = kernel(load((64, 0)), [array, result], [map_type((8, 128), "e2m1_p64", "none", 1)], 1024)
    (fault,) = faults_of(text, "k", (array, result), shared=1032)
    assert (fault.kind, fault.message) == (
        ViolationKind.MISALIGNED,
        "reads a box that begins 64 elements into the lines of argument 0; expected a multiple of 128",
    )


def test_padded_elements_are_not_stored():
    array = numbers((24, 192), np.uint8)
    text = kernel(store((0, 0)), [array], [map_type((8, 128), "e2m3_p32", "none", 1)], 1024)
    with pytest.raises(EmulationError, match="stores padded elements of e2m3_p32"):
        run_text(text, "k", (array,), shared=1032)
