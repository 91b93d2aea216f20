"""How descriptors, bits of fields and suspicions are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..fields import Field
from ..suspicions import Suspicion


def descriptor_hex(bits: int) -> str:
    """The 64 bits of a matrix descriptor as they are written in code."""
    return f"{bits:#018x}"


def instruction_hex(bits: int) -> str:
    """The 32 bits of an instruction descriptor as they are written in code."""
    return f"{bits:#010x}"


def bit_range(field: Field) -> str:
    """The bits of a field, for example `0-13`."""
    return f"{field.bit}-{field.last_bit}" if field.width > 1 else str(field.bit)


def added(steps: Iterable[int]) -> str:
    """What is added to a descriptor, for example `+0, +2`."""
    return ", ".join(f"+{step}" for step in steps)


def warnings(suspicions: Sequence[Suspicion]) -> list[str]:
    """A line of text for each suspicion."""
    return [f"suspicious ({each.name}): {each.text}" for each in suspicions]


def notes(suspicions: Sequence[Suspicion]) -> list[str]:
    """An item of a notebook's list for each suspicion."""
    return [f"{each.name}: {each.text}" for each in suspicions]
