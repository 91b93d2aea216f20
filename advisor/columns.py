"""Tables as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a head, its columns aligned by spaces."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def named(lines: Sequence[tuple[str, str]]) -> str:
    """A line for each name and its text, the texts below each other."""
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:{width}}  {text}" for name, text in lines)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same as HTML; cells are text, not markup."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + row(heads, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"
