"""Launches are read from ncu's output, grouped by contender, and printed as a table."""

import sys

import ncu
import pytest
from counter_rows import contender_names, group_launches, render
from ncu import Launch, available_metrics, launches, pages, profile
from tables import table

COUNTED = """==PROF== Connected
contender\t64x64x64\tours TN
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","spin_kernel(long)","gpu__time_duration.sum","ns","1,000"
"1","gemm","gpu__time_duration.sum","ns","12,345"
"1","gemm","lts__t_bytes.sum","byte","2000000"
"1","gemm","dram__bytes_read.sum","byte","n/a"
"""


def test_launches_have_only_metrics_with_numbers():
    counted = launches(COUNTED)
    assert counted[1] == Launch(
        "gemm", {"gpu__time_duration.sum": 12345.0, "lts__t_bytes.sum": 2000000.0}
    )
    assert [launch.kernel for launch in counted] == ["spin_kernel(long)", "gemm"]


def test_names_of_contenders_are_read_from_the_output():
    assert contender_names(COUNTED) == [("64x64x64", "ours TN")]


def test_marks_separate_contenders():
    kernels = ["spin_kernel(long)", "a", "b", "void spin_kernel()", "c"]
    assert group_launches([(name, name) for name in kernels]) == [["a", "b"], ["c"]]


def test_a_launch_before_the_first_mark_is_refused():
    with pytest.raises(ValueError, match="gemm ran before the first spin_kernel"):
        group_launches([("gemm", 1)])


def test_the_table_shows_the_longest_launch():
    short = Launch("reduce", {"gpu__time_duration.sum": 1000.0, "lts__t_bytes.sum": 5e6})
    long = Launch("gemm", {"gpu__time_duration.sum": 25_000.0, "lts__t_bytes.sum": 2_345e6})
    alone = Launch("other", {"gpu__time_duration.sum": 30_000.0})
    assert render({"a": [short, long], "b": [alone]}, markdown=False).splitlines() == [
        "              a   b",
        "launches      2   1",
        "us           25  30",
        "L2, MB    2,345   -",
    ]


def test_output_is_split_into_a_page_for_each_kernel():
    text = 'x\n"Kernel Name","f(int, int)",\n"Address","Source"\n"Kernel Name","g"\n"Address"\n'
    assert pages(text) == [
        ("f(int, int)", '"Kernel Name","f(int, int)",\n"Address","Source"\n'),
        ("g", '"Kernel Name","g"\n"Address"\n'),
    ]


def test_metrics_that_ncu_lacks_are_left_out(monkeypatch):
    monkeypatch.setattr(ncu, "_run", lambda _: "Device H200\n  x\nlts__t_bytes   Counter  bytes\n")
    assert available_metrics(["lts__t_bytes.sum", "lts__none.sum"]) == ["lts__t_bytes.sum"]
    with pytest.raises(RuntimeError, match=r"none is lts__none\.sum"):
        available_metrics(["lts__none.sum"])


def test_an_error_of_ncu_contains_its_output(monkeypatch):
    monkeypatch.setattr(ncu, "_NCU", (sys.executable, "-c", "print('no permission'); exit(3)"))
    with pytest.raises(RuntimeError, match="exited with 3: no permission"):
        profile(["true"], ["lts__t_bytes.sum"])


def test_markdown_tables_have_a_separator():
    assert table(["", "a"], [["x", "1"]], markdown=True) == "|  | a |\n|---|---:|\n| x | 1 |"


def test_a_line_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"2 columns \['', 'a'\], but a line has \['x'\]"):
        table(["", "a"], [["x"]], markdown=False)
