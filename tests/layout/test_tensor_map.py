"""The tensor map of a tile: its copies, as TMA writes them, put each element where the layout has it."""

import numpy as np
import pytest

from mlir_smem.layout import LayoutError, Swizzle, element, tensor_map, tile_of_atoms

BF16 = element("bf16")


def written_addresses(layout, map_):
    """The byte offset of each element of a tile after the copies of a tensor map."""
    inner, lines = map_.box
    places = np.full(layout.shape, -1)
    packed = max(1, 8 // layout.element.bits)
    size = max(1, layout.element.bits // 8)
    for row, column, byte in map_.copies:
        along, line = np.meshgrid(np.arange(inner * packed), np.arange(lines))
        address = byte + line * inner * size + along // packed * size
        index = (
            (row + line, column + along) if map_.contiguous == 1 else (row + along, column + line)
        )
        assert (places[index] == -1).all()
        places[index] = map_.swizzle.apply(address)
    return places


@pytest.mark.parametrize("contiguous", [0, 1])
@pytest.mark.parametrize("swizzle", Swizzle)
@pytest.mark.parametrize("name", ["bf16", "tf32", "s8", "e2m1", "b1"])
def test_copies_fill_the_tile(name, swizzle, contiguous):
    kind = element(name)
    along = 2 * swizzle.atom_elements(kind)
    shape = (64, along) if contiguous else (along, 64)
    layout = tile_of_atoms(kind, shape, contiguous, swizzle)
    map_ = tensor_map(layout)
    assert (written_addresses(layout, map_) == layout.offsets()).all()
    assert max(map_.box) <= 256


def test_box_and_swizzle_of_the_driver():
    map_ = tensor_map(tile_of_atoms(BF16, (64, 128), 0, Swizzle.B64))
    assert map_.box == (32, 128)
    assert map_.copies == ((0, 0, 0), (32, 0, 8192))
    assert (map_.swizzle.tensor_map, map_.swizzle.value) == ("CU_TENSOR_MAP_SWIZZLE_64B", 2)


def test_refusals():
    atom_32b = tensor_map(tile_of_atoms(element("tf32"), (32, 64), 0, Swizzle.B128_ATOM_32B))
    with pytest.raises(LayoutError, match="has no swizzle 128B_ATOM_32B; it has none, 32B, 64B"):
        atom_32b.nvgpu_type()
    padded = tensor_map(tile_of_atoms(element("e2m1_p64"), (64, 128), 1, Swizzle.B128))
    with pytest.raises(LayoutError, match="does not pad elements of e2m1_p64"):
        padded.nvgpu_type()
    with pytest.raises(LayoutError, match="a tile of rank 3 is copied one stage at a time"):
        tensor_map(tile_of_atoms(BF16, (2, 64, 64), 1, Swizzle.B128))
