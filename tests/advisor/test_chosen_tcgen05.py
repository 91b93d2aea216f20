"""The choice of operands' layouts for `tcgen05`: errors, choices and renderings."""

import gzip
import json
from pathlib import Path

import pytest

from mlir_smem.advisor import choose_operands
from mlir_smem.layout import LayoutError, Role, element, instruction_k
from mlir_smem.layout.arch import Arch
from mlir_smem.layout.banks import MAX_BYTES
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor

SELECTOR = json.loads(
    gzip.decompress(
        Path(__file__).parent.with_name("data").joinpath("cute_sm100.json.gz").read_bytes()
    )
)["selector"]
SWIZZLES = {
    "INTER": "none",
    "SW32": "32B",
    "SW64": "64B",
    "SW128": "128B",
    "SW128_32B": "128B_ATOM_32B",
}


# CuTe's selector of a layout atom.


def readable(row, role):
    """Return whether a row's tile is legal and fits shared memory; CuTe also selects for others."""
    element_type = element(row["dtype"])
    step = 64 if role is Role.A else 16 if element_type.bits == 8 and row["major"] == "MN" else 8
    whole = row["mn"] % step == 0 and row["k"] % instruction_k(element_type) == 0
    return whole and element_type.bytes(row["mn"] * row["k"]) <= MAX_BYTES


@pytest.mark.parametrize("role", Role, ids=str)
def test_every_choice_is_cutes(role):
    compared = 0
    for row in SELECTOR:
        if not readable(row, role):
            continue
        extents = (row["mn"], row["k"]) if role is Role.A else (row["k"], row["mn"])
        chosen = choose_operands(
            **{
                role.value: "x".join(map(str, (*extents, row["dtype"]))),
                f"{role.value}_major": "k" if row["major"] == "K" else role.extent_name.lower(),
            },
            # TMA, which fills the tile, does not change the choice.
            arch="sm_100",
        )
        assert chosen.data()[role.value]["swizzle"] == SWIZZLES[row["selected"]], row
        compared += 1
    assert compared > 250


# Errors.


