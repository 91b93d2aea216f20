"""The ISA's canonical layouts, and the matching of a layout to them.

PTX ISA 9.7.15.5.1.2.1.3 (wgmma) and 9.7.16.3.3 (tcgen05).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from itertools import accumulate
from math import prod
from operator import mul

from .elements import UNIT_BYTES, Element
from .modes import Mode, Start, start_text
from .swizzle import Swizzle
from .tile import TileLayout


class Major(Enum):
    """The dimension of an operand that is contiguous in shared memory."""

    K = "k"
    MN = "mn"

    def __str__(self) -> str:
        return f"{self.value.upper()}-major"


@dataclass(frozen=True)
class Form:
    """A row of the ISA's table of canonical layouts: factors of (m/n, k) and their strides.

    Each entry is a multiple of T, a repeat count (`m`, `k`, `2k`) or a free stride (`LBO`, `SBO`).
    """

    major: Major
    swizzle: Swizzle
    text: str

    @property
    def factors(self) -> tuple[list[str], list[str]]:
        """Extents of the m/n modes and of the k modes, as written."""
        return self._lists[0], self._lists[1]

    @property
    def strides(self) -> tuple[list[str], list[str]]:
        """Strides of the m/n modes and of the k modes, as written."""
        return self._lists[2], self._lists[3]

    def step(self, name: str, element: Element) -> tuple[int, int] | None:
        """Return the dimension of `LBO` or `SBO` (0 is m/n, 1 is k) and the elements along it after which
        the stride is added, or None if the form does not have it."""
        for dim, (factors, strides) in enumerate(zip(self.factors, self.strides, strict=True)):
            if name in strides:
                inner = factors[: strides.index(name)]
                return dim, prod(_value(factor, element, {}) for factor in inner)
        return None

    @cached_property
    def _lists(self) -> list[list[str]]:
        return [entries.split(",") for entries in re.findall(r"\(([^()]+)\)", self.text)]

    def layout(self, element: Element, m: int, k: int, lbo: int, sbo: int) -> TileLayout:
        """Return the form with numbers for its letters, mode by mode as the ISA writes it.

        Args:
            element: the element type, which gives T.
            m, k: the repeat counts; the operand has `m` patterns along m/n and `k` along k.
            lbo, sbo: the byte offsets; one that the form does not have is ignored.
        """
        values = {
            "m": m,
            "k": k,
            "LBO": lbo * 8 // element.bits,
            "SBO": sbo * 8 // element.bits,
        }
        dims = []
        for factors, strides in zip(self.factors, self.strides, strict=True):
            dims.append(
                tuple(
                    Mode(_value(f, element, values), _value(s, element, values))
                    for f, s in zip(factors, strides, strict=True)
                )
            )
        shape = tuple(_product(dim) for dim in dims)
        return TileLayout(element, shape, tuple(dims), self.swizzle)


#: Canonical layouts by majorness and swizzling mode.
Forms = Mapping[tuple[Major, Swizzle], Form]

#: The ISA's table of eight. T = 128 / bits of the element.
FORMS: Forms = {
    (form.major, form.swizzle): form
    for form in (
        Form(Major.MN, Swizzle.NONE, "((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))"),
        Form(Major.MN, Swizzle.B32, "((T,2,m),(8,k)):((1,T,LBO),(2T,SBO))"),
        Form(Major.MN, Swizzle.B64, "((T,4,m),(8,k)):((1,T,LBO),(4T,SBO))"),
        Form(Major.MN, Swizzle.B128, "((T,8,m),(8,k)):((1,T,LBO),(8T,SBO))"),
        Form(Major.K, Swizzle.NONE, "((8,m),(T,2k)):((1T,SBO),(1,LBO))"),
        Form(Major.K, Swizzle.B32, "((8,m),(T,2k)):((2T,SBO),(1,T))"),
        Form(Major.K, Swizzle.B64, "((8,m),(T,2k)):((4T,SBO),(1,T))"),
        Form(Major.K, Swizzle.B128, "((8,m),(T,2k)):((8T,SBO),(1,T))"),
    )
}


#: `FORMS`, and a form of CuTe that the ISA's table omits: an atom of four lines of 128 bytes, in which
#: 32-bit types are read MN-major.
DENSE_FORMS: Forms = {
    **FORMS,
    (Major.MN, Swizzle.B128_ATOM_32B): Form(
        Major.MN, Swizzle.B128_ATOM_32B, "((T,8,m),(4,k)):((1,T,LBO),(8T,SBO))"
    ),
}


@dataclass(frozen=True)
class Canonical:
    """A canonical layout with its strides.

    Attributes:
        form: the row of the table.
        lbo: leading dimension byte offset in bytes; None where it is not used or has no effect.
        sbo: stride dimension byte offset in bytes; None where it has no effect.
    """

    form: Form
    lbo: int | None
    sbo: int | None

    @property
    def major(self) -> Major:
        """The contiguous dimension."""
        return self.form.major

    @property
    def swizzle(self) -> Swizzle:
        """The swizzling mode."""
        return self.form.swizzle


@dataclass(frozen=True)
class Mismatch:
    """Why a layout is not canonical.

    Attributes:
        reason: why, in words.
        mode: the extent or stride that differs from the form's, in words; None if it is not a single one.
        actual, expected: its value, and the value that the form needs, in elements.
    """

    reason: str
    mode: str | None = None
    actual: int | None = None
    expected: int | None = None


#: The largest number of bytes that a 14-bit field of 16-byte units holds.
MAX_STRIDE_BYTES = (1 << 14) * UNIT_BYTES - UNIT_BYTES


def match(operand: TileLayout, forms: Forms = DENSE_FORMS) -> Canonical | Mismatch:
    """Return the canonical layout of an operand of shape (m/n, k), or why it has none.

    A stride that no element depends on (its factor has extent 1) is None in the result.

    Args:
        operand: the layout. Its element type is not checked.
        forms: the canonical layouts that the instruction reads.

    Example:
        >>> tile = parse_layout("Swizzle<3,4,3> o (64,64):(64,1)", element("bf16"))
        >>> canonical = match(tile)
        >>> canonical.major, canonical.sbo
        (<Major.K: 'k'>, 1024)
        >>> match(parse_layout("(64,64):(72,1)", element("bf16"))).mode
        'the stride of factor 8 along m/n'
    """
    coalesced = _coalesced_operand(operand)
    if isinstance(coalesced, Mismatch):
        return coalesced
    major = Major.MN if coalesced.contiguous_dim == 0 else Major.K
    form = forms.get((major, operand.swizzle))
    if form is None:
        return Mismatch(f"no instruction reads it {major} with a swizzle of {operand.swizzle}")
    return _match_form(coalesced, form)


@lru_cache(maxsize=4096)
def _coalesced_operand(operand: TileLayout) -> TileLayout | Mismatch:
    """Return the layout with the fewest modes, or why no descriptor reads it."""
    # Slicing the whole operand removes an origin that is not needed.
    coalesced = operand.slice((0, 0), operand.shape).layout
    for name, extent, modes, origin in zip(
        ("m/n", "k"), coalesced.shape, coalesced.modes, coalesced.origins, strict=True
    ):
        if origin:
            return Mismatch(_cut_reason(name, extent, modes, origin))
    if coalesced.contiguous_dim is None:
        inner = [modes[0].stride for modes in coalesced.modes]
        return Mismatch(
            f"no dimension is contiguous: the innermost strides are {inner[0]} along m/n and "
            f"{inner[1]} along k, and one of them must be 1"
        )
    return coalesced


@lru_cache(maxsize=4096)
def _match_form(coalesced: TileLayout, form: Form) -> Canonical | Mismatch:
    """Return LBO and SBO with which a layout is a form, or the mode that differs from the form's."""
    free: dict[str, int | None] = {"LBO": None, "SBO": None}
    for dim, name in enumerate(("m/n", "k")):
        problem = _match_dim(coalesced, dim, name, form, free)
        if problem is not None:
            return problem
    for name, stride in free.items():
        if stride is None:
            continue
        size, bits = divmod(stride * coalesced.element.bits, 8)
        if bits or size % UNIT_BYTES or size > MAX_STRIDE_BYTES:
            written = f"{size + bits / 8:g}" if bits else size
            return Mismatch(
                f"{name} would be {written} bytes; a descriptor holds multiples of {UNIT_BYTES} up "
                f"to {MAX_STRIDE_BYTES}"
            )
        free[name] = size
    return Canonical(form, free["LBO"], free["SBO"])


