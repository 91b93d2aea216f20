"""Arguments of several subcommands, and their parsing."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...layout import Arch, Element, LayoutError, Major, Role
from ...layout.text_error import TextError
from ..inputs import InputError

if TYPE_CHECKING:
    from ...advisor.numbers import BitPattern
    from ...advisor.order import DimensionOrder

#: The example in messages about descriptors.
DESCRIPTOR = "0x4000004000010000"


def add_arch(parser: argparse.ArgumentParser) -> None:
    """Add `--arch`."""
    names = ", ".join(map(str, Arch))
    parser.add_argument(
        "--arch",
        metavar="ARCH",
        help=f"the architecture: {names} (sm_90: wgmma, the others: tcgen05); default: sm_90",
    )


def add_element(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add `--element`."""
    hopper = Arch.SM_90.elements
    tcgen05_only = [name for name in Arch.SM_100.elements if name not in hopper]
    parser.add_argument(
        "--element",
        metavar="TYPE",
        required=required,
        help=f"element type: {', '.join(hopper)}; for tcgen05 also {', '.join(tcgen05_only)}",
    )


#: Doubts about a descriptor that cannot be decoded: more than suspicions.
_MOST_DOUBTS = 1000

#: The role of a tile of scale factors, (rows, factors), which is not an operand.
SCALES = "scales"


def add_role(parser: argparse.ArgumentParser) -> None:
    """Add `--role` and `--rows`."""
    parser.add_argument(
        "--role",
        choices=[*(role.value for role in Role), SCALES],
        default="a",
        help="the tile is A (M, K), B (K, N), or scale factors of tcgen05 (rows, factors), of ue8m0 or "
        "ue4m3; default: a",
    )
    parser.add_argument(
        "--rows",
        help="extent along m/n of one instruction; default: its M for A, the N of the mma for B",
    )


def add_order(parser: argparse.ArgumentParser) -> None:
    """Add `--order`."""
    parser.add_argument(
        "--order",
        metavar="DIMS",
        help="the order of the tile's dimensions: m,k of A or k,n of B, or rows,factors, and stages; "
        "default: m,k, or k,n, or rows,factors, with stages in front; CuTe's are m,k,stages and "
        "n,k,stages",
    )


def order_of(options: argparse.Namespace, role: Role | None, rank: int) -> DimensionOrder:
    """Return the order of a tile's dimensions, from `--order` or assumed.

    Raises:
        TextError: if `--order` does not name the dimensions.
    """
    from ...advisor.order import assumed_order, parse_order

    if options.order is None:
        return assumed_order(role, rank)
    return parse_order(options.order, role, rank)


def add_major(parser: argparse.ArgumentParser) -> None:
    """Add `--major`."""
    parser.add_argument(
        "--major", choices=[major.value for major in Major], help="the contiguous dimension"
    )


def arch_of(options: argparse.Namespace, default: Arch = Arch.SM_90) -> Arch:
    """Return the architecture.

    Raises:
        TextError: if there is none with that name.
    """
    return Arch.parse(options.arch) if options.arch is not None else default


def element_of(options: argparse.Namespace) -> Element | None:
    """Return the element type; None without `--element`.

    Raises:
        TextError: if the architecture has no A or B of that type.
    """
    if options.element is None:
        return None
    types = arch_of(options).elements
    if options.element not in types:
        problem = f"expected one of {', '.join(types)}"
        raise TextError("element type", options.element, 0, problem, "bf16")
    return types[options.element]


def scale_element_of(options: argparse.Namespace) -> Element:
    """Return the type of the scale factors.

    Raises:
        InputError: without `--element`.
        TextError: if scale factors do not have that type.
    """
    from ...layout.tcgen05 import SCALE_ELEMENTS

    if options.element is None:
        raise InputError("a tile needs --element")
    if options.element not in SCALE_ELEMENTS:
        problem = f"expected one of {', '.join(SCALE_ELEMENTS)}"
        raise TextError("type of scale factors", options.element, 0, problem, "ue8m0")
    return SCALE_ELEMENTS[options.element]


def major_of(options: argparse.Namespace) -> Major | None:
    """Return the major-ness; None without `--major`."""
    return Major(options.major) if options.major else None


def number(options: argparse.Namespace, name: str, example: str) -> int | None:
    """Return the value of an option as a number; None without the option.

    Raises:
        TextError: if the value is not a number.
    """
    from ...advisor.numbers import parse_number

    text = getattr(options, name)
    return None if text is None else parse_number(f"--{name}".replace("_", "-"), text, example)


def bit_pattern(
    subject: str,
    text: str,
    example: str,
    suspicions: Callable[[int], Sequence[object]],
    bits: int = 64,
) -> BitPattern:
    """Parse a descriptor; of two readings of its digits, the one with fewer suspicions.

    Args:
        subject, text, example, bits: as for `parse_bits`.
        suspicions: returns the suspicious values of a descriptor.

    Raises:
        TextError: if it is not a number, or does not fit.
    """
    from ...advisor.numbers import parse_bits

    def doubts(value: int) -> int:
        try:
            return len(suspicions(value))
        except LayoutError:
            return _MOST_DOUBTS

    return parse_bits(subject, text, example, doubts, bits)


def notes_of(pattern: BitPattern | None = None, order: DimensionOrder | None = None) -> list[str]:
    """Return notes on the reading of a command line that is ambiguous."""
    notes = [pattern.note] if pattern is not None and pattern.note else []
    return [*notes, *([f"order: {order}"] if order is not None and not order.is_obvious else [])]