@pytest.mark.parametrize(
    "options, message",
    [
        ({"a": "128x256xe2m1"}, "A: wgmma does not multiply e2m1; sm_100 and sm_103 do (--arch)"),
        (
            {"a": "128x256xb1", "arch": "sm_100"},
            "A: tcgen05 does not multiply b1; sm_90 does (--arch)",
        ),
        ({"b": "64x64xs32", "arch": "sm_100"}, "B: tcgen05 does not multiply s32"),
        (
            {"a": "128x64xs8", "arch": "sm_103"},
            "A: tcgen05 on sm_103 does not multiply s8; sm_90 and sm_100 do (--arch)",
        ),
        (
            {"a": "128x64xs8", "b": "64x64xe4m3", "arch": "sm_100"},
            "tcgen05 does not multiply s8 by e4m3; with an A of s8, B is u8 or s8",
        ),
        (
            {"a": "128x256xe2m1", "arch": "sm_100"},
            "tcgen05 does not multiply e2m1 by e2m1 without scale factors; expected scaled by ue8m0 or "
            "ue4m3 (--scaled), or e2m1_p64, which is padded",
        ),
        (
            {"a": "128x64xe4m3", "arch": "sm_100", "scale": "ue4m3"},
            "tcgen05 does not multiply e4m3 by e4m3 scaled by ue4m3; expected scaled by ue8m0",
        ),
        (
            {"a": "128x64xf16", "arch": "sm_100", "scale": "ue8m0"},
            "tcgen05 does not multiply f16 by f16 scaled by ue8m0; expected without scale factors",
        ),
        (
            {"a": "128x64xf16", "arch": "sm_100", "ctas": 3},
            "3 CTAs; tcgen05 has cta_group::1 and cta_group::2",
        ),
        (
            {"a": "128x64xf16", "ctas": 2},
            "wgmma (sm_90) has no cta_group::2; tcgen05 has (--arch sm_100 or sm_103)",
        ),
        (
            {"a": "128x64xe4m3", "scale": "ue8m0"},
            "wgmma (sm_90) has no block scaling by ue8m0; tcgen05 has (--arch sm_100 or sm_103)",
        ),
        (
            {"a": "128x64xf16", "k_bytes": 48},
            "wgmma (sm_90) has no K of 48 bytes; tcgen05 has (--arch sm_100 or sm_103)",
        ),
        (
            {"a": "128x768xe2m1", "k_bytes": 48, "arch": "sm_100", "scale": "ue8m0"},
            "sm_100 has no K of 48 bytes; sm_103 has (--arch sm_103)",
        ),
        (
            {"a": "128x64xf16", "k_bytes": 48, "arch": "sm_103"},
            "kind::f16 has no K of 48 bytes; kind::mxf4 and kind::mxf4nvf4 have, of e2m1",
        ),
        (
            {"a": "128x768xe2m1", "k_bytes": 40, "arch": "sm_103", "scale": "ue8m0"},
            "a K of 40 bytes; expected 32, or 48 of e2m1 on sm_103",
        ),
        (
            {"a": "128x192xe2m1", "k_bytes": 48, "arch": "sm_103", "scale": "ue8m0"},
            "A: K is 192; tcgen05 takes 96 elements of e2m1 at a time, of whole atoms of 256: expected a "
            "multiple of 768, for example 768",
        ),
        (
            {"a": "128x60xf16", "arch": "sm_100"},
            "A: K is 60; tcgen05 takes 16 elements of f16 at a time: expected a multiple of 16, for "
            "example 48 or 64",
        ),
        (
            {"a": "96x64xf16", "arch": "sm_100"},
            "A: M is 96; kind::f16 takes multiples of 64, for example 64 or 128",
        ),
        (
            {"a": "64x64xe4m3", "arch": "sm_100", "scale": "ue8m0", "ctas": 2},
            "A: M is 64 in each of 2 CTAs; kind::mxf8f6f4 takes multiples of 128 in each of 2 CTAs, "
            "for example 128",
        ),
        (
            {"b": "64x20xf16", "arch": "sm_100"},
            "B: N is 20; kind::f16 takes multiples of 8, for example 16 or 24",
        ),
        (
            {"b": "64x24xs8", "arch": "sm_100", "ctas": 2},
            "B: N is 24 in each of 2 CTAs; kind::i8 takes multiples of 16 in each of 2 CTAs, for "
            "example 16 or 32",
        ),
        (
            {"a": "256x64xf16", "b": "64x512xf16", "arch": "sm_100"},
            "D takes 1024 columns of tensor memory; a CTA has 512: expected smaller tiles",
        ),
        (
            {"a": "128x64xf16", "arch": "sm_100", "load_a": "tma,ldmatrix"},
            "A: ldmatrix loads into registers, but tcgen05 reads shared memory; expected tma or 16-byte",
        ),
    ],
    ids=str,
)
def test_refusals(options, message):
    with pytest.raises(LayoutError) as error:
        choose_operands(**options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "options, why",
    [
        (
            {"a": "128x32xtf32", "a_major": "m", "max_swizzle": 64},
            "tcgen05: the tile is M-major with swizzle 64B, but tcgen05 reads tf32 so with 128B_ATOM_32B",
        ),
        (
            {"a": "128x64xe2m1_p64"},
            "TMA: lines of 64 elements of e2m1_p64, but TMA pads lines of exactly 128, with swizzle 128B "
            "or 128B_ATOM_32B",
        ),
    ],
    ids=str,
)
def test_reasons_that_refuse_all_layouts(options, why):
    with pytest.raises(LayoutError) as error:
        choose_operands(**options, arch="sm_100")
    assert why in str(error.value)


# Choices.


