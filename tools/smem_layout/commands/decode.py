"""Decodes a descriptor and reports suspicious values: the 64-bit matrix descriptor of an operand, with
--scales that of a block of scale factors, or with --instruction the 32-bit instruction descriptor of
tcgen05."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....layout import Arch
from ....layout.text_error import TextError
from ...inputs import InputError
from ..arguments import (
    DESCRIPTOR,
    add_arch,
    add_element,
    add_major,
    arch_of,
    bit_pattern,
    element_of,
    major_of,
    notes_of,
    number,
)
from ..printing import print_answer

if TYPE_CHECKING:
    from ....advisor import Decoded, DecodedCopy, DecodedInstruction

SUMMARY = "a descriptor's fields, the bytes it reads, suspicious values"

_INSTRUCTION = "0x08400010"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the descriptor and the instruction's properties."""
    parser.add_argument(
        "descriptor",
        nargs="?",
        help=f"for example {DESCRIPTOR}; digits as C, MLIR or LLVM IR print them, too",
    )
    parser.add_argument(
        "--instruction",
        metavar="BITS",
        help=f"instead, an instruction descriptor of tcgen05, for example {_INSTRUCTION}",
    )
    parser.add_argument("--kind", help="kind of --instruction, for example f16")
    parser.add_argument(
        "--scales",
        action="store_true",
        help="a descriptor of tcgen05.cp, of a block of scale factors",
    )
    add_arch(parser)
    add_element(parser, required=False)
    add_major(parser)
    parser.add_argument("--rows", help="extent along m/n: M for A, N for B; default: the M of A")
    parser.add_argument(
        "--k-bytes",
        help="bytes along K of one instruction; default: 32, or 48 where LBO is an address",
    )
    parser.add_argument(
        "--at", metavar="ADDRESS", help="start of the tile; default: the descriptor's start"
    )


def run(options: argparse.Namespace) -> int:
    """Print the answer."""
    from ....advisor import decode

    if (options.descriptor is None) == (options.instruction is None):
        raise InputError("give one of a descriptor and --instruction")
    if options.instruction is not None:
        return _instruction(options)
    if options.kind is not None:
        raise InputError("--kind is for --instruction; for an operand, give --element")
    if options.scales:
        return _copy(options)
    rows, k_bytes = number(options, "rows", "64"), number(options, "k_bytes", "32")
    start, arch = number(options, "at", "0x400"), arch_of(options)
    element, major = element_of(options), major_of(options)

    def decode_bits(bits: int) -> Decoded:
        return decode(bits, element, major, rows, start, arch, k_bytes)

    return _print_decoded("descriptor", options.descriptor, DESCRIPTOR, decode_bits, options.json)


def _print_decoded(
    subject: str,
    text: str,
    example: str,
    decode_bits: Callable[[int], Decoded | DecodedCopy | DecodedInstruction],
    as_json: bool,
    bits: int = 64,
) -> int:
    """Print a decoded descriptor; of two readings of its digits, the one with fewer suspicions."""
    pattern = bit_pattern(subject, text, example, lambda value: decode_bits(value).suspicions, bits)
    return print_answer(decode_bits(pattern.value), as_json, notes_of(pattern))


def _copy(options: argparse.Namespace) -> int:
    """Print the answer for a descriptor of a block of scale factors."""
    from ....advisor import decode_copy

    _reject_operand_options(options, "--scales")
    arch = arch_of(options, Arch.SM_100)
    return _print_decoded(
        "descriptor",
        options.descriptor,
        DESCRIPTOR,
        lambda bits: decode_copy(bits, arch),
        options.json,
    )


def _reject_operand_options(options: argparse.Namespace, other: str) -> None:
    """Reject options for operands with --scales and --instruction."""
    for name in ("element", "major", "rows", "k_bytes", "at"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} is for an operand, not for {other}")


def _instruction(options: argparse.Namespace) -> int:
    """Print the answer for an instruction descriptor."""
    from ....advisor import decode_instruction
    from ....layout.tcgen05 import KINDS

    _reject_operand_options(options, "--instruction")
    if options.scales:
        raise InputError("--scales is for a descriptor, not for --instruction")
    if options.kind is None:
        raise InputError(f"--instruction needs --kind, one of {', '.join(KINDS)}")
    if options.kind not in KINDS:
        problem = f"expected one of {', '.join(KINDS)}"
        raise TextError("kind", options.kind, 0, problem, "f16")
    kind, arch = KINDS[options.kind], arch_of(options, Arch.SM_100)
    return _print_decoded(
        "--instruction",
        options.instruction,
        _INSTRUCTION,
        lambda bits: decode_instruction(bits, kind, arch),
        options.json,
        32,
    )
