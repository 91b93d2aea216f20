"""Prints the canonical layouts of the ISA, or which of them each type of A and B is read in."""

import argparse

from ...layout import Arch
from .arguments import add_arch, arch_of
from .printed import printed_json

SUMMARY = "the canonical layouts, and which types are read in them"

_FORMS = {
    "major": "major",
    "swizzle": "swizzle",
    "layout": "layout",
    "LBO": "lbo",
    "SBO": "sbo",
    "field": "descriptor_mode",
    "alignment": "alignment",
    "tensor map": "tensor_map",
}
_TYPES = {"type": "type", "bits": "bits", "K": "k", "K-major": "k_major", "MN-major": "mn_major"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the architecture, and which table."""
    add_arch(parser)
    parser.add_argument(
        "--types", action="store_true", help="the types, with the majors and swizzles of each"
    )


def run(options: argparse.Namespace) -> int:
    """Prints the table."""
    from ...assistant.columns import columns
    from ...assistant.table import forms, types

    arch = arch_of(options)
    rows = [row.data() for row in (types(arch) if options.types else forms(arch))]
    if options.json:
        return printed_json(rows)
    heads = _FORMS
    if options.types:
        heads = _TYPES | ({"kinds": "kinds"} if arch.is_tcgen05 else {})
    print(columns(list(heads), [[_cell(row[key]) for key in heads.values()] for row in rows]))
    print(f"\n{_type_notes(arch) if options.types else _FORM_NOTES}")
    return 0


_FORM_NOTES = (
    "T is 16 bytes in elements; LBO and SBO are byte offsets. Alignment in bytes. The types that are "
    "read so: --types."
)


def _type_notes(arch: Arch) -> str:
    """How the table of types is to be read."""
    said = "K is that of one instruction, 32 bytes. A dash stands where a type is not read so."
    if not arch.is_tcgen05:
        return said
    return (
        f"{said}\nOf a type named _p32 or _p64, 16 elements take 16 bytes, the last of which hold "
        "nothing: its bits are counted so."
    )


def _cell(value: object) -> str:
    return ", ".join(map(str, value)) or "-" if isinstance(value, list) else str(value)
