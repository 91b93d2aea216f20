"""Formats of descriptors, their fields and steps, and suspicions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...layout import Form, Major, Swizzle
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


def join_steps(steps: Iterable[int]) -> str:
    """Return the steps of a descriptor, for example `+0, +2`."""
    return ", ".join(f"+{step}" for step in steps)


def suspicion_lines(suspicions: Sequence[Suspicion]) -> list[str]:
    """Return a line of text for each suspicion."""
    return [f"suspicious ({suspicion.name}): {suspicion.text}" for suspicion in suspicions]


def suspicion_items(suspicions: Sequence[Suspicion]) -> list[str]:
    """Return an item of an HTML list for each suspicion."""
    return [f"{suspicion.name}: {suspicion.text}" for suspicion in suspicions]


def offset_meaning(form: Form, name: str) -> str:
    """Return the stride that LBO or SBO is.

    Args:
        form: the canonical layout.
        name: `LBO` or `SBO`.
    """
    if name not in form.text:
        return "not used"
    in_rows = name in form.strides[0]
    unswizzled = form.swizzle is Swizzle.NONE
    if form.major is Major.K:
        return "to the next 8 rows of m/n" if in_rows else "to the next 16 bytes of k"
    if not in_rows:
        return f"to the next {form.swizzle.lines} of k"
    return f"to the next {16 if unswizzled else form.swizzle.width} bytes of m/n"
