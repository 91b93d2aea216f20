"""Sentences of an answer, for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_list(sentences: Sequence[str]) -> str:
    """A list with one item a sentence; nothing for none. Sentences are text, not markup."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""