def test_the_kind_follows_from_the_types():
    kinds = {
        ("bf16", "bf16", None): "f16",
        ("tf32", "tf32", None): "tf32",
        ("e4m3", "e2m1_p64", None): "f8f6f4",
        ("u8", "s8", None): "i8",
        ("e5m2", "e3m2_p32", "ue8m0"): "mxf8f6f4",
        ("e2m1", "e2m1", "ue8m0"): "mxf4",
        ("e2m1", "e2m1", "ue4m3"): "mxf4nvf4",
    }
    chosen_kinds = {
        (a, b, scale): choose_operands(
            f"128x256x{a}", f"256x64x{b}", arch="sm_100", scale=scale, b_major="k"
        ).data()["mma"]["kind"]
        for a, b, scale in kinds
    }
    assert chosen_kinds == kinds
    assert set(kinds.values()) == set(KINDS)


def test_b_is_row_major_where_n_major_is_legal():
    majors = {
        name: choose_operands(b=f"128x128x{name}", arch="sm_100").data()["b"]["major"]
        for name in ("bf16", "tf32", "e4m3", "e2m1_p64")
    }
    assert majors == {"bf16": "n", "tf32": "n", "e4m3": "n", "e2m1_p64": "k"}


@pytest.mark.parametrize(
    "a, b, ctas, shapes, columns",
    [
        ("128x64xbf16", "64x256xbf16", 1, {(128, 256): 4}, 256),
        ("64x64xbf16", "64x24xbf16", 1, {(64, 24): 4}, 24),
        ("192x64xbf16", "64x64xbf16", 1, {(64, 64): 12}, 192),
        ("128x64xbf16", "64x288xbf16", 1, {(128, 256): 4, (128, 32): 4}, 288),
        ("128x64xbf16", "64x128xbf16", 2, {(256, 256): 4}, 256),
        # With 64 rows per CTA of a pair, each CTA has half of the columns.
        ("64x64xbf16", "64x128xbf16", 2, {(128, 256): 4}, 128),
    ],
)
def test_instructions_and_columns(a, b, ctas, shapes, columns):
    mma = choose_operands(a, b, arch="sm_100", ctas=ctas).data()["mma"]
    assert {(i["m"], i["n"]): i["count"] for i in mma["instructions"]} == shapes
    assert mma["columns"] == columns
    assert mma["allocated_columns"] in (32, 64, 128, 256, 512)
    assert columns <= mma["allocated_columns"] < max(2 * columns, 33)


def test_instruction_descriptors_have_the_operand_types():
    mma = choose_operands(
        "128x64xe5m2", "64x64xe4m3", arch="sm_100", ctas=2, scale="ue8m0", a_major="m"
    ).data()["mma"]
    (instruction,) = mma["instructions"]
    descriptor = InstructionDescriptor.decode(int(instruction["descriptor"], 16), KINDS["mxf8f6f4"])
    assert (str(descriptor.a), str(descriptor.b)) == ("e5m2", "e4m3")
    assert (descriptor.m, descriptor.n) == (256, 128)
    assert (descriptor.a_mn_major, descriptor.b_mn_major, descriptor.scale) == (True, True, "ue8m0")
    assert instruction["instruction"] == (
        "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.block32"
    )


def test_a_known_instruction_descriptor():
    # 128x256, f16 by f16 in f32, as NVIDIA's headers encode it.
    mma = choose_operands("128x64xf16", "64x256xf16", arch="sm_100", b_major="k").mma
    assert mma.descriptor(128, 256).encode() == 0x08400010


def test_bf16_has_no_f16_accumulator():
    types = {
        name: choose_operands(f"128x64x{name}", f"64x64x{name}", arch="sm_100").data()["mma"]
        for name in ("f16", "bf16")
    }
    assert {name: mma["accumulators"] for name, mma in types.items()} == {
        "f16": ["f32", "f16"],
        "bf16": ["f32"],
    }


