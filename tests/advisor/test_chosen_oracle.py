"""CuTe's descriptors, layouts and choices, reproduced by `smem-layout choose --json`.

`tests/layout/test_oracle.py` compares the mathematics below it; this compares the answers.
"""

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path

from each import for_each

from mlir_smem.advisor import choose_operands
from mlir_smem.layout import LayoutError, element, instruction_k, parse_layout
from mlir_smem.layout import WgmmaDescriptor as Descriptor
from mlir_smem.layout.banks import MAX_BYTES
from mlir_smem.layout.wgmma import MN_MAJOR
from mlir_smem.tools.smem_layout import smem_layout

DATA = json.loads(
    gzip.decompress(
        Path(__file__).parent.with_name("data").joinpath("cute_sm90.json.gz").read_bytes()
    )
)
ROWS = DATA["rows"]
SWIZZLES = {"INTER": "none", "SW32": "32B", "SW64": "64B", "SW128": "128B"}


@cache
def answer_for(role, dtype, mn, k, stages, major, max_swizzle=128, load="tma"):
    """Return the JSON answer for an operand of shape (m/n, k)."""
    extents = (mn, k) if role == "a" else (k, mn)
    spec = "x".join(map(str, (*((stages,) if stages > 1 else ()), *extents, dtype)))
    letter = "k" if major == "K" else {"a": "m", "b": "n"}[role]
    chosen = choose_operands(
        **{role: spec, f"load_{role}": load, f"{role}_major": letter}, max_swizzle=max_swizzle
    )
    return json.loads(json.dumps(chosen.data()))[role]


def candidate(row, role="b"):
    """Return the candidate with a row's layout among those for its tile."""
    mn_is_across = row["major"] == "K"
    order = "across" if (row["tile_order"] == "mn_first") == mn_is_across else "along"
    contiguous = row["major"] == "K" if role == "a" else row["major"] != "K"
    swizzle = SWIZZLES[row["swizzle"]]
    contiguity = "row-major" if contiguous else "column-major"
    answer = answer_for(role, row["dtype"], row["mn"], row["k"], row["stages"], row["major"])
    by_name = {layout["name"]: layout for layout in answer["candidates"]}
    name = f"swizzle {swizzle}, {contiguity}, atoms "
    # Where both orders are the same layout, only one is a candidate.
    return answer, by_name.get(name + order) or by_name[name + "across"]


def name_of(row):
    shape = "x".join(str(row[n]) for n in ("stages", "mn", "k"))
    return f"{row['dtype']}-{row['major']}-{row['swizzle']}-{shape}-{row['id']}"


every_row = for_each("row", ROWS, name_of)


@every_row
def test_the_layout(row):
    _, mine = candidate(row)
    layout = parse_layout(mine["layout"], element(row["dtype"]))
    tile = layout.stage(0).layout if row["stages"] > 1 else layout
    offsets = tile.transposed().offsets().astype("<u4")
    assert hashlib.sha256(offsets.tobytes()).hexdigest() == row["map_sha256"]


@every_row
def test_the_descriptor(row):
    _, mine = candidate(row)
    ours = Descriptor.decode(int(mine["operand"]["constant"], 16) | row["smem_addr"] >> 4)
    cutes = Descriptor.decode(int(row["desc_hex"], 16))
    for field in {"start", "lbo", "sbo", "base_offset", "swizzle"} - set(row["dont_care"]):
        assert getattr(ours, field) == getattr(cutes, field), field


@every_row
def test_the_steps(row):
    # A has instructions of 64 rows, B as wide ones as there are; CuTe's rows have others, too.
    answer, mine = candidate(row)
    if (
        mine["operand"]["pieces"] != [row["inst_mn"]]
        and row["inst_mn"] == 64
        and row["mn"] % 64 == 0
    ):
        answer, mine = candidate(row, "a")
    steps = mine["operand"]["steps"]
    assert steps[0] == row["k_step_u128"]
    if mine["operand"]["pieces"][0] == row["inst_mn"]:
        mn_steps = row["mn_step_u128"]
        assert steps == [[mn + k for k in row["k_step_u128"]] for mn in mn_steps]
    assert [i * answer["stage_bytes"] // 16 for i in range(row["stages"])] == row["stage_step_u128"]


def test_the_example_is_the_descriptor_at_its_address():
    descriptor = answer_for("a", "bf16", 128, 64, 1, "K")["descriptor"]
    constant, example = int(descriptor["constant"], 16), descriptor["example"]
    assert int(example["descriptor"], 16) == constant | example["address"] >> 4


# CuTe's selector of a layout atom.


def selected_swizzle(row, role, load="tma"):
    """Return the swizzle that is chosen for a row's tile; None if it is refused."""
    try:
        answer = answer_for(role, row["dtype"], row["mn"], row["k"], 1, row["major"], load=load)
    except LayoutError:
        return None
    return answer["swizzle"]


def differing(selector, role, load):
    """Return the rows of a selector for which the chosen swizzle differs."""
    rows = [row for row in DATA["selector"] if row["selector"] == selector]
    assert rows
    return [row for row in rows if selected_swizzle(row, role, load) != SWIZZLES[row["selected"]]]


def fits(row):
    """Return whether a tile of whole MMA tiles fits shared memory; CuTe also selects for others."""
    element_type = element(row["dtype"])
    return (
        row["k"] % instruction_k(element_type) == 0
        and element_type.bytes(row["mn"] * row["k"]) <= MAX_BYTES
    )


def test_the_choice_for_an_operand_in_shared_memory():
    readable = [row for row in differing("sm90_ss", "b", "tma") if fits(row)]
    assert {(row["major"], element(row["dtype"]) in MN_MAJOR) for row in readable} == {
        ("MN", False)
    }


def test_the_choice_for_an_a_in_registers():
    # A tile that is loaded into registers may have any majorness.
    wrong = differing("sm90_rs", "a", "ldmatrix")
    assert [row for row in wrong if fits(row) and row["mn"] % 64 == 0] == []


def test_the_command_prints_the_same(capsys):
    assert smem_layout(["choose", "--b", "64x256xbf16", "--max-swizzle", "64", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["b"] == answer_for("b", "bf16", 256, 64, 1, "MN", 64)
    assert list(printed) == ["arch", "a", "b", "mma"]
