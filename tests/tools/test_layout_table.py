"""`smem-layout table` as a function."""

import json

import pytest

from mlir_smem.layout import Arch, Major, Swizzle, element
from mlir_smem.layout.descriptor import field_of
from mlir_smem.tools.smem_layout import smem_layout


@pytest.fixture
def table(capsys):
    """Runs the command; what it prints."""

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
def test_the_mode_is_what_descriptors_hold(table, arch, count):
    found = rows(table, "--arch", arch)
    assert len(found) == count
    encoding = Arch(arch).descriptor
    for row in found:
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
    found = rows(table, "--types", "--arch", arch.value)
    for row in found:
        for major, swizzles in ((Major.K, row["k_major"]), (Major.MN, row["mn_major"])):
            legal = arch.swizzles_of(element(row["type"]), major)
            assert swizzles == [str(swizzle) for swizzle in legal]
    names = {row["type"] for row in found}
    assert ("s8" in names, "b1" in names, "e2m1" in names) == {
        Arch.SM_90: (True, True, False),
        Arch.SM_100: (True, False, True),
        Arch.SM_103: (False, False, True),
    }[arch]


def test_types_say_their_kinds(table):
    kinds = {row["type"]: row["kinds"] for row in rows(table, "--types", "--arch", "sm_100")}
    assert kinds["bf16"] == ["f16"]
    assert kinds["e2m1"] == ["mxf4", "mxf4nvf4"]
    assert kinds["e2m1_p64"] == kinds["e4m3"] == ["f8f6f4", "mxf8f6f4"]


def test_people_read_columns(table):
    code, out, err = table("--types", "--arch", "sm_100")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "tf32 32 8 128B, 64B, 32B, none 128B_ATOM_32B tf32" in lines
    assert "e2m1 4 64 128B, 64B, 32B, none - mxf4, mxf4nvf4" in lines
    assert "16 elements take 16 bytes" in out
    plain = table("--types")[1]
    assert "kinds" not in plain and "take 16 bytes" not in plain


def test_an_architecture_that_is_not_known_is_pointed_at(table):
    code, out, err = table("--arch", "sm_80")
    assert (code, out) == (1, "")
    assert err.startswith("smem-layout table: error: malformed arch: expected one of sm_90")
    assert "\n  sm_80\n  ^\n" in err
