"""Why a kernel computes garbage: a layout that was written against a descriptor that was used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..layout import Arch, Descriptor, LayoutError, Major, Mismatch, Role, Swizzle
from ..layout.elements import UNIT_BYTES, WINDOW_BYTES, Element
from ..layout.instruction import instruction_k
from ..layout.wgmma import n_pieces
from .answer import Answer
from .decoded import decode
from .encoded import Encoded, Operand, encode_operand
from .matched import Matched
from .reading import Reading
from .suspicions import of_bits, of_reading, without_reserved


@dataclass(frozen=True, eq=False)
class Diagnosed(Answer):
    """Which elements the instructions read from where they were not written.

    Elements are those of the operand, (m/n, k); places are counted in elements.

    Attributes:
        element: the element type.
        written: int64[m/n, k], where each element was written.
        read: int64[m/n, k] of those that the instructions read: where each is read.
        lies: int64[m/n, k, 2], the element that lies where each is read; -1 where nothing was written.
        causes: what is wrong, in words.
        right: the descriptors that would be right; None if there are none.
    """

    element: Element
    written: np.ndarray
    read: np.ndarray
    lies: np.ndarray
    causes: tuple[str, ...]
    right: Encoded | None

    @property
    def wrong(self) -> np.ndarray:
        """bool[m/n, k]: which elements are read from elsewhere."""
        return self.read != self.written[: self.read.shape[0], : self.read.shape[1]]

    @property
    def displaced(self) -> int:
        """How many elements are read from where another element lies."""
        return int((self.lies[self.wrong][:, 0] >= 0).sum())


def diagnose(
    written: Matched,
    bits: int,
    k_steps: Sequence[int] = (0,),
    major: Major | None = None,
    rows: int | None = None,
    tile: int | None = None,
) -> Diagnosed:
    """Which elements a descriptor makes the instructions read from where they were not written.

    Args:
        written: the tile as it was written, from `match_tile` or `match_map`; of stages, the first.
        bits: the descriptor that was used.
        k_steps: what was added to it for each instruction along k, in 16-byte units.
        major: what the instruction takes the operand for; None for what the tile is.
        rows: the extent along m or n of an instruction; None for A's M, and the whole N of B.
        tile: the address at which the tile was written; None for the descriptor's start.

    Raises:
        LayoutError: if the instructions read more than the tile has, or no such operand, or a step leaves
            the 18 bits of an address.
    """
    kind, role, arch = written.element, written.role, written.arch
    stage = written.places[0] if written.places.ndim == 3 else written.places
    operand = stage if role is Role.A else stage.T
    descriptor = without_reserved(bits, arch)
    begin = descriptor.start if tile is None else tile
    check_start(begin)
    places = operand + begin * 8 // kind.bits
    found = written.found if isinstance(written.found, Operand) else None
    extent = rows or (
        found.mma_tiles.pieces[0] if found else _usual_extent(operand, kind, role, arch)
    )
    depth = len(k_steps) * instruction_k(kind)
    if extent > operand.shape[0] or depth > operand.shape[1]:
        raise LayoutError(
            f"{len(k_steps)} instructions read {extent} x {depth} of (m/n, k), but the tile has "
            f"{operand.shape[0]} x {operand.shape[1]}"
        )
    taken = major or (found.mma_tiles.canonical.major if found else _seems(operand, kind, arch))
    reading = Reading(descriptor, kind, taken, extent, arch)
    told = (*of_bits(bits, arch=arch), *of_reading(reading))
    if reading.absolute and taken is Major.K:
        # Instructions that read 32 bytes of each row need no second chunk: its address is in vain.
        descriptor = replace(descriptor, absolute=False)
        reading = replace(reading, descriptor=descriptor)
    if not reading.legal:
        raise LayoutError(next(of_reading(reading)).text)
    read = _read(descriptor, kind, taken, extent, k_steps, arch)
    causes = [each.text for each in told if each.name in _ALWAYS_WRONG]
    right = None
    if found is None:
        causes += _unreadable(written, descriptor, taken, extent)
    else:
        try:
            right = encode_operand(found, begin)
        except LayoutError as error:
            causes.append(str(error))
    if right is not None:
        causes += _causes(right, descriptor, taken, extent, k_steps)
    return Diagnosed(kind, places, read, lies_at(places, read), tuple(causes), right)


def check_start(begin: int) -> None:
    """Checks that a tile may begin at an address.

    Raises:
        LayoutError: if it may not.
    """
    if begin % UNIT_BYTES:
        raise LayoutError(f"a tile begins at a multiple of {UNIT_BYTES} bytes, not at {begin:#x}")
    if begin >= WINDOW_BYTES:
        raise LayoutError(f"a tile begins below {WINDOW_BYTES:#x}, not at {begin:#x}")


def _usual_extent(operand: np.ndarray, kind: Element, role: Role, arch: Arch) -> int:
    """The rows that one instruction reads of an operand that is not canonical."""
    extent = operand.shape[0]
    if role is Role.B:
        return (n_pieces(kind, extent) or (extent,))[0]
    return next((m for m in arch.instruction_m if m <= extent), arch.instruction_m[-1])


def _seems(operand: np.ndarray, kind: Element, arch: Arch) -> Major:
    """The dimension along which neighbours are nearer, of an operand that is not canonical."""
    if Major.MN not in arch.majors_of(kind) or operand.shape[0] == 1:
        return Major.K
    first, below, beside = (int(operand[at]) for at in ((0, 0), (1, 0), (0, 1)))
    return Major.MN if abs(below - first) < abs(beside - first) else Major.K


def _read(
    descriptor: Descriptor,
    kind: Element,
    major: Major,
    rows: int,
    k_steps: Sequence[int],
    arch: Arch,
) -> np.ndarray:
    """int64[rows, k]: where the instructions read each element, in elements."""
    subtiles: list[np.ndarray] = []
    for step in k_steps:
        try:
            moved = replace(descriptor, start=descriptor.start + step * UNIT_BYTES)
            bytes_ = arch.addresses(moved.encode(), kind, major, rows)
        except ValueError as error:
            raise LayoutError(str(error)) from None
        within = np.arange(instruction_k(kind)) * kind.bits % 8
        subtiles.append((bytes_ * 8 + within) // kind.bits)
    return np.concatenate(subtiles, axis=1)


def lies_at(places: np.ndarray, read: np.ndarray) -> np.ndarray:
    """int64[rows, k, 2]: the element that was written where each is read; -1 for nothing."""
    flat = places.ravel()
    order = np.argsort(flat, kind="stable")
    at = np.minimum(np.searchsorted(flat, read, sorter=order), flat.size - 1)
    index = order[at]
    pairs = np.stack(np.unravel_index(index, places.shape), axis=-1)
    return np.where((flat[index] == read)[..., None], pairs, -1)


def _unreadable(written: Matched, used: Descriptor, major: Major, rows: int) -> Iterator[str]:
    """Why no descriptor reads the tile, and what would be read."""
    assert isinstance(written.found, Mismatch)
    yield f"no descriptor reads the tile: {written.found.reason}"
    reads = decode(used.encode(), written.element, major, rows, arch=written.arch, k_bytes=32)
    yield f"this one reads {reads.layout}"
    if used.swizzle in written.fits_with and written.layout is not None:
        yield (
            f"its strides would do: the tile is written with swizzle {written.layout.swizzle}, "
            f"and read with {used.swizzle}"
        )
    if written.nearest is not None:
        yield f"nearest to it: {written.nearest}"


def _causes(
    right: Encoded, used: Descriptor, major: Major, rows: int, k_steps: Sequence[int]
) -> Iterator[str]:
    """What is wrong: each field by which the descriptor differs from the right one, alone."""
    assert right.operand is not None
    kind, canonical = right.operand.tile.element, right.operand.mma_tiles.canonical
    if major is not canonical.major:
        yield f"the instruction takes the operand as {major}, but the tile is {canonical.major}"
    d, steps = right.descriptor, right.operand.k_steps[: len(k_steps)]
    used = replace(used, start=used.start + k_steps[0] * UNIT_BYTES)

    def reads(descriptor: Descriptor) -> np.ndarray:
        """Where the first instruction reads each element, in bytes; bits of a byte lie together."""
        return _read(descriptor, kind, canonical.major, rows, (0,), right.arch) * kind.bits // 8

    def linear(descriptor: Descriptor) -> np.ndarray:
        """The same before the swizzle."""
        return d.swizzle.apply(reads(descriptor), d.base_offset)

    if used.lbo != used.sbo and (used.lbo, used.sbo) == (canonical.sbo, canonical.lbo):
        yield "LBO and SBO are exchanged"
    for name, shown in _NAMES.items():
        its, expected = getattr(used, name), getattr(d, name)
        if its == expected or (name == "base_offset" and d.swizzle is Swizzle.NONE):
            continue
        other = replace(d, **{name: its, **({"base_offset": 0} if its is Swizzle.NONE else {})})
        if other.swizzle not in right.arch.swizzles_of(kind, canonical.major):
            yield f"{shown} is {its}, where the layout has {expected}"
            continue
        if (reads(other) == reads(d)).all():
            continue
        hexadecimal = "#x" if name == "start" else ""
        text = f"{shown} is {its:{hexadecimal}}, where the layout has {expected:{hexadecimal}}"
        if name in ("swizzle", "base_offset"):
            yield f"{text}: {d.swizzle.unit_bytes}-byte units are looked for elsewhere in their lines"
        else:
            each = " of each instruction" if len(k_steps) > 1 else ""
            yield f"{text}: {_moved(linear(other) - linear(d), each)}"
    for index, (step, expected) in enumerate(zip(k_steps, steps, strict=True)):
        if step - k_steps[0] != expected:
            yield (
                f"k step {index} is {step - k_steps[0]}, where the layout has {expected} "
                "(16-byte units)"
            )


#: What is wrong whatever was written: the names of these suspicions.
_ALWAYS_WRONG = (
    "tcgen05-version",
    "version",
    "reserved-bits",
    "swizzle-mode",
    "absolute-arch",
    "absolute-swizzle",
    "absolute-base-offset",
    "absolute-k",
)

#: The fields in words.
_NAMES = {
    "start": "the start",
    "lbo": "LBO",
    "sbo": "SBO",
    "base_offset": "the base offset",
    "swizzle": "the swizzle",
}


def _moved(delta: np.ndarray, each: str) -> str:
    """Which rows and columns are read too early or too late, and by how many bytes."""
    spans = []
    for name, axis in (("m/n", 1), ("k", 0)):
        at = np.flatnonzero(delta.any(axis=axis))
        spans.append(f"{name} {at[0]}..{at[-1]}")
    sizes = np.abs(delta[delta != 0])
    amount = f"{sizes.min()}" + (f" to {sizes.max()}" if sizes.min() != sizes.max() else "")
    when = "late" if delta.max() > 0 else "early"
    return f"{', '.join(spans)}{each} are read {amount} bytes too {when}"
