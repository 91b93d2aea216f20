"""Printing of answers."""

import json
from typing import Any


def printed_json(answer: Any) -> int:
    """Print an answer as JSON; return the exit code."""
    print(json.dumps(answer, indent=2))
    return 0


def printed(answer: Any, as_json: bool) -> int:
    """Print an answer as text or as JSON; return the exit code."""
    if as_json:
        return printed_json(answer.data())
    print(answer)
    return 0
