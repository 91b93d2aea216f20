"""Printing of answers."""

import json
from collections.abc import Sequence
from typing import Any


def print_json(answer: Any) -> int:
    """Print an answer as JSON; return the exit code."""
    print(json.dumps(answer, indent=2))
    return 0


def print_answer(answer: Any, as_json: bool, notes: Sequence[str] = ()) -> int:
    """Print an answer as text or as JSON; return the exit code.

    Args:
        answer: the answer.
        as_json: whether to print JSON.
        notes: notes on the command line: lines after the text, or the entry "notes" of the JSON.
    """
    if as_json:
        answer_data = answer.data()
        return print_json({**answer_data, "notes": list(notes)} if notes else answer_data)
    print("\n".join([str(answer), *([""] if notes else []), *notes]))
    return 0
