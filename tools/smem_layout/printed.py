"""How answers are printed."""

import json
from typing import Any


def printed_json(answer: Any) -> int:
    """Prints an answer as JSON; the exit code."""
    print(json.dumps(answer, indent=2))
    return 0


def printed(answer: Any, as_json: bool) -> int:
    """Prints an answer, for people or as JSON; the exit code."""
    if as_json:
        return printed_json(answer.data())
    print(answer)
    return 0