def test_rows_in_two_chunks():
    # The example that CUTLASS and Triton agree about: 128 rows at 0x800.
    a = choose_operands("128x768xe2m1", arch="sm_103a", scale="ue4m3", k_bytes=48).a
    blocks = a.each_mma_tile
    assert [i for i, block in enumerate(blocks) if block.second is not None] == [2, 5]
    there = [a.descriptor_of(block, 0x800).encode() for block in blocks]
    assert (there[2], there[5]) == (0x4010404004800086, 0x4010404008800487)
    values = a.data()["descriptor"]["mma_tiles"]
    assert [block.get("second") for block in values] == [
        None if block.second is None else block.second for block in blocks
    ]
    assert values[2]["example"] == f"{a.descriptor_of(blocks[2], a.address).encode():#018x}"


def test_an_instruction_descriptor_has_its_k():
    mma = choose_operands(
        "128x768xe2m1", "768x128xe2m1", arch="sm_103", scale="ue4m3", k_bytes=48, ctas=2
    ).mma
    assert mma.descriptor(256, 256).encode() == 0x90400480
    values = mma.data()["instructions"][0]
    assert (values["fields"]["k_bytes"], values["fields"]["scale"]) == (48, "ue4m3")
    assert values | {"descriptor": "", "fields": {}} == {
        "instruction": "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16",
        "m": 256,
        "n": 256,
        "k": 96,
        "count": 8,
        "descriptor": "",
        "fields": {},
    }


# Renderings.


@pytest.mark.parametrize("arch", [Arch.SM_100, Arch.SM_103])
def test_fields_add_up_to_the_constant(arch):
    for operand in choose_operands("128x64xtf32", "64x128xtf32", arch=arch).each:
        bits = sum(field.encoded << field.bit for field in operand.fields)
        assert bits == operand.descriptor().encode()


def test_json_keys_are_stable():
    data = json.loads(json.dumps(choose_operands("128x64xf16", "64x64xf16", arch="sm_100").data()))
    assert data["arch"] == "sm_100"
    names = [field["name"] for field in data["a"]["descriptor"]["fields"]]
    assert names == [
        *("start address", "LBO", "SBO", "version", "base offset", "LBO mode", "swizzle"),
    ]
    assert list(data["mma"]) == [
        *("m", "n", "k", "kind", "ctas", "scale", "block", "accumulators", "instructions"),
        *("scale_factors", "columns", "allocated_columns", "commit_mask"),
    ]


def test_padded_types_are_explained():
    chosen = choose_operands("128x128xe3m2_p32", arch="sm_100")
    assert (
        "16 elements of 6 bits take 16 bytes, of which the last 4 are padding; an element counts "
        "as a byte"
    ) in str(chosen)
    assert chosen.data()["a"]["tma"]["data_type"] == "CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B"


def test_the_ninth_form_is_not_the_isas():
    text = str(choose_operands("128x64xtf32", a_major="m", arch="sm_100"))
    assert "CuTe's ((T,8,m),(4,k)):((1,T,LBO),(8T,SBO))" in text
    assert "to the next 4 of k" in text


def test_a_cta_pair_commits_to_both_ctas():
    chosen = choose_operands("128x64xbf16", "64x64xbf16", arch="sm_100", ctas=2)
    assert chosen.data()["mma"]["commit_mask"] == "0x0003"
    assert [chosen.mma.commit_mask(rank) for rank in range(4)] == [3, 3, 12, 12]
    assert "multicast::cluster.b64, mask 0x0003 << its rank\n" in str(chosen)
    one = choose_operands("128x64xbf16", "64x64xbf16", arch="sm_100")
    assert one.data()["mma"]["commit_mask"] is None
    assert "commit" not in str(one)


def test_a_notebook_shows_it():
    chosen = choose_operands("128x128xe4m3", "128x128xe4m3", arch="sm_100", scale="ue8m0", ctas=2)
    assert "D = A * B: 256x256 f32, CTA pair" in chosen._repr_html_()
