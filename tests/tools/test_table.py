"""`smem-layout table` as a function."""

import json

import pytest

from mlir_smem.advisor.rendering.kind_rows import runs
from mlir_smem.layout import Arch, LayoutError, Major, Swizzle, element, parse_layout
from mlir_smem.layout.descriptor import field_of
from mlir_smem.layout.tcgen05 import (
    KINDS,
    MmaShape,
    MmaShapeError,
    Tcgen05Descriptor,
    check_scale_id,
    check_shape,
    scale_step,
)
from mlir_smem.tools.smem_layout import smem_layout


@pytest.fixture
def table(capsys):
    """Run the command; return (exit code, standard output, standard error)."""

    def call(*arguments):
        code = smem_layout(["table", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def rows(table, *arguments):
    code, out, err = table(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize("arch, count", [("sm_90", 8), ("sm_100", 9), ("sm_103", 9)])
def test_the_mode_is_that_of_descriptors(table, arch, count):
    entries = rows(table, "--arch", arch)
    assert len(entries) == count
    encoding = Arch.parse(arch).descriptor
    for row in entries:
        swizzle = next(s for s in Swizzle if str(s) == row["swizzle"])
        bits = encoding(0, 16, 1024, swizzle=swizzle).encode()
        assert field_of(bits, encoding.mode) == row["descriptor_mode"]
        assert row["tensor_map"] == swizzle.tensor_map


def test_the_ninth_form(table):
    assert rows(table, "--arch", "sm_100")[8] == {
        "major": "mn",
        "swizzle": "128B_ATOM_32B",
        "layout": "Swizzle<2,5,2> o ((T,8,m),(4,k)):((1,T,LBO),(8T,SBO))",
        "lbo": "to the next 128 bytes of m/n",
        "sbo": "to the next 4 of k",
        "descriptor_mode": 1,
        "atom": [4, 128],
        "alignment": 1024,
        "tensor_map": "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B",
    }


@pytest.mark.parametrize("arch", Arch, ids=str)
def test_types_are_those_that_are_read(table, arch):
    entries = rows(table, "--types", "--arch", arch.name)
    for row in entries:
        for major, swizzles in ((Major.K, row["k_major"]), (Major.MN, row["mn_major"])):
            legal = arch.swizzles_of(element(row["type"]), major)
            assert swizzles == [str(swizzle) for swizzle in legal]
    names = {row["type"] for row in entries}
    assert ("s8" in names, "b1" in names, "e2m1" in names) == {
        Arch.SM_90: (True, True, False),
        Arch.SM_100: (True, False, True),
        Arch.SM_103: (False, False, True),
    }[arch]


def test_types_have_their_kinds(table):
    kinds = {row["type"]: row["kinds"] for row in rows(table, "--types", "--arch", "sm_100")}
    assert kinds["bf16"] == ["f16"]
    assert kinds["e2m1"] == ["mxf4", "mxf4nvf4"]
    assert kinds["e2m1_p64"] == kinds["e4m3"] == ["f8f6f4", "mxf8f6f4"]


def test_columns_of_types(table):
    code, out, err = table("--types", "--arch", "sm_100")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "tf32 32 8 128B, 64B, 32B, none 128B_ATOM_32B tf32" in lines
    assert "e2m1 4 64 128B, 64B, 32B, none - mxf4, mxf4nvf4" in lines
    assert "take 16 bytes" in out
    plain = table("--types")[1]
    assert "kinds" not in plain and "take 16 bytes" not in plain


def test_an_unknown_architecture_has_a_caret(table):
    code, out, err = table("--arch", "sm_80")
    assert (code, out) == (1, "")
    assert err.startswith("smem-layout table: error: malformed arch: expected one of sm_90")
    assert "\n  sm_80\n  ^\n" in err


@pytest.mark.parametrize("arch", [Arch.SM_100, Arch.SM_103], ids=str)
def test_kinds_have_the_shapes_that_are_legal(table, arch):
    entries = rows(table, "--kinds", "--arch", arch.name)
    assert [row["kind"] for row in entries] == [str(kind) for kind in arch.kinds]
    for row in entries:
        kind = KINDS[row["kind"]]
        first = element(row["types"][0])
        assert (
            row["k"] == [32 * 8 // first.bits, 96][: 1 + (first.bits == 4) * len(arch.k_bytes[1:])]
        )
        for shapes in row["shapes"]:
            legal = set()
            for m in (32, 64, 96, 128, 192, 256):
                for n in range(4, 264, 4):
                    try:
                        check_shape(kind, MmaShape(m, n, shapes["ctas"]), first)
                    except MmaShapeError:
                        continue
                    legal.add((m, n))
            assert legal == {(m, n) for m in shapes["m"] for n in shapes["n"]}


def test_columns_of_kinds(table):
    code, out, err = table("--kinds")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "i8 u8, s8 s32 32 64, 128 8, 16, 24, 32-256 by 16 128, 256 32-256 by 32" in lines
    assert lines[2].startswith("f16 f16, bf16 (the same) f32, f16 16 64, 128 8-256 by 8")
    assert "or K is 96" not in out
    more = table("--kinds", "--arch", "sm_103")[1]
    assert "i8" not in more and "64, 96  128" in more and "or K is 96" in more


@pytest.mark.parametrize(
    "numbers, text",
    [
        ((8, 16, 24, 32), "8-32 by 8"),
        ((8, 16, 24, 32, 48, 64), "8, 16, 24, 32-64 by 16"),
        ((64, 128), "64, 128"),
        ((256,), "256"),
    ],
)
def test_runs_of_numbers(numbers, text):
    assert runs(numbers) == text


@pytest.mark.parametrize("arch", ["sm_100", "sm_103"])
def test_scale_factors_of_each_kind(table, arch):
    scales = rows(table, "--scales", "--arch", arch)
    assert {row["k"] for row in scales["kinds"]} == ({32, 64, 96} if arch == "sm_103" else {32, 64})
    for row in scales["kinds"]:
        assert (row["scale"], row["block"]) in KINDS[row["kind"]].scales
        assert row["factors"] * row["block"] == row["k"]
        assert {scale_step(step, row["factors"])[1] for step in range(16)} == set(row["ids"])
        for id_ in set(range(4)) - set(row["ids"]):
            with pytest.raises(LayoutError):
                check_scale_id(id_, row["factors"])
        assert (row["vector"] is None) == (row["k"] == 96)


def test_a_block_of_scale_factors(table):
    block = rows(table, "--scales")["block"]
    layout = parse_layout(block["layout"], element("ue8m0"))
    assert (list(layout.shape), layout.size_bytes) == (block["shape"], block["bytes"])
    d = Tcgen05Descriptor.decode(int(block["descriptor"], 0))
    assert (d.sbo, d.swizzle, block["columns"]) == (128, Swizzle.NONE, 4)
    out = table("--scales")[1]
    assert "mxf4nvf4  ue8m0       16          64  4                scale_vec::4X  0\n" in out
    assert "Swizzle<0,4,3> o ((32,4),4):((16,4),1), 512 bytes." in out


@pytest.mark.parametrize("which", ["--kinds", "--scales"])
def test_wgmma_has_no_kinds(error_of, which):
    message = "sm_90 has no kinds of instructions; sm_100 and sm_103 have"
    assert error_of("table", which, "--arch", "sm_90") == message


def test_one_table_at_a_time(error_of):
    assert "not allowed with" in error_of("table", "--kinds", "--types")
