"""Encodes matrix descriptors: one from its fields (--start, --lbo, --sbo in bytes, --swizzle,
--base-offset, --absolute), or those of all instructions from the layout of a tile; for a tile of scale
factors (--role scales), those of the copies to tensor memory."""

import argparse

from ...inputs import InputError
from ..arguments import SCALES, arch_of, element_of, notes_of, number
from ..printing import print_answer
from ..tiles import SWIZZLES, add_tile, is_given, scale_tile_of, tile_of

SUMMARY = "the descriptor of given fields, or of a tile's layout"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the fields and the tile."""
    parser.add_argument("--start", default="0", help="address, in bytes; default: 0")
    parser.add_argument("--lbo", help="leading dimension byte offset")
    parser.add_argument("--sbo", help="stride dimension byte offset")
    parser.add_argument("--base-offset", help="0 to 7; default: 0")
    parser.add_argument(
        "--absolute",
        action="store_true",
        help="LBO is an absolute address, for a K of 48 bytes (sm_103)",
    )
    parser.add_argument(
        "--k-bytes", help="with a tile: K of one instruction in bytes; 48 on sm_103 (default: 32)"
    )
    add_tile(parser, required=False)


def run(options: argparse.Namespace) -> int:
    """Print the answer."""
    from ....advisor import encode, encode_operand
    from ....layout import LayoutError, Mismatch

    start, arch = number(options, "start", "0x400"), arch_of(options)
    lbo, sbo = number(options, "lbo", "16"), number(options, "sbo", "1024")
    offset = number(options, "base_offset", "0")
    assert start is not None
    if is_given(options):
        if options.absolute or any(value is not None for value in (lbo, sbo, offset)):
            raise InputError(
                "--lbo, --sbo, --base-offset and --absolute follow from the tile's layout"
            )
        if options.role == SCALES:
            if options.k_bytes is not None:
                raise InputError("--k-bytes is for operands, not for scale factors")
            scales = scale_tile_of(options)
            return print_answer(scales.encoded(start), options.json, notes_of(order=scales.order))
        if number(options, "k_bytes", "48") not in (None, 32):
            return _chunks(options, start)
        tile = tile_of(options)
        if isinstance(tile.found, Mismatch):
            hint = tile.order and tile.order.hint
            raise LayoutError(f"{tile.found.reason}; {hint}" if hint else tile.found.reason)
        answer = encode_operand(tile.found, start)
        return print_answer(answer, options.json, notes_of(order=tile.order))
    if options.k_bytes is not None:
        raise InputError("--k-bytes is for a tile; for fields, give --absolute")
    if lbo is None or sbo is None:
        raise InputError("give --lbo and --sbo, or a tile by a layout, --shape or --map")
    swizzle = SWIZZLES[options.swizzle or "none"]
    element, rows = element_of(options), number(options, "rows", "64")
    answer = encode(
        start, lbo, sbo, swizzle, offset or 0, arch, options.absolute, element=element, rows=rows
    )
    return print_answer(answer, options.json)


def _chunks(options: argparse.Namespace, start: int) -> int:
    """Print the answer for rows that are read in chunks."""
    from ....advisor import encode_chunks
    from ....layout import Role

    k_bytes, arch = number(options, "k_bytes", "48"), arch_of(options)
    if k_bytes not in arch.k_bytes:
        supported = " or ".join(map(str, arch.k_bytes))
        raise InputError(f"--k-bytes is {k_bytes}, but {arch} reads {supported} of each row")
    if options.rows is not None:
        raise InputError("--rows is for a K of 32 bytes; for others, N is that of the mma")
    tile = tile_of(options)
    if tile.layout is None:
        raise InputError("no layout matches the map")
    answer = encode_chunks(tile.layout, Role(options.role), start, arch)
    return print_answer(answer, options.json, notes_of(order=tile.order))
