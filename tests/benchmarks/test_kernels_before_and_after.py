"""The record of `benchmarks/language_kernels.py`, and the table of the page, count today's lines."""

import inspect
import json
from pathlib import Path

from kernel_lines import kernel_lines
from language_kernels import ROWS

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "benchmarks" / "results" / "language-kernels.json").read_text())
PAGE = (ROOT / "docs" / "language_tutorial.md").read_text()


def test_the_record_and_the_page_count_the_lines():
    assert RECORD["kernels"].keys() == ROWS.keys()
    for name, row in ROWS.items():
        function = row.kernel.function
        source = Path(inspect.getsourcefile(function) or "").read_text()
        before, after = (RECORD["kernels"][name][version] for version in ("before", "after"))
        assert after["lines"] == len(kernel_lines(source, function.__name__)), name
        if before["loop"]:
            numbers = (f"{before[key]} → {after[key]}" for key in ("lines", "loop", "kernel"))
            assert f"| {' | '.join(numbers)} |" in PAGE, name
