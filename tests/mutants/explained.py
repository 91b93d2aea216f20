"""Mutants that fewer than two sides notice, and why."""

import re

#: By file and edit, without the line. What is equivalent computes the same as the original for every
#: input that can occur.
EXPLAINED: dict[str, str] = {}


def explanation(name: str) -> str:
    """Why few notice a mutant of that name; "" if nothing is known."""
    return EXPLAINED.get(re.sub(r":\d+: |( \[[\d.]+\]$)", lambda m: "" if m[1] else ": ", name), "")
