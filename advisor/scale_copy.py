"""A descriptor of `tcgen05.cp` read back, and compared with the scale factors that were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..layout import Arch, Descriptor, LayoutError, Mismatch, Swizzle
from ..layout.element_map import places_of
from ..layout.elements import UNIT_BYTES, WINDOW_BYTES
from ..layout.tcgen05 import Tcgen05Descriptor
from ..layout.tcgen05.copies import LINES_TOGETHER, copied_addresses
from ..layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS, LANES
from .answer import Answer
from .diagnosed import Diagnosed, check_start, lies_at
from .fields import Field, matrix_fields
from .scale_tile import ScaleTile
from .suspicions import Suspicion, of_bits, without_reserved

#: Where the next lines of a block begin: SBO.
_SBO = LINES_TOGETHER * UNIT_BYTES


@dataclass(frozen=True)
class DecodedCopy(Answer):
    """What a descriptor says to a `tcgen05.cp.32x128b.warpx4`.

    Attributes:
        bits: the 64 bits.
        suspicions: what is wrong, or right in rare cases only.
        arch: whose descriptor it is.
    """

    bits: int
    suspicions: tuple[Suspicion, ...]
    arch: Arch

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor, with bits that mean nothing taken as 0."""
        return without_reserved(self.bits, self.arch)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The descriptor's fields, lowest bits first."""
        return matrix_fields(self.bits, self.arch)

    @property
    def reads(self) -> np.ndarray | None:
        """int64[rows, factors]: the byte address of each factor; None if no copy reads such a block."""
        d = self.descriptor
        if d.swizzle is not Swizzle.NONE or not isinstance(d, Tcgen05Descriptor):
            return None
        return copied_addresses(d)


def decode_copy(bits: int, arch: Arch = Arch.SM_100) -> DecodedCopy:
    """What a descriptor of a block of scale factors says, and what is suspicious about it.

    Raises:
        LayoutError: if it has more than 64 bits, or the architecture has no `tcgen05.cp`.
    """
    if not arch.kinds:
        others = " and ".join(str(other) for other in Arch if other.kinds)
        raise LayoutError(f"{arch} takes no scale factors; {others} do")
    if not 0 <= bits < 1 << 64:
        raise LayoutError(f"{bits:#x} is not a 64-bit value")
    found = (*of_bits(bits, arch=arch), *_of_copy(without_reserved(bits, arch)))
    return DecodedCopy(bits, found, arch)


def _of_copy(d: Descriptor) -> Iterator[Suspicion]:
    """What is wrong with the descriptor of a copy."""
    if d.swizzle is not Swizzle.NONE:
        yield Suspicion(
            "copy-swizzle", f"the swizzle is {d.swizzle}, but blocks of scale factors have none"
        )
    if d.sbo != _SBO:
        yield Suspicion(
            "copy-sbo",
            f"SBO is {d.sbo} bytes, but the {LANES} lines of a block follow each other: {_SBO}",
        )
    if d.lbo not in (0, UNIT_BYTES):
        yield Suspicion(
            "lbo-ignored", f"LBO is {d.lbo} bytes, but has no effect on a copy of lines of 16 bytes"
        )
    last = d.start + (LANES // LINES_TOGETHER - 1) * d.sbo + _SBO - 1
    if last >= WINDOW_BYTES:
        yield Suspicion(
            "beyond-window",
            f"it reads up to {last:#x}, but a descriptor's addresses end at {WINDOW_BYTES:#x} (2^18)",
        )


def diagnose_scales(
    written: ScaleTile, bits: int, steps: Sequence[int] = (0,), tile: int | None = None
) -> Diagnosed:
    """Which scale factors copies of blocks read from where they were not written.

    Args:
        written: the tile as it was written; of stages, the first.
        bits: the descriptor that was used.
        steps: what was added to it for each copy along K of the first 128 rows, in 16-byte units.
        tile: the address at which the tile was written; None for the descriptor's start.

    Raises:
        LayoutError: if the copies read more than the tile has, or what is no block, or a step leaves the
            18 bits of an address.
    """
    factors = written.stage
    d = without_reserved(bits, written.arch)
    begin = d.start if tile is None else tile
    check_start(begin)
    depth = len(steps) * BLOCK_FACTORS
    if len(factors.shape) != 2 or factors.shape[0] < BLOCK_ROWS or depth > factors.shape[1]:
        shape = "x".join(map(str, factors.shape))
        raise LayoutError(
            f"{len(steps)} copies read {BLOCK_ROWS}x{depth} factors, but the tile has {shape}"
        )
    places = places_of(factors) + begin
    assert isinstance(d, Tcgen05Descriptor)
    try:
        moved = [replace(d, start=d.start + step * UNIT_BYTES) for step in steps]
        read = np.concatenate([copied_addresses(each) for each in moved], axis=1)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    causes = [s.text for s in of_bits(bits, arch=written.arch)]
    causes += [s.text for s in _of_copy(d) if s.name == "copy-sbo"]
    causes += _causes(written, d, begin, steps)
    if causes and not isinstance(written.found, Mismatch):
        encoded = written.encoded(begin)
        added = ", ".join(map(str, encoded.steps[0]))
        right = encoded.descriptors[0][0]
        causes.append(f"right would be {right:#018x}, steps {added} (16-byte units)")
    lies = lies_at(places, read)
    return Diagnosed(factors.element, places, read, lies, tuple(causes), None)


def _causes(written: ScaleTile, d: Descriptor, begin: int, steps: Sequence[int]) -> Iterator[str]:
    """What is wrong with where the blocks are looked for, or with how the tile was written."""
    if isinstance(written.found, Mismatch):
        yield f"no descriptor reads the tile: {written.found.reason}"
        if written.nearest:
            yield f"nearest to it: {written.nearest}"
        return
    right = written.encoded(begin).steps[0][: len(steps)]
    first = begin + written.found.offsets[0][0]
    if d.start + steps[0] * UNIT_BYTES != first:
        yield f"the start is {d.start + steps[0] * UNIT_BYTES:#x}, where the tile has {first:#x}"
    for index, (step, expected) in enumerate(zip(steps, right, strict=True)):
        if step - steps[0] != expected:
            yield f"step {index} is {step - steps[0]}, where the tile has {expected} (16-byte units)"