def _cut_reason(name: str, extent: int, modes: tuple[Mode, ...], origin: Start) -> str:
    """Return why an operand with an origin has no descriptor, and at which starts it would have one."""
    step = origin if isinstance(origin, int) else origin.of
    atoms = accumulate((mode.extent for mode in modes[:-1]), mul)
    atom, further = next((a, m) for a, m in zip(atoms, modes[1:], strict=True) if step % a)
    within = origin % atom if isinstance(origin, int) else origin
    fit = extent if atom % extent == 0 else atom
    return (
        f"it cuts an atom: along {name}, it begins {start_text(within)} elements into one of {atom} and "
        f"is {extent} long, but the next is {further.stride} elements apart and no descriptor reads "
        f"across; begin at a multiple of {fit}" + (", or stay inside one" if fit == atom else "")
    )


def _match_dim(
    layout: TileLayout, dim: int, name: str, form: Form, free: dict[str, int | None]
) -> Mismatch | None:
    """Match one dimension to the form, factor by factor, innermost first."""
    form_text = f"{form.major}, swizzle {form.swizzle}, is {form.swizzle.cute} o {form.text}"
    remaining = list(layout.modes[dim])
    for factor, stride_text in zip(form.factors[dim], form.strides[dim], strict=True):
        if not remaining:
            break
        unbounded = factor in ("m", "k", "2k")
        extent = None if unbounded else _value(factor, layout.element, {})
        if extent == 1:
            continue
        mode = remaining[0]
        if extent is None:
            if len(remaining) > 1:
                return Mismatch(
                    f"along {name}, the repeats of the pattern have no single stride: "
                    f"{mode.stride} elements, then {remaining[1].stride} after {mode.extent} of "
                    f"them; {form_text}",
                    f"the stride of repeat {mode.extent} along {name}",
                    remaining[1].stride,
                    mode.stride * mode.extent,
                )
            factor_mode = remaining.pop(0)
        elif (mode.extent > extent and mode.extent % extent == 0) or len(remaining) == 1:
            # The last mode may end inside a factor: the operand is then smaller than the pattern.
            factor_mode = Mode(min(extent, mode.extent), mode.stride)
            repeats = -(-mode.extent // extent)
            remaining[0] = Mode(repeats, mode.stride * extent)
            if repeats == 1:
                remaining.pop(0)
        elif mode.extent == extent:
            factor_mode = remaining.pop(0)
        else:
            return Mismatch(
                f"along {name}, {mode.extent} elements have the stride {mode.stride}, but the "
                f"pattern needs {extent} in a row; {form_text}",
                f"the extent of factor {factor} along {name}",
                mode.extent,
                extent,
            )
        if factor_mode.extent == 1:
            continue
        if stride_text in free:
            free[stride_text] = factor_mode.stride
        elif factor_mode.stride != (expected := _value(stride_text, layout.element, {})):
            return Mismatch(
                f"along {name}, the stride of factor {factor} is {factor_mode.stride} elements where "
                f"{stride_text} = {expected} is needed; {form_text}",
                f"the stride of factor {factor} along {name}",
                factor_mode.stride,
                expected,
            )
    return None


def _value(text: str, element: Element, values: dict[str, int]) -> int:
    """Return the value of an entry of a form, in elements."""
    match = re.fullmatch(r"(\d*)([A-Za-z]*)", text)
    assert match is not None
    number, letter = match.groups()
    scale = int(number) if number else 1
    if not letter:
        return scale
    return scale * (element.unit if letter == "T" else values[letter])


def _product(modes: tuple[Mode, ...]) -> int:
    count = 1
    for mode in modes:
        count *= mode.extent
    return count
