"""Printing of answers."""

import json
from collections.abc import Sequence
from typing import Any


def printed_json(answer: Any) -> int:
    """Print an answer as JSON; return the exit code."""
    print(json.dumps(answer, indent=2))
    return 0


def printed(answer: Any, as_json: bool, notes: Sequence[str] = ()) -> int:
    """Print an answer as text or as JSON; return the exit code.

    Args:
        answer: the answer.
        as_json: whether to print JSON.
        notes: how the command line was read: lines behind the text, or the entry "notes" of the JSON.
    """
    if as_json:
        data = answer.data()
        return printed_json({**data, "notes": list(notes)} if notes else data)
    print("\n".join([str(answer), *([""] if notes else []), *notes]))
    return 0
