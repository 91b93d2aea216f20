"""How answers are printed."""

import json
from typing import Any

from ...assistant.columns import columns

__all__ = ["columns", "printed_json"]


def printed_json(answer: Any) -> int:
    """Prints an answer as JSON; the exit code."""
    print(json.dumps(answer, indent=2))
    return 0
