"""The choice of operands' layouts: errors, choices and renderings."""

import json

import pytest

from mlir_smem.advisor import choose_operands
from mlir_smem.layout import LayoutError, Swizzle
from mlir_smem.layout.text_error import TextError

BF16 = {"a": "128x64xbf16", "b": "64x256xbf16"}


# Errors.


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "no operand is given; expected A, B or both, for example 128x64xbf16"),
        (
            {"a": "128x60xbf16"},
            "A: K is 60; wgmma takes 16 elements of bf16 at a time: expected a multiple of 16, for "
            "example 48 or 64",
        ),
        (
            {"b": "8x64xbf16"},
            "B: K is 8; wgmma takes 16 elements of bf16 at a time: expected a multiple of 16, for "
            "example 16",
        ),
        (
            {"a": "32x64xbf16"},
            "A: M is 32; expected a multiple of 64, for example 64",
        ),
        ({"b": "64x100xbf16"}, "B: N is 100; expected a multiple of 8, for example 96 or 104"),
        ({"a": "64x64xs32"}, "A: wgmma does not multiply s32"),
        (
            {"a": "64x64xbf16", "b": "64x64xf16"},
            "wgmma does not multiply bf16 by f16; with an A of bf16, B is bf16",
        ),
        (
            {"a": "64x64xe4m3", "b": "64x64xs8"},
            "wgmma does not multiply e4m3 by s8; with an A of e4m3, B is e4m3 or e5m2",
        ),
        (
            {"a": "64x64xbf16", "b": "32x64xbf16"},
            "A is M x K and B is K x N, but A has 64 columns and B has 32 rows; expected the same K",
        ),
        (
            {"a": "64x64xtf32", "a_major": "m"},
            "A: tf32 is M-major in global memory, TMA does not transpose, and wgmma reads tf32 "
            "K-major only; expected K-major data (--a-major k), or threads that transpose it "
            "(--load-a 16-byte)",
        ),
        (
            {"b": "64x64xe4m3", "b_major": "n"},
            "B: e4m3 is N-major in global memory, TMA does not transpose, and wgmma reads e4m3 "
            "K-major only; expected K-major data (--b-major k), or threads that transpose it "
            "(--load-b 16-byte)",
        ),
        (
            {"b": "64x64xbf16", "load_b": "tma,ldmatrix"},
            "B: wgmma reads B from shared memory only; expected tma or 16-byte, and ldmatrix for A",
        ),
        ({"a": "64x64xbf16", "a_major": "n"}, "A: major 'n'; expected k or m"),
        ({"b": "64x64xbf16", "b_major": "mn"}, "B: major 'mn'; expected k or n"),
        (
            {"a": "64x64xbf16", "max_swizzle": 48},
            "no swizzle is 48 bytes wide; expected 0, 32, 64 or 128",
        ),
        ({"a": "64x64xbf16", "threads": 0}, "0 threads; expected 1 to 1024"),
        ({"a": "64x64xbf16", "stages": 0}, "0 stages; expected 1 or more"),
        (
            {"a": "2x64x64xbf16", "stages": 2},
            "A: 2x64x64xbf16 has stages already; give them once",
        ),
        (
            {**BF16, "stages": 5},
            "A takes 81920 and B takes 163840 bytes; a CTA has 232448 bytes of shared memory: "
            "expected smaller tiles or fewer stages",
        ),
    ],
    ids=str,
)
def test_refusals(options, message):
    with pytest.raises(LayoutError) as error:
        choose_operands(**options)
    assert str(error.value) == message


def test_an_error_lists_all_refused_layouts():
    with pytest.raises(LayoutError) as error:
        choose_operands("64x512xb1", load_a="ldmatrix", a_major="m", max_swizzle=0)
    assert str(error.value) == (
        "A: no layout of 64x512xb1 fits every use of the tile\n"
        "  refused  swizzle none, column-major, atoms across: the tile: its contiguous extent of 64 "
        "elements is no multiple of the atom's 128: 4096 bytes would be padding"
    )


@pytest.mark.parametrize(
    "options, index",
    [({"a": "128y64xbf16"}, 3), ({"a": "64x64xbf16", "load_a": "tma,"}, 4)],
    ids=["given0-3", "given1-4"],
)
def test_malformed_texts_have_a_position(options, index):
    with pytest.raises(TextError) as error:
        choose_operands(**options)
    assert error.value.index == index


# Choices.


def test_the_defaults_are_row_major_matrices_filled_by_tma():
    chosen = choose_operands(**BF16)
    assert [str(o.major) for o in chosen.each] == ["K-major", "MN-major"]
    assert [o.tile.swizzle for o in chosen.each] == [Swizzle.B128] * 2


def test_b_of_other_widths_is_k_major_by_default():
    assert str(choose_operands(b="64x64xe4m3").b.major) == "K-major"


