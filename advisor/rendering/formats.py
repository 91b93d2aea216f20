"""Formats of descriptors, bit ranges and suspicions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..fields import Field
from ..suspicions import Suspicion


def descriptor_hex(bits: int) -> str:
    """Return the 64 bits of a matrix descriptor in hexadecimal."""
    return f"{bits:#018x}"


def instruction_hex(bits: int) -> str:
    """Return the 32 bits of an instruction descriptor in hexadecimal."""
    return f"{bits:#010x}"


def bit_range(field: Field) -> str:
    """Return the bits of a field, for example `0-13`."""
    return f"{field.bit}-{field.last_bit}" if field.width > 1 else str(field.bit)


def added(steps: Iterable[int]) -> str:
    """Return offsets of a descriptor, for example `+0, +2`."""
    return ", ".join(f"+{step}" for step in steps)


def warnings(suspicions: Sequence[Suspicion]) -> list[str]:
    """Return a line of text for each suspicion."""
    return [f"suspicious ({each.name}): {each.text}" for each in suspicions]


def notes(suspicions: Sequence[Suspicion]) -> list[str]:
    """Return a list item for each suspicion."""
    return [f"{each.name}: {each.text}" for each in suspicions]
