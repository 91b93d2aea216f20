"""Rows of the GEMM record: the fastest of a family, ratios, tables and merging."""

import json

import gemm_rows
import pytest
from gemm_rows import (
    earlier_rows,
    fastest,
    make_row,
    merge_rows,
    over_best,
    ratios,
    render_rows,
    write,
)
from interleaved import Times


def row(shape=(4096, 4096, 4096), mode="burst", element="bf16", **rates):
    contenders = {name.replace("_", " "): {"tflops": rate} for name, rate in rates.items()}
    return {"type": element, "shape": list(shape), "mode": mode, "contenders": contenders}


def test_a_row_has_medians():
    times = {"ours TN": Times(gpu=[1e-6, 2e-6, 3e-6]), "cuBLAS TN": Times(gpu=[4e-6] * 3)}
    errors = {"ours TN": 0.25, "cuBLAS TN": "wrong"}
    measured = make_row("bf16", (64, 32, 16), "burst", 8_000_000, times, errors, {"W": 700})
    assert measured == {
        "type": "bf16",
        "shape": [64, 32, 16],
        "mode": "burst",
        "rounds": 3,
        "contenders": {
            "ours TN": {"tflops": 4.0, "us": 2.0, "spread": 1.0, "error": 0.25},
            "cuBLAS TN": {"tflops": 2.0, "us": 4.0, "spread": 0.0, "error": "wrong"},
        },
        "chip": {"W": 700},
    }


def test_the_fastest_contender_represents_its_family():
    by_family = fastest(row(ours_TN=700, ours_NN=710, cuBLAS_TN=690, cuBLAS_NT=650))
    assert by_family == {"ours": ("ours NN", 710), "cuBLAS": ("cuBLAS TN", 690)}


def test_ratios_compare_contenders_of_one_row():
    rows = [
        row(ours_TN=600, cuBLAS_TN=500, Triton_TN_a=400),
        row(ours_TN=600, cuBLAS_TN=1200),
        row(cuBLAS_TN=100),
    ]
    assert ratios(rows) == {"cuBLAS": [1.2, 0.5], "Triton": [1.5]}


def test_the_best_peer_counts():
    assert over_best(row(ours_a=500, ours_b=600, FA3=800, cuDNN=750)) == 0.75
    assert over_best(row(ours=500)) is None
    assert over_best(row(FA3=500)) is None


def test_the_table_ends_with_the_mean_and_the_lowest_ratio():
    rows = [
        row((2048, 2048, 2048), ours_TN=200, cuBLAS_NT=100, Mosaic_NN=100),
        row(ours_NN=100, cuBLAS_TN=200),
    ]
    assert render_rows(rows, markdown=False).splitlines() == [
        "bf16, burst           ours  cuBLAS  Mosaic  ours / cuBLAS  ours / Mosaic",
        "2048 x 2048 x 2048  200 TN  100 NT  100 NN          2.000          2.000",
        "4096 x 4096 x 4096  100 NN  200 TN       -          0.500              -",
        "geometric mean                                      1.000          2.000",
        "lowest                                              0.500          2.000",
    ]


def test_each_type_and_mode_has_a_table():
    rows = [
        row(mode="burst", ours_TN=1),
        row(mode="sustained", ours_TN=1),
        row(element="s8", ours_TN=1),
    ]
    tables = render_rows(rows, markdown=True).split("\n\n")
    assert [table[:20].split("|")[1].strip() for table in tables] == [
        "bf16, burst",
        "bf16, sustained",
        "s8, burst",
    ]


def test_new_measurements_replace_old_ones():
    old = [row(ours_TN=1), row(mode="sustained", ours_TN=2)]
    new = [row(ours_TN=3), row(element="s8", ours_TN=4)]
    assert merge_rows(old, new) == [new[0], old[1], new[1]]


@pytest.fixture
def machine(monkeypatch):
    """What a record contains about its machine and its command."""
    facts = {
        "date": "2026-11-21",
        "device": "A",
        "versions": {"torch": "2"},
        "command": "python x.py",
    }
    monkeypatch.setattr(gemm_rows, "circumstances", lambda: dict(facts))
    return facts


def test_rows_are_added_to_a_record(tmp_path, machine):
    file = tmp_path / "gemm.json"
    write(file, [row(ours_TN=1)])
    machine["command"] = "python y.py"
    write(file, [row(mode="sustained", ours_TN=2)])
    record = json.loads(file.read_text())
    assert [stored["command"] for stored in record["rows"]] == ["python x.py", "python y.py"]
    assert (record["device"], record["command"]) == ("A", "python y.py")


def test_a_record_of_another_machine_is_not_changed(tmp_path, machine):
    file = tmp_path / "gemm.json"
    write(file, [row(ours_TN=1)])
    machine["device"] = "B"
    with pytest.raises(ValueError, match=r"gemm.json is of device A, not B: record to a new file"):
        write(file, [row(ours_TN=2)])
    assert json.loads(file.read_text())["rows"][0]["contenders"]["ours TN"]["tflops"] == 1


def test_a_missing_record_has_no_rows(tmp_path):
    assert earlier_rows(tmp_path / "none.json") == []
