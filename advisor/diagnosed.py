"""The layout that a kernel writes, compared with the descriptor that its instructions use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..layout import Arch, Descriptor, LayoutError, Major, Mismatch, Role, Swizzle
from ..layout.elements import UNIT_BYTES, WINDOW_BYTES, Element
from ..layout.instruction import instruction_k
from ..layout.overlap import sharing
from ..layout.wgmma import n_pieces
from .answer import Answer
from .decoded import decode
from .encoded import Encoded, Operand, encode_operand
from .matched import Matched
from .reading import Reading
from .suspicions import decode_without_reserved, field_suspicions, reading_suspicions


@dataclass(frozen=True, eq=False)
class Diagnosed(Answer):
    """The elements that instructions read from a wrong address.

    Elements are indexed (m/n, k), as in the operand. Places are shared memory addresses in elements.

    Attributes:
        element: the element type.
        written: int64[m/n, k], the place where each element was written.
        read: int64[m/n, k], the place where the instructions read each element; only the elements that
            they read.
        actual: int64[m/n, k, 2], the element that is stored at that place; -1 where nothing was written.
        causes: the differences, one sentence each.
        expected: the correct descriptors; None if there are none.
        sharing: how many elements of the tile, all stages included, are written to the place of another
            element; the last write decides which element is there.
    """

    element: Element
    written: np.ndarray
    read: np.ndarray
    actual: np.ndarray
    causes: tuple[str, ...]
    expected: Encoded | None
    sharing: int = 0

    @property
    def correct(self) -> bool:
        """Whether each element is read from where it was written, and has that place for itself."""
        return not self.sharing and not self.wrong.any()

    @property
    def wrong(self) -> np.ndarray:
        """bool[m/n, k]: which elements are read from a wrong address."""
        return self.read != self.written[: self.read.shape[0], : self.read.shape[1]]

    @property
    def displaced(self) -> int:
        """The number of elements for which another element is read."""
        return int((self.actual[self.wrong][:, 0] >= 0).sum())


def diagnose(
    written: Matched,
    bits: int,
    k_steps: Sequence[int] = (0,),
    major: Major | None = None,
    rows: int | None = None,
    tile: int | None = None,
) -> Diagnosed:
    """Find the elements that instructions read from a wrong address.

    Args:
        written: the tile as it was written, from `match_tile` or `match_map`; with stages, the first.
        bits: the descriptor that was used.
        k_steps: the offset added to it for each instruction along K, in 16-byte units.
        major: the major-ness that the instruction assumes; None for the tile's.
        rows: the extent along m or n of an instruction; None for A's M, and the whole N of B.
        tile: the address at which the tile was written; None for the descriptor's start.

    Returns:
        Which elements are wrong, and what would be right.

    Raises:
        LayoutError: if the instructions read more than the tile has, or cannot read such an operand, or
            an offset leaves the 18 bits of an address.

    Example:
        >>> written = match_tile(parse_layout("Swizzle<3,4,3> o (64,64):(64,1)", element("bf16")), Role.A)
        >>> bool(diagnose(written, 0x4000004000010000).wrong.any())  # each element is read where it is
        False
        >>> int(diagnose(written, 0x4000002000010000).wrong.sum())  # SBO is 512 bytes instead of 1024
        896
    """
    element, role, arch = written.element, written.role, written.arch
    stage = written.places[0] if written.places.ndim == 3 else written.places
    offsets = stage if role is Role.A else stage.T
    descriptor = decode_without_reserved(bits, arch)
    begin = descriptor.start if tile is None else tile
    check_start(begin)
    places = offsets + begin * 8 // element.bits
    operand = written.found if isinstance(written.found, Operand) else None
    extent = rows or (
        operand.mma_tiles.pieces[0] if operand else _default_extent(offsets, element, role, arch)
    )
    depth = len(k_steps) * instruction_k(element)
    if extent > offsets.shape[0] or depth > offsets.shape[1]:
        raise LayoutError(
            f"{len(k_steps)} instructions read {extent} x {depth} of (m/n, k), but the tile has "
            f"{offsets.shape[0]} x {offsets.shape[1]}"
        )
    assumed = major or (
        operand.mma_tiles.canonical.major if operand else _likely_major(offsets, element, arch)
    )
    reading = Reading(descriptor, element, assumed, extent, arch)
    suspicions = (*field_suspicions(bits, arch=arch), *reading_suspicions(reading))
    if reading.absolute and assumed is Major.K:
        # Instructions that read 32 bytes of each row have no second chunk: they ignore its address.
        descriptor = replace(descriptor, absolute=False)
        reading = replace(reading, descriptor=descriptor)
    if not reading.is_legal:
        raise LayoutError(next(reading_suspicions(reading)).text)
    read = _read_places(descriptor, element, assumed, extent, k_steps, arch)
    causes = [suspicion.text for suspicion in suspicions if suspicion.name in _ALWAYS_WRONG]
    expected = None
    if operand is None:
        causes += _explain_mismatch(written, descriptor, assumed, extent)
    else:
        try:
            expected = encode_operand(operand, begin)
        except LayoutError as error:
            causes.append(str(error))
    if expected is not None:
        causes += _causes(expected, descriptor, assumed, extent, k_steps)
    actual, shared = element_at(places, read), int(sharing(written.places).sum())
    return Diagnosed(element, places, read, actual, tuple(causes), expected, shared)


def check_start(begin: int) -> None:
    """Check that a tile can start at an address.

    Raises:
        LayoutError: if it cannot.
    """
    if begin % UNIT_BYTES:
        raise LayoutError(f"a tile begins at a multiple of {UNIT_BYTES} bytes, not at {begin:#x}")
    if begin >= WINDOW_BYTES:
        raise LayoutError(f"a tile begins below {WINDOW_BYTES:#x}, not at {begin:#x}")


def _default_extent(offsets: np.ndarray, element: Element, role: Role, arch: Arch) -> int:
    """Return the rows that one instruction reads of an operand without a canonical layout."""
    extent = offsets.shape[0]
    if role is Role.B:
        return (n_pieces(element, extent) or (extent,))[0]
    return next((m for m in arch.instruction_m if m <= extent), arch.instruction_m[-1])


def _likely_major(offsets: np.ndarray, element: Element, arch: Arch) -> Major:
    """Return the dimension with the smaller stride, of an operand without a canonical layout."""
    if Major.MN not in arch.majors_of(element) or offsets.shape[0] == 1:
        return Major.K
    first, below, right = (int(offsets[index]) for index in ((0, 0), (1, 0), (0, 1)))
    return Major.MN if abs(below - first) < abs(right - first) else Major.K


def _read_places(
    descriptor: Descriptor,
    element: Element,
    major: Major,
    rows: int,
    k_steps: Sequence[int],
    arch: Arch,
) -> np.ndarray:
    """Return the place where the instructions read each element: int64[rows, k], in elements."""
    subtiles: list[np.ndarray] = []
    for step in k_steps:
        try:
            moved = replace(descriptor, start=descriptor.start + step * UNIT_BYTES)
            bytes_ = arch.addresses(moved.encode(), element, major, rows)
        except ValueError as error:
            raise LayoutError(str(error)) from None
        within = np.arange(instruction_k(element)) * element.bits % 8
        subtiles.append((bytes_ * 8 + within) // element.bits)
    return np.concatenate(subtiles, axis=1)


def element_at(places: np.ndarray, read: np.ndarray) -> np.ndarray:
    """Return, for each place that is read, the element that was written there: int64[rows, k, 2]; -1 for
    none."""
    flat = places.ravel()
    order = np.argsort(flat, kind="stable")
    index = np.minimum(np.searchsorted(flat, read, sorter=order), flat.size - 1)
    nearest = order[index]
    pairs = np.stack(np.unravel_index(nearest, places.shape), axis=-1)
    return np.where((flat[nearest] == read)[..., None], pairs, -1)


def _explain_mismatch(written: Matched, used: Descriptor, major: Major, rows: int) -> Iterator[str]:
    """Yield why no descriptor reads the tile, and what this one reads."""
    assert isinstance(written.found, Mismatch)
    yield f"no descriptor reads the tile: {written.found.reason}"
    if written.order is not None and written.order.hint:
        yield written.order.hint
    reads = decode(used.encode(), written.element, major, rows, arch=written.arch, k_bytes=32)
    yield f"this descriptor reads {reads.layout}"
    if used.swizzle in written.matching_swizzles and written.layout is not None:
        yield (
            f"the strides match: the tile is written with swizzle {written.layout.swizzle}, "
            f"and read with {used.swizzle}"
        )
    if written.nearest is not None:
        yield f"nearest layout: {written.nearest}"


def _causes(
    expected: Encoded, used: Descriptor, major: Major, rows: int, k_steps: Sequence[int]
) -> Iterator[str]:
    """Yield each field in which the descriptor differs from the expected one, and the effect."""
    assert expected.operand is not None
    element, canonical = expected.operand.tile.element, expected.operand.mma_tiles.canonical
    if major is not canonical.major:
        yield f"the instruction reads the operand as {major}, but the tile is {canonical.major}"
    d, steps = expected.descriptor, expected.operand.k_steps[: len(k_steps)]
    used = replace(used, start=used.start + k_steps[0] * UNIT_BYTES)

    def reads(descriptor: Descriptor) -> np.ndarray:
        """Return the byte address at which the first instruction reads each element."""
        places = _read_places(descriptor, element, canonical.major, rows, (0,), expected.arch)
        return places * element.bits // 8

    def linear(descriptor: Descriptor) -> np.ndarray:
        """Return the same addresses before the swizzle."""
        return d.swizzle.apply(reads(descriptor), d.base_offset)

    if used.lbo != used.sbo and (used.lbo, used.sbo) == (canonical.sbo, canonical.lbo):
        yield "LBO and SBO are exchanged"
    for name, field_text in _NAMES.items():
        used_value, right = getattr(used, name), getattr(d, name)
        if used_value == right or (name == "base_offset" and d.swizzle is Swizzle.NONE):
            continue
        without_swizzle = {"base_offset": 0} if used_value is Swizzle.NONE else {}
        changed = replace(d, **{name: used_value, **without_swizzle})
        if changed.swizzle not in expected.arch.swizzles_of(element, canonical.major):
            yield f"{field_text} is {used_value}, where the layout has {right}"
            continue
        if (reads(changed) == reads(d)).all():
            continue
        hexadecimal = "#x" if name == "start" else ""
        text = f"{field_text} is {used_value:{hexadecimal}}, where the layout has {right:{hexadecimal}}"
        if name in ("swizzle", "base_offset"):
            units = f"{d.swizzle.unit_bytes}-byte units"
            yield f"{text}: {units} are read from other positions of their lines"
        else:
            of_each = " of each instruction" if len(k_steps) > 1 else ""
            yield f"{text}: {_describe_shift(linear(changed) - linear(d), of_each)}"
    for index, (step, right) in enumerate(zip(k_steps, steps, strict=True)):
        if step - k_steps[0] != right:
            yield (
                f"k step {index} is {step - k_steps[0]}, where the layout has {right} "
                "(16-byte units)"
            )


#: Names of the suspicions that are wrong for every layout.
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

#: The fields' names in messages.
_NAMES = {
    "start": "the start",
    "lbo": "LBO",
    "sbo": "SBO",
    "base_offset": "the base offset",
    "swizzle": "the swizzle",
}


def _describe_shift(delta: np.ndarray, of_each: str) -> str:
    """Return which rows and columns are read at wrong addresses, and by how many bytes."""
    spans = []
    for name, axis in (("m/n", 1), ("k", 0)):
        indices = np.flatnonzero(delta.any(axis=axis))
        spans.append(f"{name} {indices[0]}..{indices[-1]}")
    sizes = np.abs(delta[delta != 0])
    amount = f"{sizes.min()}" + (f" to {sizes.max()}" if sizes.min() != sizes.max() else "")
    where = "high" if delta.max() > 0 else "low"
    return f"{', '.join(spans)}{of_each} are read at addresses {amount} bytes too {where}"
