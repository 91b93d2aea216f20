"""Mutants that fewer than two sides notice, and why."""

import re

#: By file and edit, without the line. What is equivalent computes the same as the original for every
#: input that can occur.
EXPLAINED: dict[str, str] = {
    "layout/wgmma/types.py: (a, b) -> (b, a)": "equivalent: the same pairs in another order",
    "layout/uses.py: 1 -> 0": "the wording of a verdict",
    "passes/materialize_descriptors/said.py: 1 -> 0": "the wording of a remark",
    "passes/materialize_descriptors/scaled.py: 64 -> 63": "`lit_tests/tcgen05/explained.mlir`, which "
    "has commands that are not run here, pins it",
}


def explanation(name: str) -> str:
    """Why few notice a mutant of that name; "" if nothing is known."""
    return EXPLAINED.get(re.sub(r":\d+: |( \[[\d.]+\]$)", lambda m: "" if m[1] else ": ", name), "")
