"""A decoded descriptor of `tcgen05.cp`, and its comparison with the scale factors that were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..layout import Arch, Descriptor, LayoutError, Mismatch, Swizzle
from ..layout.element_map import element_offsets
from ..layout.elements import UNIT_BYTES, WINDOW_BYTES
from ..layout.overlap import sharing
from ..layout.tcgen05 import Tcgen05Descriptor
from ..layout.tcgen05.copies import LINES_TOGETHER, copied_addresses
from ..layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS, LANES
from .answer import Answer
from .diagnosed import Diagnosed, check_start, element_at
from .fields import Field, matrix_fields
from .scale_tile import ScaleTile
from .suspicions import Suspicion, decode_without_reserved, field_suspicions

#: SBO: bytes from 8 lines of a block to the next 8.
_SBO = LINES_TOGETHER * UNIT_BYTES


@dataclass(frozen=True)
class DecodedCopy(Answer):
    """A decoded descriptor of a `tcgen05.cp.32x128b.warpx4`.

    Attributes:
        bits: the 64 bits.
        suspicions: values that are wrong, or right only in rare cases.
        arch: the architecture.
    """

    bits: int
    suspicions: tuple[Suspicion, ...]
    arch: Arch

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor, with reserved bits cleared."""
        return decode_without_reserved(self.bits, self.arch)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The descriptor's fields, lowest bits first."""
        return matrix_fields(self.bits, self.arch)

    @property
    def reads(self) -> np.ndarray | None:
        """int64[rows, factors]: byte address of each scale factor; None if no copy reads such a block."""
        d = self.descriptor
        if d.swizzle is not Swizzle.NONE or not isinstance(d, Tcgen05Descriptor):
            return None
        return copied_addresses(d)


def decode_copy(bits: int, arch: Arch = Arch.SM_100) -> DecodedCopy:
    """Decode the descriptor of a block of scale factors, and report suspicious values.

    Args:
        bits: the descriptor.
        arch: the architecture.

    Returns:
        The fields, the bytes that are read, and the suspicions.

    Raises:
        LayoutError: if it has more than 64 bits, or the architecture has no `tcgen05.cp`.

    Example:
        >>> print(str(decode_copy(0x400800010080)).splitlines()[0])
        0x0000400800010080, 32 lines of 16 bytes: 4 factors of 128 rows
    """
    if not arch.kinds:
        archs_with_kinds = " and ".join(str(candidate) for candidate in Arch if candidate.kinds)
        raise LayoutError(f"{arch} takes no scale factors; {archs_with_kinds} do")
    if not 0 <= bits < 1 << 64:
        raise LayoutError(f"{bits:#x} is not a 64-bit value")
    suspicions = (
        *field_suspicions(bits, arch=arch),
        *_copy_suspicions(decode_without_reserved(bits, arch)),
    )
    return DecodedCopy(bits, suspicions, arch)


def _copy_suspicions(d: Descriptor) -> Iterator[Suspicion]:
    """Yield the suspicions about the descriptor of a copy."""
    if d.swizzle is not Swizzle.NONE:
        yield Suspicion(
            "copy-swizzle", f"the swizzle is {d.swizzle}, but blocks of scale factors have none"
        )
    if d.sbo != _SBO:
        yield Suspicion(
            "copy-sbo",
            f"SBO is {d.sbo} bytes, but the {LANES} lines of a block are contiguous: expected {_SBO}",
        )
    if d.lbo not in (0, UNIT_BYTES):
        yield Suspicion(
            "lbo-ignored", f"LBO is {d.lbo} bytes, but a copy of 16-byte lines does not use it"
        )
    last = d.start + (LANES // LINES_TOGETHER - 1) * d.sbo + _SBO - 1
    if last >= WINDOW_BYTES:
        yield Suspicion(
            "beyond-window",
            f"it reads up to {last:#x}, but descriptor addresses end at {WINDOW_BYTES:#x} (2^18)",
        )


def diagnose_scales(
    written: ScaleTile, bits: int, steps: Sequence[int] = (0,), tile: int | None = None
) -> Diagnosed:
    """Find the scale factors that copies read from a wrong address.

    Args:
        written: the tile as it was written; with stages, the first.
        bits: the descriptor that was used.
        steps: the offset added to it for each copy along K of the first 128 rows, in 16-byte units.
        tile: the address at which the tile was written; None for the descriptor's start.

    Returns:
        Which factors are wrong, and what would be right.

    Raises:
        LayoutError: if the copies read more than the tile has, or do not read a block, or an offset
            leaves the 18 bits of an address.

    Example:
        >>> blocks = parse_layout("((32,4),4):((16,4),1)", element("ue8m0"))
        >>> bool(diagnose_scales(match_scales(blocks), 0x400800010080).wrong.any())
        False
    """
    factors = written.stage
    d = decode_without_reserved(bits, written.arch)
    begin = d.start if tile is None else tile
    check_start(begin)
    depth = len(steps) * BLOCK_FACTORS
    if len(factors.shape) != 2 or factors.shape[0] < BLOCK_ROWS or depth > factors.shape[1]:
        shape = "x".join(map(str, factors.shape))
        raise LayoutError(
            f"{len(steps)} copies read {BLOCK_ROWS}x{depth} factors, but the tile has {shape}"
        )
    places = element_offsets(factors) + begin
    assert isinstance(d, Tcgen05Descriptor)
    try:
        descriptors = [replace(d, start=d.start + step * UNIT_BYTES) for step in steps]
        read = np.concatenate([copied_addresses(descriptor) for descriptor in descriptors], axis=1)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    causes = [s.text for s in field_suspicions(bits, arch=written.arch)]
    causes += [s.text for s in _copy_suspicions(d) if s.name == "copy-sbo"]
    causes += _causes(written, d, begin, steps)
    if causes and not isinstance(written.found, Mismatch):
        encoded = written.encoded(begin)
        steps_text = ", ".join(map(str, encoded.steps[0]))
        right = encoded.descriptors[0][0]
        causes.append(f"expected descriptor {right:#018x}, steps {steps_text} (16-byte units)")
    actual = element_at(places, read)
    shared = int(sharing(element_offsets(written.layout)).sum())
    return Diagnosed(factors.element, places, read, actual, tuple(causes), None, shared)


def _causes(written: ScaleTile, d: Descriptor, begin: int, steps: Sequence[int]) -> Iterator[str]:
    """Yield the differences in the blocks' addresses, or why no descriptor reads the tile."""
    if isinstance(written.found, Mismatch):
        yield f"no descriptor reads the tile: {written.found.reason}"
        if written.order is not None and written.order.hint:
            yield written.order.hint
        if written.nearest:
            yield f"nearest layout: {written.nearest}"
        return
    right = written.encoded(begin).steps[0][: len(steps)]
    first = begin + written.found.offsets[0][0]
    if d.start + steps[0] * UNIT_BYTES != first:
        yield f"the start is {d.start + steps[0] * UNIT_BYTES:#x}, where the tile has {first:#x}"
    for index, (step, expected) in enumerate(zip(steps, right, strict=True)):
        if step - steps[0] != expected:
            yield f"step {index} is {step - steps[0]}, where the tile has {expected} (16-byte units)"
