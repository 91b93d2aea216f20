"""`encode` and `match` give CuTe's descriptors for sm_100."""

from oracle_sm100 import ROWS, SWIZZLES, tile_of

from mlir_smem.advisor import Operand, decode, encode_operand, match_tile, operand_of
from mlir_smem.layout import Arch, Major, Role, element
from mlir_smem.layout.tcgen05 import Tcgen05Descriptor


def tile_as_b(row):
    """Return a row's tile as B, (k, n), with stages as the first extent if it has several."""
    tile = tile_of(row)
    return (tile if row["stages"] > 1 else tile.stage(0).layout).transposed()


def check(data, row):
    """Assert that `encode` gives CuTe's descriptors, except for unused fields."""
    fields, operand = data["fields"], data["operand"]
    cutes = Tcgen05Descriptor.decode(int(row["desc_hex"], 16))
    for name in {"start", "lbo", "sbo", "base_offset", "absolute"} - set(row["dont_care"]):
        assert fields[name] == getattr(cutes, name), (row, name)
    assert data["arch"] == "sm_100"
    assert fields["swizzle"] == str(cutes.swizzle)
    assert operand["major"] == row["major"].lower()
    assert {name for name in ("lbo", "sbo") if operand[name] is None} == set(row["dont_care"])
    steps = tuple(operand[name] for name in ("k_steps", "mn_steps", "stage_steps"))
    assert steps == tuple(row[f"{name}_step_u128"] for name in ("k", "mn", "stage"))
    first = int(data["descriptor"], 16)
    assert data["descriptors"] == [
        [f"{first + mn + k:#018x}" for k in row["k_step_u128"]] for mn in row["mn_step_u128"]
    ]


def test_encode_gives_cutes_descriptors():
    for row in ROWS:
        operand = operand_of(tile_as_b(row), Role.B, row["inst_mn"], Arch.SM_100)
        assert isinstance(operand, Operand), (row, operand)
        check(encode_operand(operand, row["smem_addr"]).data(), row)


def test_match_gives_cutes_descriptors():
    # `match` gives the same values, and the places of all elements.
    for row in ROWS[::7]:
        data = match_tile(tile_as_b(row), Role.B, row["inst_mn"], Arch.SM_100).data()
        assert data["matches"]
        encoded = data["encoded"]
        encoded["fields"]["start"] = row["smem_addr"]
        check(encoded, row)


def test_cutes_descriptors_raise_only_true_suspicions():
    for row in ROWS[::3]:
        major, element_type = Major[row["major"]], element(row["dtype"])
        answer = decode(
            int(row["desc_hex"], 16), element_type, major, row["inst_mn"], arch=Arch.SM_100
        )
        wide = SWIZZLES[row["swizzle"]].atom_elements(element_type) > row["inst_mn"]
        swizzled = row["swizzle"] != "INTER"
        expected = ["swizzle-wide"] if major is Major.MN and swizzled and wide else []
        assert [suspicion.name for suspicion in answer.suspicions] == expected, row
