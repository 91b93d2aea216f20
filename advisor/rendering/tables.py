"""Tables and lists, as text and as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with a head, its columns aligned by spaces."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def text_table_of(keys: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of rows of data.

    Args:
        keys: for the head of each column, the key of its values in a row.
        rows: the data.
    """
    return text_table(list(keys), [[cell(row[key]) for key in keys.values()] for row in rows])


def cell(value: Any) -> str:
    """Return a table cell: the items of a list; a dash for None or an empty list."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)


def aligned_lines(lines: Sequence[tuple[str, str]]) -> str:
    """Return a line for each name and its text, with the texts aligned."""
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:{width}}  {text}" for name, text in lines)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML; cells are text, not markup."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + row(heads, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"


def html_list(sentences: Sequence[str]) -> str:
    """Return an HTML list with one item per sentence, or "". Sentences are text, not markup."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""
