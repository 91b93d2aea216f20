"""The descriptors of operands whose instructions read 48 bytes along K."""

import pytest

from mlir_smem.advisor import encode_chunks
from mlir_smem.layout import Arch, LayoutError, Role, Swizzle, element, tile_of_atoms

E2M1 = element("e2m1")
A = tile_of_atoms(E2M1, (128, 768), 1, Swizzle.B128)


def test_json_of_a_tile():
    data = encode_chunks(A, Role.A, 0x800).data()
    assert data["starts"] == [[0x800, 0x830, 0x860, 0x4810, 0x4840, 0x4870, 0x8820, 0x8850]]
    assert data["seconds"] == [[None, None, 0x4800, None, None, 0x8800, None, None]]
    # Triton's descriptors of the same steps.
    assert data["descriptors"][0][2] == "0x4010404004800086"
    assert data["descriptors"][0][5] == "0x4010404008800487"
    assert (data["sbo"], data["rows"], data["k_bytes"], data["role"]) == (1024, [128], 48, "a")


def test_text_of_a_tile():
    lines = str(encode_chunks(A, Role.A, 0x800)).split("\n")
    assert lines[0] == (
        "K-major, 8 K blocks of 48 bytes, in two chunks: 2, 5; SBO 1024 bytes, swizzle 128B"
    )
    assert lines[6].split() == ["0-127", "192-287", "0x860", "0x4800", "0x4010404004800086"]
    assert lines[7].split() == ["0-127", "288-383", "0x4810", "0x4000404000010481"]


def test_more_rows_than_an_instruction_has():
    b = tile_of_atoms(E2M1, (768, 384), 0, Swizzle.B128)
    answer = encode_chunks(b, Role.B)
    assert answer.data()["rows"] == [192, 192]
    assert len(answer.descriptors) == 2
    assert "192-383  96-191" in str(answer)


def test_in_a_notebook():
    assert "<td>0x4010404004000006</td>" in encode_chunks(A, Role.A)._repr_html_()


@pytest.mark.parametrize(
    "tile, start, arch, problem",
    [
        (A, 0, Arch.SM_100, "K is 48 bytes, which only sm_103 has; sm_100 reads 32"),
        (A, 0x880, Arch.SM_103, "the tile begins at 0x880; with an absolute leading dimension"),
        (
            A,
            0x38000,
            Arch.SM_103,
            "a tile of 49152 bytes at 0x38000 ends above 0x40000, the limit of descriptor addresses",
        ),
        (
            tile_of_atoms(E2M1, (2, 128, 768), 1, Swizzle.B128),
            0,
            Arch.SM_103,
            "an operand has rank 2, but the tile has rank 3",
        ),
        (
            tile_of_atoms(element("s8"), (128, 768), 1, Swizzle.B128),
            0,
            Arch.SM_103,
            "s8 is not an A or B element type of tcgen05 on sm_103",
        ),
        (
            tile_of_atoms(element("bf16"), (128, 768), 1, Swizzle.B128),
            0,
            Arch.SM_103,
            "K steps of 48 bytes are of 4-bit types in kind::mxf4 and kind::mxf4nvf4",
        ),
        (
            tile_of_atoms(E2M1, (128, 768), 1, Swizzle.B64),
            0,
            Arch.SM_103,
            "needs swizzle 128B with atoms of 16 bytes, not 64B",
        ),
    ],
)
def test_tiles_without_chunks(tile, start, arch, problem):
    with pytest.raises(LayoutError, match=problem):
        encode_chunks(tile, Role.A, start, arch)
