"""A layout as the text of an MLIR affine map, for the layout of a memref."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from .modes import LayoutError
from .swizzle import PHASE_BIT, Swizzle
from .tile import TileLayout


def affine_map(layout: TileLayout) -> str:
    """Return the affine map from the index of an element to its offset in elements.

    It is for `affine.apply`, or for the layout of a memref of the tile's shape, such as
    `memref<64x64xbf16, affine_map<(d0, d1) -> (...)>, 3>`, which `normalize-memrefs` makes
    one-dimensional (in LLVM 24 not for three bits, so not with swizzle 128B: it takes more than a
    minute, or all memory). The XOR of a swizzle is affine in the bits of the offset: bit i of x ^ y is
    (x_i + y_i) mod 2, and x_i is (x floordiv 2^i) mod 2.

    Args:
        layout: the layout of a tile (rows, columns) or (stages, rows, columns), or of a subtile with a
            static origin; the offset is then from the start of its modes.

    Raises:
        LayoutError: for a run-time origin, and for padded elements, which have no offset of their own.

    Example:
        >>> affine_map(tile_of_atoms(element("u8"), (8, 32), 1, Swizzle.NONE))
        'affine_map<(d0, d1) -> (d0 * 16 + d1 mod 16 + (d1 floordiv 16) * 128)>'
    """
    if layout.element.padding:
        raise LayoutError(
            f"{layout.element} is padded: {layout.element.unit} elements share 16 bytes with padding, "
            "and none has an offset of its own"
        )
    if not layout.has_static_origin:
        raise LayoutError(f"the offsets of the elements of {layout} are known at run time only")
    digits = _digits(layout)
    is_linear = layout.swizzle is Swizzle.NONE or not digits
    terms = [digit.term for digit in digits] if is_linear else _swizzled_terms(layout, digits)
    dims = ", ".join(f"d{dim}" for dim in range(len(layout.shape)))
    return f"affine_map<({dims}) -> ({' + '.join(terms) or 0})>"


class _Digit(NamedTuple):
    """The index of an element within one mode.

    Attributes:
        position: the index along the dimension, with the origin, as text.
        divisor: elements of the tile from one index of the mode to the next.
        extent, stride: of the mode, in elements.
        last: whether it is the outermost mode, whose index is not reduced.
    """

    position: str
    divisor: int
    extent: int
    stride: int
    last: bool

    @property
    def term(self) -> str:
        """The digit times its stride: what it adds to the offset, in elements."""
        digit = _over(self.position, self.divisor, None if self.last else self.extent)
        return _times(digit, self.stride)

    @property
    def end(self) -> int:
        """The lowest power of two, times the stride, that the digit does not reach."""
        return self.stride << (self.extent - 1).bit_length()

    @property
    def has_bits(self) -> bool:
        """Whether each bit of the digit is a bit of the position, and of the offset."""
        reduced = 1 if self.last else self.extent
        return not (self.stride & (self.stride - 1) or reduced & (reduced - 1))

    def bits(self, low: int, high: int | None = None) -> str | None:
        """Return the bits of the digit's part of the offset from value `low` up to `high`, both powers of
        two, in units of `low`; None if it has none there.

        Only for a digit that `has_bits`.
        """
        low = max(low, self.stride)
        if low >= self.end or (high is not None and high <= low):
            return None
        top = self.end if high is None else min(high, self.end)
        shifted = _over(self.position, self.divisor * (low // self.stride), None)
        if self.last and top == self.end:
            return shifted
        return f"{_parenthesize(shifted)} mod {top // low}"


def _digits(layout: TileLayout) -> list[_Digit]:
    digits = []
    for dim, (modes, origin) in enumerate(zip(layout.modes, layout.origins, strict=True)):
        index, divisor = f"d{dim} + {origin}" if origin else f"d{dim}", 1
        for position, mode in enumerate(modes):
            last = position == len(modes) - 1
            if mode.extent > 1 and mode.stride:
                digits.append(_Digit(index, divisor, mode.extent, mode.stride, last))
            divisor *= mode.extent
    return digits


def _swizzled_terms(layout: TileLayout, digits: list[_Digit]) -> list[str]:
    """Return the terms of the offset behind a swizzle."""
    swizzle, bits = layout.swizzle, layout.element.bits
    unit, end = swizzle.unit_bytes * 8 // bits, swizzle.width * 8 // bits
    phase = (8 << PHASE_BIT) // bits
    by_stride = sorted(digits, key=lambda digit: digit.stride)
    # Each bit of the offset is a bit of one position if no digit reaches into the next one's bits.
    apart = all(inner.end <= outer.stride for inner, outer in pairwise(by_stride))
    changed = [(unit << i, phase << i) for i in range((end // unit).bit_length() - 1)]
    if apart and all(digit.has_bits for digit in digits):
        return _terms_of_bits(by_stride, unit, end, changed)
    linear = " + ".join(digit.term for digit in digits)
    terms = [linear]
    for bit, phase_bit in changed:
        before, line = (_over(linear, value, None) for value in (bit, phase_bit))
        terms.append(f"(({before} + {line}) mod 2 - ({before}) mod 2) * {bit}")
    return terms


def _terms_of_bits(
    digits: list[_Digit], unit: int, end: int, changed: list[tuple[int, int]]
) -> list[str]:
    """Return the terms of an offset whose bits are bits of positions: the bits that the swizzle keeps,
    then each bit that it changes.

    The largest value of each term is then exact. `normalize-memrefs` computes the size of the memory from
    it.

    Args:
        digits: the digits of the offset before the swizzle.
        unit, end: the lowest bit that the swizzle changes, and the first that it keeps again.
        changed: each bit that it changes, and the bit that flips it.
    """
    terms = []
    for digit in digits:
        above, below = digit.bits(end), digit.bits(1, unit)
        terms += [] if above is None else [_times(above, max(end, digit.stride))]
        terms += [] if below is None else [_times(below, digit.stride)]
    for bit, phase_bit in changed:
        parities = [_parity(digits, value) for value in (bit, phase_bit)]
        if any(parities):
            terms.append(f"(({' + '.join(filter(None, parities))}) mod 2) * {bit}")
    return terms


def _parity(digits: list[_Digit], value: int) -> str | None:
    """Return an expression whose parity is the bit of the offset with that value; None for a bit that is
    always 0."""
    for digit in digits:
        if digit.stride <= value < digit.end:
            return _over(digit.position, digit.divisor * (value // digit.stride), None)
    return None


def _times(text: str, factor: int) -> str:
    return text if factor == 1 else f"{_parenthesize(text)} * {factor}"


def _over(index: str, divisor: int, modulus: int | None) -> str:
    """Return the text of `index floordiv divisor mod modulus`."""
    text = index if divisor == 1 else f"{_parenthesize(index)} floordiv {divisor}"
    return text if modulus is None else f"{_parenthesize(text)} mod {modulus}"


def _parenthesize(text: str) -> str:
    return f"({text})" if " " in text else text