def test_threads_transpose_what_tma_cannot():
    a = choose_operands("64x64xtf32", a_major="m", load_a="16-byte").a
    assert str(a.major) == "K-major"
    assert a.stores.transposed
    assert a.stores.reason == "transposed in registers, no bank conflicts"


def test_examples_are_consecutive_and_aligned():
    chosen = choose_operands("64x16xbf16", "16x64xbf16", stages=3)
    assert chosen.a.address == 0x400
    assert chosen.a.layout.size_bytes == 3 * 64 * 16 * 2
    assert chosen.b.address == 0x1C00
    assert chosen.b.address % chosen.b.alignment == 0


def test_tma_needs_its_own_alignment():
    plain = {"max_swizzle": 0}
    assert choose_operands("64x64xbf16", **plain).a.alignment == 128
    assert choose_operands("64x64xbf16", load_a="16-byte", **plain).a.alignment == 16


def test_stages_are_multiples_of_the_pattern():
    a = choose_operands("3x64x16xbf16").a
    assert a.layout.shape == (3, 64, 16)
    assert a.tile.shape == (64, 16)
    assert a.stage_bytes == 2048


def test_an_a_in_registers_has_no_descriptor():
    a = choose_operands("64x64xbf16", load_a="ldmatrix").a
    assert (a.each_mma_tile, a.fields) == ([], [])
    with pytest.raises(LayoutError, match="A is read from registers; it has no descriptor"):
        a.descriptor()


def test_a_strided_load_narrows_the_swizzle():
    # CuTe's exception: tf32 M-major, loaded element by element, has conflicts in wide atoms.
    a = choose_operands("64x64xtf32", load_a="ldmatrix", a_major="m").a
    assert a.tile.swizzle is Swizzle.B32


def test_instructions_of_a_wide_mma():
    mma = choose_operands("128x32xs8", "32x296xs8").mma
    assert mma.instructions == {
        "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8": 2,
        "wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8": 2,
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8": 2,
    }
    assert mma.transposes == {}
    assert mma.registers == 148


def test_an_operand_in_registers_is_not_transposed_by_the_instruction():
    mma = choose_operands("64x64xf16", "64x64xf16", load_a="ldmatrix", a_major="m").mma
    assert mma.transposes == {"imm-trans-b": 1}


# Renderings.

KEYS = [
    *(
        "role",
        "shape",
        "stages",
        "element",
        "global_major",
        "loads",
        "major",
        "layout",
        "staged_layout",
    ),
    *("swizzle", "bytes", "stage_bytes", "alignment", "candidates", "descriptor", "tma", "banks"),
]


def test_json_keys_are_stable():
    data = json.loads(json.dumps(choose_operands(**BF16).data()))
    assert list(data) == ["arch", "a", "b", "mma"]
    a = data["a"]
    assert list(a) == KEYS
    assert list(a["candidates"][0]) == ["evaluation", "name", "layout", "why", "uses", "operand"]
    assert list(a["descriptor"]) == ["form", "constant", "fields", "example", "mma_tiles"]
    assert list(a["descriptor"]["fields"][0]) == ["name", "bits", "value", "encoded", "meaning"]
    assert a["descriptor"]["mma_tiles"][1] == {
        "m": 0,
        "k": 16,
        "extent": 64,
        "step": 2,
        "example": "0x4000004000010042",
    }
    assert a["tma"] == {
        "box": [64, 128],
        "swizzle": "CU_TENSOR_MAP_SWIZZLE_128B",
        "copies": [{"row": 0, "column": 0, "offset": 0}],
    }
    assert data["mma"]["imm_trans_b"] == 1


def test_evaluations_are_those_of_the_choice():
    a = choose_operands("64x64xtf32").a
    lines = [f"{c['evaluation']:8} {c['name']}: {c['why']}" for c in a.data()["candidates"]]
    assert "\n".join(lines) == a.choice.explain()


def test_fields_add_up_to_the_constant():
    for operand in choose_operands(**BF16).each:
        bits = sum(field.encoded << field.bit for field in operand.fields)
        assert bits == operand.descriptor().encode()


def test_boxes_of_bits_count_bytes():
    assert choose_operands("64x512xb1").data()["a"]["tma"]["box"] == [64, 64]


def test_a_notebook_shows_tables_and_a_picture():
    chosen = choose_operands(**BF16)
    html = chosen._repr_html_()
    assert html.count("<table>") == 8
    assert "Swizzle&lt;3,4,3&gt; o (128,64):(64,1)" in html
    assert html.count("<svg") == 2


def test_a_reason_is_given_once_in_the_table():
    text = str(choose_operands("64x64xbf16"))
    assert text.count("TMA moves lines as they are") == 1
    assert text.count("\n    picked ") == 1
