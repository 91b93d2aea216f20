"""Mutants that fewer than two sides notice, and why."""

#: By the beginning of their names. What is equivalent computes the same as the original for every input
#: that can occur.
EXPLAINED: dict[str, str] = {}


def explanation(name: str) -> str:
    """Why few notice a mutant of that name; "" if nothing is known."""
    return next((why for beginning, why in EXPLAINED.items() if name.startswith(beginning)), "")
