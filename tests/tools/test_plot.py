"""`smem-layout plot` as a function."""

import json
import re

import pytest
from drawn import check_positions, read

from mlir_smem.advisor.pictures import Picture, View
from mlir_smem.layout import Swizzle, element, parse_layout, tile_of_atoms
from mlir_smem.tools.smem_layout import smem_layout

LAYOUT = "Swizzle<3,4,3> o ((8,8),64):((64,512),1)"


@pytest.fixture
def plot(run_command, monkeypatch, tmp_path):
    """Run the command in an empty folder; return (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run_command(smem_layout, "plot", *arguments)


@pytest.mark.parametrize("view", View)
def test_a_layout_becomes_svg(plot, tmp_path, view):
    options = ("--element", "bf16", "--view", view.value, "-o", "x.svg")
    assert plot(LAYOUT, *options) == (0, "", "")
    picture = Picture(parse_layout(LAYOUT, element("bf16")), view)
    (cells,) = read((tmp_path / "x.svg").read_text())
    assert check_positions(cells, picture) == 64 * 8


def test_a_layout_becomes_png(plot, tmp_path):
    pytest.importorskip("PIL")
    assert plot(LAYOUT, "--element", "bf16", "-o", "x.png") == (0, "", "")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("contiguous, dim", [("rows", 0), ("columns", 1)])
@pytest.mark.parametrize("width", [0, 32, 64, 128])
def test_a_tile_and_its_swizzle(plot, width, contiguous, dim):
    options = ("--swizzle", str(width), "--contiguous", contiguous, "-o", "-")
    code, out, _ = plot("--tile", "64x64xbf16", *options)
    assert code == 0
    layout = tile_of_atoms(element("bf16"), (64, 64), dim, Swizzle.of_width(width))
    assert check_positions(read(out)[0], Picture(layout)) == 512


def test_comparison_and_access(plot):
    options = ("--access", "ldmatrix", "--at", "16,32", "--compare", "-o", "-")
    code, out, _ = plot(LAYOUT, "--element", "bf16", *options)
    left, right = read(out)
    assert code == 0
    assert [sum(c.lane is not None for c in cells) for cells in (left, right)] == [32, 32]
    title = " ".join(re.findall(r"<text[^>]*bold[^>]*>([^<]*)</text>", out))
    assert "28 bank conflicts" in title and "no bank conflicts" in title


def test_both_views_side_by_side(plot):
    code, out, _ = plot(LAYOUT, "--element", "bf16", "--view", "both", "-o", "-")
    layout = parse_layout(LAYOUT, element("bf16"))
    logical, memory = read(out)
    assert code == 0
    assert check_positions(logical, Picture(layout, View.LOGICAL)) == 512
    assert check_positions(memory, Picture(layout, View.MEMORY)) == 512


def test_the_other_options_reach_the_picture(plot):
    options = ["--start", "0x480", "--base-offset", "1", "--lines", "5", "--color", "bank"]
    more = ["--outline", "box", "--elements", "--operand", "b", "--json", "--view", "logical"]
    code, out, _ = plot("--tile", "8x64xbf16", *options, *more)
    (picture,) = json.loads(out)
    assert code == 0
    assert picture["notes"] == [
        "a cell is 1x1 element, 2 bytes, labelled with its byte address; thick lines: boxes of 8x64",
        "the tile starts at 0x480, base offset 1",
        "only rows 0 to 4 of 8 shown",
    ]
    assert picture["strides"] == {}
    assert picture["cells"][0]["byte"] == 0x480


def test_lbo_and_sbo_depend_on_the_architecture(plot):
    text = "Swizzle<2,5,2> o ((32,2),(4,2)):((1,256),(32,128))"
    arguments = (text, "--element", "tf32", "--operand", "a", "--json")
    code, out, _ = plot(*arguments, "--arch", "sm_100")
    (picture,) = json.loads(out)
    assert code == 0
    assert picture["strides"]["SBO"] == {"bytes": 512, "to": [0, 4]}
    code, _, err = plot(*arguments)
    assert (code, "sm_90 has no swizzle 128B_ATOM_32B" in err) == (1, True)


def test_narrow_types_are_drawn(plot):
    code, out, _ = plot("(8,128):(128,1)", "--element", "e2m1_p64", "--json")
    (picture,) = json.loads(out)
    assert (code, picture["element"]) == (0, "e2m1_p64")


def test_d_in_tensor_memory(plot):
    code, out, _ = plot("--accumulator", "128x64", "--ctas", "2", "--json")
    (picture,) = json.loads(out)
    assert (code, picture["layout"], picture["columns"]) == (0, "B", 32)
    assert picture["bands"][1] == {"cta": 0, "lanes": [64, 79], "m": [0, 15], "n": [32, 63]}
    code, out, _ = plot("--accumulator", "64x8", "-o", "-")
    assert code == 0 and "m 48 to 63, n 0 to 7" in out


def test_48_bytes_of_k_and_scale_factors(plot):
    text = "Swizzle<3,4,3> o (8,(256,3)):(256,(1,2048))"
    arguments = (text, "--element", "e2m1", "--arch", "sm_103", "--k-bytes", "48")
    code, out, _ = plot(*arguments, "--color", "instruction", "-o", "-")
    assert code == 0 and "K block mod 8" in out
    code, out, _ = plot(*arguments, "--access", "mma", "--at", "0,192", "--json")
    (picture,) = json.loads(out)
    assert sum("touched_by" in cell for cell in picture["cells"]) == 8 * 3
    code, out, _ = plot("((32,4),4):((16,4),1)", "--element", "ue8m0", "--json")
    (picture,) = json.loads(out)
    assert (code, picture["cell"]) == (0, {"rows": 1, "columns": 4, "bytes": 4})


def test_json_has_the_cells_of_each_picture(plot):
    code, out, _ = plot(LAYOUT, "--element", "bf16", "--json", "--compare", "--operand", "a")
    plain, swizzled = json.loads(out)
    assert code == 0
    offsets = parse_layout(LAYOUT, element("bf16")).offsets()
    assert all(offsets[c["row"], c["column"]] == c["byte"] for c in swizzled["cells"])
    assert len(plain["cells"]) == len(swizzled["cells"]) == 512
    assert swizzled["strides"] == {"SBO": {"bytes": 1024, "to": [8, 0]}}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-o", "x.svg"], "expected either a layout, for example '(64,64):(64,1)'"),
        ([LAYOUT, "--tile", "8x8xbf16", "-o", "x.svg"], "expected either a layout"),
        ([LAYOUT, "-o", "x.svg"], "a layout needs its element type, for example --element bf16"),
        (["--tile", "8x8xbf16", "--element", "bf16", "-o", "x.svg"], "--tile names its own"),
        (
            ["--accumulator", "8", "--json"],
            "malformed --accumulator: expected rows and columns of D",
        ),
        (
            ["--accumulator", "96x8", "--json"],
            "D of 96x8, cta_group::1 has 96 rows; expected one of",
        ),
        ([LAYOUT, "--accumulator", "64x8", "--json"], "--accumulator cannot be combined with"),
        (["--tile", "8x8xbf16", "--ctas", "2", "--json"], "--ctas is for --accumulator"),
        (
            ["--tile", "64x64xbf16", "--k-bytes", "48", "--access", "mma", "--json"],
            "K is 48 bytes, but sm_90 reads 32 of each row",
        ),
        (["--tile", "8x8xbf16"], "no output; expected -o FILE.svg"),
        (["--tile", "8x8xbf16", "-o", "-", "--json"], "-o - and --json both write to standard"),
        (["--tile", "8x8xbf16", "-o", "x.gif"], "'x.gif' is neither .svg nor .png; for example"),
        (["--tile", "8x8xbf16", "-o", "no/x.svg"], "no/x.svg: No such file or directory"),
        (["--tile", "8x8xbf16", "--swizzle", "0", "--compare", "-o", "-"], "has no swizzle"),
        (["--tile", "8x8xbf16", "--access", "core", "--at", "1,0", "-o", "-"], "reaches (8, 7)"),
        (
            ["(136,8):(1,1)", "--element", "f16", "--access", "store", "-o", "-"],
            "a warp's 16-byte store reaches the address 0x2; expected multiples of 16",
        ),
        (["--tile", "8x8xbf16", "--view", "bank", "-o", "-"], "invalid choice: 'bank'"),
        (["(8,8):(8", "--element", "bf16", "-o", "-"], "malformed layout"),
    ],
)
def test_bad_input_is_one_message(plot, arguments, message):
    code, out, err = plot(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("smem-layout plot: error: ") and message in err


@pytest.mark.parametrize(
    "arguments, lines",
    [
        (
            ["--tile", "64x64xbf15"],
            [
                "malformed tile: expected an element type, one of",
                "64x64xbf15",
                "      ^",
                "128x64xbf16",
            ],
        ),
        (
            [LAYOUT, "--element", "b16"],
            ["malformed element type: expected one of f16", "b16", "^", "bf16"],
        ),
        (
            ["--tile", "8x64xbf16", "--at", "0;8"],
            ["malformed place: expected a row and a column", "0;8", " ^", "0,16"],
        ),
        (
            ["--tile", "8x64xbf16", "--at", "0,"],
            ["malformed place: expected a row and a column", "0,", "  ^", "0,16"],
        ),
        (
            ["--tile", "8x64xbf16", "--start", "0x4g0"],
            ["malformed address: unexpected 'g'", "0x4g0", "   ^", "0x400"],
        ),
        (
            ["--tile", "8x64xbf16", "--start", "18446744073709551616"],
            ["malformed address: it does not fit 64 bits", "18446744073709551616", "^", "0x400"],
        ),
        (
            ["--tile", "8x64xbf16", "--at", "9223372036854775808,0"],
            ["malformed place: it does not fit 63 bits", "9223372036854775808,0", "^", "0,16"],
        ),
        (
            ["--accumulator", "9223372036854775808x8"],
            [
                "malformed --accumulator: expected rows and columns of D",
                "9223372036854775808x8",
                "^",
                "128x256",
            ],
        ),
    ],
)
def test_malformed_text_has_a_caret(plot, arguments, lines):
    code, _, err = plot(*arguments, "-o", "-")
    problem, text, caret, example = err.rstrip("\n").split("\n")
    assert code == 1
    assert lines[0] in problem
    assert (text, caret) == ("  " + lines[1], "  " + lines[2])
    assert example == f"  for example {lines[3]}"
