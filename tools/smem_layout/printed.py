"""How answers are printed."""

import json
from collections.abc import Sequence
from typing import Any


def printed_json(answer: Any) -> int:
    """Prints an answer as JSON; the exit code."""
    print(json.dumps(answer, indent=2))
    return 0


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a head, its columns aligned by spaces."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
