"""The tables of docs/performance.md have the figures of the records that the page links."""

import json
import re
from pathlib import Path
from statistics import geometric_mean

import pytest

ROOT = Path(__file__).parents[2]


def rows(record):
    return json.loads((ROOT / "benchmarks" / "results" / f"{record}.json").read_text())["rows"]


@pytest.fixture(scope="module")
def page():
    """Return the cells of each table's lines, by the line's first cell."""
    text = (ROOT / "docs" / "performance.md").read_text()
    lines = re.findall(r"^\| (.*) \|$", text, flags=re.MULTILINE)
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return {line[0]: line[1:] for line in cells}


@pytest.fixture
def gemm_rows(monkeypatch):
    """Return benchmarks/gemm_rows.py, which reads and compares rows of records."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import gemm_rows

    return gemm_rows


def shape_text(shape):
    return " x ".join(map(str, shape))


def test_gemm(page, gemm_rows):
    bf16 = {
        (shape_text(row["shape"]), row["mode"]): row
        for row in rows("gemm-h200")
        if row["type"] == "bf16"
    }
    for quack in rows("gemm-quack-h200"):
        shape, expected = shape_text(quack["shape"]), []
        for mode in ("sustained", "burst"):
            row = bf16[shape, mode]
            ratios = gemm_rows.ratios([row])
            expected.append(f"{gemm_rows.fastest(row)['ours'][1]:.0f}")
            expected += [f"{ratios[family][0]:.3f}" for family in ("cuBLAS", "Triton", "Mosaic")]
        expected.insert(4, f"{gemm_rows.ratios([quack])['QuACK'][0]:.3f}")
        assert page[shape] == expected


@pytest.mark.parametrize("kind", ["e4m3", "s8", "tf32"])
def test_other_types(page, gemm_rows, kind):
    of_modes = [
        [row for row in rows("gemm-h200") if (row["type"], row["mode"]) == (kind, mode)]
        for mode in ("sustained", "burst")
    ]
    ratios = [gemm_rows.ratios(mode_rows)["cuBLAS"] for mode_rows in of_modes]
    large = [
        f"{gemm_rows.fastest(row)['ours'][1]:.0f}"
        for mode_rows in of_modes
        for row in mode_rows
        if row["shape"] == [8192] * 3
    ]
    means = [f"{geometric_mean(mode_ratios):.3f}" for mode_ratios in ratios]
    lowest = [f"{min(mode_ratios):.3f}" for mode_ratios in ratios]
    assert page[kind] == [" / ".join(cells) for cells in (large, means, lowest)]


def test_steps_of_the_gemm(page):
    names = {
        "one buffer": "results in one buffer",
        "64 columns, one buffer": "results of 64 columns in one buffer",
        "64 columns, four buffers": "results of 64 columns in 4 buffers",
    }
    steps = rows("gemm-steps-h200")
    assert [row["mode"] for row in steps] == ["sustained", "burst"] * 2
    recorded = {*steps[0]["tflops"]} - {"as it is"}
    on_page = {names.get(name, name): page[name] for name in page}
    for name in recorded:
        ratios = [f"{row['tflops'][name] / row['tflops']['as it is']:.3f}" for row in steps]
        assert on_page[name][:2] == [" / ".join(ratios[:2]), " / ".join(ratios[2:])]


def test_attention(page, gemm_rows):
    grid = {
        (row["type"], *row["shape"][3:], row["mode"]): gemm_rows.fastest(row)
        for row in rows("attention-h100")
        if row["shape"][1] == row["shape"][2]
    }
    for dim in (64, 128, 256):
        for length in (2048, 4096, 8192, 16384):
            full, causal, *burst = (
                grid[f"bf16 {mask}", length, length, dim, mode]
                for mode in ("sustained", "burst")
                for mask in ("full", "causal")
            )
            rates = [
                f"{full[family][1]:.0f} / {causal[family][1]:.0f}"
                for family in ("ours", "cuDNN", "FA3")
            ]
            ratios = [
                " / ".join(f"{row['ours'][1] / row['FA3'][1]:.2f}" for row in pair)
                for pair in ((full, causal), burst)
            ]
            assert page[f"{dim}, {length}"] == rates + ratios


@pytest.mark.parametrize(
    "line, shapes, mode, prefix",
    [
        ("18 of language models, small squares, ragged", ("models", "bf16"), "sustained", "ours"),
        ("the same, tuned for about 4 seconds each", ("models", "bf16"), "sustained", "tuned"),
        ("16 of them untuned, in bursts", ("models", "bf16"), "burst", "ours"),
        ("40 random, multiples of 8 from 8 to 16384", ("random", "bf16"), "sustained", "ours"),
        ("27 odd, rows that are no multiples of 16 bytes", ("odd", "bf16"), "sustained", "ours"),
        ("12 of e4m3", ("models", "e4m3"), "sustained", "ours"),
        ("12 of s8", ("models", "s8"), "sustained", "ours"),
    ],
)
def test_any_shape(page, line, shapes, mode, prefix):
    def fastest(row, family):
        return min(c["us"] for name, c in row["contenders"].items() if name.startswith(family))

    ratios = [
        fastest(row, "cuBLAS") / fastest(row, prefix)
        for row in rows("any-shape-h200")
        if ((row["set"], row["type"]), row["mode"]) == (shapes, mode)
    ]
    assert page[line] == [f"{geometric_mean(ratios):.3f}", f"{min(ratios):.3f}"]
