"""Pictures for `tcgen05`: the ninth canonical layout, MMA tiles, and padded types."""

import numpy as np
import pytest
from drawn import check_positions, read

from mlir_smem.advisor.pictures import AccessKind, Color, Outline, Picture, View
from mlir_smem.layout import Arch, LayoutError, Role, Swizzle, element, parse_layout, tile_of_atoms
from mlir_smem.layout.tcgen05 import KINDS, chunked_mma_tiles, scale_layout, tcgen05_addresses

NINTH = parse_layout("Swizzle<2,5,2> o ((32,2),(4,2)):((1,256),(32,128))", element("tf32"))


@pytest.mark.parametrize("view", View)
def test_cells_of_the_ninth_form_are_drawn_at_their_offsets(view):
    picture = Picture(NINTH, view)
    (cells,) = read(picture._repr_svg_())
    assert check_positions(cells, picture) == 64 * 8 // 4


def test_brackets_of_the_ninth_form_span_its_atoms():
    strides = Picture(NINTH, strides=True, arch=Arch.SM_100).descriptor_strides
    assert [(stride.name, stride.size, stride.to) for stride in strides] == [
        ("LBO", 1024, (32, 0)),
        ("SBO", 512, (0, 4)),
    ]


def test_wgmma_has_no_ninth_form():
    with pytest.raises(LayoutError) as error:
        Picture(NINTH, strides=True).drawing()
    assert str(error.value) == (
        "no LBO and SBO: sm_90 has no swizzle 128B_ATOM_32B; sm_100 and sm_103 have (--arch)"
    )


@pytest.mark.parametrize("arch, rows", [(Arch.SM_90, 64), (Arch.SM_100, 128), (Arch.SM_103, 128)])
def test_the_mma_tile_of_a(arch, rows):
    tile = tile_of_atoms(element("bf16"), (256, 64), 1, Swizzle.B128)
    over = Picture(tile, access=AccessKind.MMA, at=(0, 16), arch=arch).touched
    assert over is not None
    touched = np.argwhere(over.lane >= 0)
    assert (touched.min(0).tolist(), touched.max(0).tolist()) == ([0, 16], [rows - 1, 31])
    name = "wgmma" if arch is Arch.SM_90 else "tcgen05"
    assert over.sentence.startswith(f"one {name} reads m 0 to {rows - 1}, k 16 to 31")


def test_an_mma_tile_starts_at_a_multiple_of_its_k():
    tile = tile_of_atoms(element("e2m1"), (64, 256), 1, Swizzle.B128)
    with pytest.raises(LayoutError, match="a tcgen05 reads 64 elements of k from a multiple of"):
        Picture(tile, access=AccessKind.MMA, at=(0, 32), role=Role.A, arch=Arch.SM_100).drawing()


@pytest.mark.parametrize(
    "name, note",
    [
        ("e2m1_p64", "the last 8 are padding; the others contain 16 elements of 4 bits"),
        ("e3m2_p32", "the last 4 are padding; the others contain 16 elements of 6 bits"),
    ],
)
def test_padded_types_are_explained(name, note):
    notes = Picture(tile_of_atoms(element(name), (8, 128), 1, Swizzle.B128)).notes
    assert any(note in text for text in notes)
    plain = Picture(tile_of_atoms(element("e4m3"), (8, 128), 1, Swizzle.B128)).notes
    assert not any("padding" in text for text in plain)


LONG = parse_layout("Swizzle<3,4,3> o (128,(256,3)):(256,(1,32768))", element("e2m1"))


@pytest.mark.parametrize("role", Role)
def test_cells_have_the_colour_of_their_k_block(role):
    layout = LONG if role is Role.A else LONG.transposed()
    picture = Picture(
        layout, color=Color.INSTRUCTION, role=role, arch=Arch.SM_103, k_bytes=48, lines=384
    )
    cells = picture.cells
    chunks = chunked_mma_tiles(layout, role, KINDS["mxf4"])
    read_by = {}
    for k in range(8):
        descriptor = chunks.tile_descriptor(0, k, 0).encode()
        for address in tcgen05_addresses(descriptor, "e2m1", "k", 128, 48).ravel().tolist():
            read_by.setdefault(address // 16 * 16, set()).add(k)
    shades = dict(zip(cells.address.tolist(), cells.shade(picture.color).tolist(), strict=True))
    assert {address: {shade} for address, shade in shades.items()} == read_by
    assert cells.shade_title(picture.color) == "K block mod 8"


def test_one_instruction_in_two_chunks():
    picture = Picture(LONG, access=AccessKind.MMA, at=(0, 192), arch=Arch.SM_103, k_bytes=48)
    over = picture.touched
    touched = np.argwhere(over.lane >= 0)
    assert (touched.min(0).tolist(), touched.max(0).tolist()) == ([0, 192], [127, 287])
    assert over.sentence == (
        "one tcgen05 reads m 0 to 127, k 192 to 287: descriptor + 6 (96 bytes), LBO = address "
        "16384 bytes into the tile"
    )
    one = Picture(LONG, access=AccessKind.MMA, at=(0, 288), arch=Arch.SM_103, k_bytes=48).touched
    assert one.sentence.endswith("descriptor + 1025 (16400 bytes)")


@pytest.mark.parametrize(
    "layout, arch, message",
    [
        (LONG, Arch.SM_100, "K is 48 bytes, but sm_100 reads 32 of each row"),
        (
            tile_of_atoms(element("e4m3"), (64, 384), 1, Swizzle.B128),
            Arch.SM_103,
            "K is 48 bytes, which needs e2m1 with swizzle 128B, not e4m3 with 128B",
        ),
        (
            tile_of_atoms(element("e2m1"), (64, 384), 1, Swizzle.B64),
            Arch.SM_103,
            "K is 48 bytes, which needs e2m1 with swizzle 128B, not e2m1 with 64B",
        ),
    ],
)
def test_tiles_without_a_k_of_48_bytes(layout, arch, message):
    with pytest.raises(LayoutError) as error:
        Picture(layout, color=Color.INSTRUCTION, arch=arch, k_bytes=48).drawing()
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["ue8m0", "e4m3"])
@pytest.mark.parametrize("view", View)
def test_scale_factors_are_drawn_as_words(name, view):
    picture = Picture(scale_layout(element(name), 256, 8), view, lines=256)
    (cells,) = read(picture._repr_svg_())
    assert picture.cells.extent == (1, 4)
    assert check_positions(cells, picture) == 256 * 8 // 4
    assert "thick lines: blocks of scale factors, each of 128x4" in picture.notes[0]
    bytes_ = Picture(scale_layout(element(name), 128, 4), elements=True)
    assert bytes_.cells.extent == (1, 1)
    assert Picture(scale_layout(element(name), 256, 8), outline=Outline.ATOM).cells.holds_factors
