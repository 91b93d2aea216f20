"""Decoded instruction descriptors of tcgen05."""

import json

import pytest

from mlir_smem.advisor import decode_instruction
from mlir_smem.advisor.rendering.instruction import field_rows
from mlir_smem.layout import Arch, LayoutError
from mlir_smem.layout.tcgen05 import KINDS


def decode(bits, kind, arch=Arch.SM_100):
    return decode_instruction(bits, KINDS[kind], arch)


# CUTLASS's and Triton's descriptors.


@pytest.mark.parametrize(
    "bits, kind, arch, head",
    [
        (0x08400010, "f16", Arch.SM_100, "kind::f16: 128 x 256 f32 from f16 and f16"),
        (0x10218490, "f16", Arch.SM_100, "kind::f16: 256 x 128 f32 from bf16 and bf16"),
        (0x080C00A8, "i8", Arch.SM_100, "kind::i8: 128 x 48 s32 from s8 and u8"),
        (0x10A11000, "mxf8f6f4", Arch.SM_103, "kind::mxf8f6f4: 256 x 128 f32 from e4m3 and e3m2_p32"),
        (0xD04004A0, "mxf4nvf4", Arch.SM_103, "kind::mxf4nvf4: 256 x 256 f32 from e2m1 and e2m1"),
    ],
)  # fmt: skip
def test_text(bits, kind, arch, head):
    text = str(decode(bits, kind, arch))
    assert text.split("\n")[0] == f"{bits:#010x}, {head}"


def test_fields():
    answer = decode(0x04032910, "tf32")
    assert field_rows(answer) == [
        ("sparsity selector", "0-1", "0", "0"),
        ("sparse", "2", "0", "no"),
        ("saturate", "3", "0", "no"),
        ("D", "4-5", "1", "f32"),
        ("A", "7-9", "2", "tf32"),
        ("B", "10-12", "2", "tf32"),
        ("negate A", "13", "1", "yes"),
        ("negate B", "14", "0", "no"),
        ("A's major", "15", "0", "K-major"),
        ("B's major", "16", "1", "N-major"),
        ("N", "17-22", "1", "8"),
        ("M", "24-28", "4", "64"),
    ]
    assert str(answer).endswith("nothing is suspicious")


def test_fields_of_a_block_scaled_kind():
    answer = decode(0xD04004A0, "mxf4nvf4", Arch.SM_103)
    fields = {name: (bits, code, meaning) for name, bits, code, meaning in field_rows(answer)}
    assert fields["scale type"] == ("23", "0", "ue4m3")
    assert fields["A's scale ID"] == ("29-30", "2", "scale factors from byte 2 of the word")
    assert fields["B's scale ID"] == ("4-5", "2", "scale factors from byte 2 of the word")
    assert fields["K"] == ("31", "1", "48 bytes, 96 elements")
    assert "D" not in fields


def test_json():
    data = decode(0x10218490, "f16").data()
    assert json.dumps(data)
    assert (data["arch"], data["kind"], data["ctas"]) == ("sm_100", "f16", 2)
    assert data["fields"] == {
        "selector": 0,
        "sparse": False,
        "saturate": False,
        "d": "f32",
        "a": "bf16",
        "b": "bf16",
        "negate_a": False,
        "negate_b": False,
        "a_mn_major": True,
        "b_mn_major": True,
        "n": 128,
        "m": 256,
    }
    assert data["suspicions"] == []


def test_in_a_notebook():
    shown = decode(0x08410010, "f16")._repr_html_()
    assert "<td>B&#x27;s major</td><td>16</td><td>1</td><td>N-major</td>" in shown


@pytest.mark.parametrize(
    "bits, kind, arch, name, text",
    [
        (
            0x03400010,
            "f16",
            Arch.SM_100,
            "instruction",
            "M is 48; kind::f16 with cta_group::1 has 64 or 128",
        ),
        (
            0x08400090,
            "f16",
            Arch.SM_100,
            "instruction",
            "kind::f16 does not multiply bf16 and f16; it takes A and B of one type of f16, bf16",
        ),
        (0x080C00A8, "i8", Arch.SM_103, "kind", "sm_103 has no kind::i8; sm_100 has"),
        (
            0xD04004A0,
            "mxf4nvf4",
            Arch.SM_100,
            "k-bytes",
            "K is 48 bytes (bit 31), which only sm_103 has",
        ),
    ],
)
def test_illegal_instructions(bits, kind, arch, name, text):
    answer = decode(bits, kind, arch)
    assert [(suspicion.name, suspicion.text) for suspicion in answer.suspicions] == [(name, text)]
    assert f"suspicious ({name}): {text}" in str(answer)


@pytest.mark.parametrize(
    "bits, kind, arch, problem",
    [
        (0x08400010, "f16", Arch.SM_90, "sm_90 has no instruction descriptors; sm_100 and sm_103"),
        (0x08400050, "f16", Arch.SM_100, "0x08400050 sets bits 0x00000040, which belong to no field"),
        (0x08400110, "f16", Arch.SM_100, "the type of A is 2; expected 0"),
        (1 << 32, "f16", Arch.SM_100, "0x100000000 is not a 32-bit value"),
    ],
)  # fmt: skip
def test_errors(bits, kind, arch, problem):
    with pytest.raises(LayoutError, match=problem):
        decode(bits, kind, arch)
