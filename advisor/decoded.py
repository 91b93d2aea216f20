"""A decoded descriptor: its fields, the bytes that one instruction reads, and suspicious values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..layout import Arch, Descriptor, Element, LayoutError, Major, TileLayout
from ..layout.instruction import INSTRUCTION_K_BYTES, MAX_N
from ..layout.tcgen05 import LONG_K_BYTES, Tcgen05Descriptor
from .answer import Answer
from .fields import Field, matrix_fields
from .reading import Reading
from .suspicions import Suspicion, decode_without_reserved, field_suspicions, reading_suspicions


@dataclass(frozen=True)
class Decoded(Answer):
    """A decoded matrix descriptor of an operand in shared memory.

    Attributes:
        bits: the 64 bits.
        reading: the operand that an instruction reads; None where the element type is not known.
        suspicions: values that are wrong, or right only in rare cases.
        assumed: whether the major-ness was not given and is assumed.
        arch: the architecture.
    """

    bits: int
    reading: Reading | None
    suspicions: tuple[Suspicion, ...]
    assumed: bool = False
    arch: Arch = Arch.SM_90

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor, with reserved bits cleared."""
        return decode_without_reserved(self.bits, self.arch)

    @property
    def layout(self) -> TileLayout | None:
        """The operand's canonical layout, (m/n, k), with the values of LBO and SBO; None if it is read
        in two chunks, or cannot be read."""
        reading = self.reading
        if reading is None or not reading.is_legal or len(reading.chunks) > 1:
            return None
        form = reading.form
        assert form is not None
        d, element, extents = self.descriptor, reading.element, (reading.rows, reading.k)
        pattern = form.layout(element, 1, 1, 0, 0).shape
        m, k = (-(-extent // period) for extent, period in zip(extents, pattern, strict=True))
        layout = form.layout(element, m, k, d.lbo, d.sbo)
        return layout if layout.shape == extents else layout.slice((0, 0), extents).layout

    @cached_property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The byte ranges that one instruction reads: (first, last) of each, ascending."""
        if self.reading is None or not self.reading.is_legal:
            return ()
        size = max(1, self.reading.element.bits // 8)
        starts = np.unique(self.reading.addresses)
        breaks = np.flatnonzero(np.diff(starts) > size)
        firsts = starts[np.concatenate(([0], breaks + 1))]
        lasts = starts[np.concatenate((breaks, [len(starts) - 1]))] + size - 1
        return tuple((int(a), int(b)) for a, b in zip(firsts, lasts, strict=True))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The descriptor's fields, lowest bits first."""
        return matrix_fields(self.bits, self.arch)


def decode(
    bits: int,
    element: Element | None = None,
    major: Major | None = None,
    rows: int | None = None,
    tile: int | None = None,
    arch: Arch = Arch.SM_90,
    k_bytes: int | None = None,
) -> Decoded:
    """Decode a matrix descriptor, and report suspicious values.

    Args:
        bits: the descriptor.
        element: the element type; without it, only the fields are checked.
        major: the contiguous dimension; None for the one with fewer suspicions.
        rows: the operand's extent along m or n: N for B; None for the instruction's M.
        tile: start address of the tile that contains the operand; without it, the operand may start
            anywhere in its tile.
        arch: the architecture.
        k_bytes: bytes along K that the instruction reads; None for 32, or 48 for 4-bit types where LBO
            is an address.

    Returns:
        The fields, the addresses that are read, and the suspicions.

    Raises:
        LayoutError: if the descriptor has more than 64 bits, or no operand has that number of rows.

    Example:
        >>> decoded = decode(0x4000004000010000, element("bf16"))
        >>> decoded.descriptor.sbo, decoded.suspicions
        (1024, ())
        >>> print(str(decoded).splitlines()[0])
        0x4000004000010000, 64 x 16 bf16 of (m/n, k), K-major (assumed: fewer suspicions; --major sets it)
    """
    if not 0 <= bits < 1 << 64:
        raise LayoutError(f"{bits:#x} is not a 64-bit value")
    legal = arch.instruction_m
    extent = legal[0] if rows is None else rows
    if not 0 < extent <= MAX_N or extent % 8:
        ms = " or ".join(map(str, sorted(legal)))
        raise LayoutError(
            f"an operand of {extent} rows; expected {ms} for A, and a multiple of 8 up to {MAX_N} for B"
        )
    general = tuple(field_suspicions(bits, tile, arch))
    if element is None:
        return Decoded(bits, None, general, arch=arch)
    descriptor = decode_without_reserved(bits, arch)
    if k_bytes is None:
        absolute = isinstance(descriptor, Tcgen05Descriptor) and descriptor.absolute
        k_bytes = LONG_K_BYTES if absolute and element.bits == 4 else INSTRUCTION_K_BYTES
    majors = (major,) if major else arch.majors_of(element) or (Major.K,)
    answers: list[Decoded] = []
    for operand_major in majors:
        reading = Reading(descriptor, element, operand_major, extent, arch, k_bytes)
        suspicions = (*general, *reading_suspicions(reading))
        answers.append(Decoded(bits, reading, suspicions, len(majors) > 1, arch))
    return min(answers, key=lambda answer: len(answer.suspicions))
