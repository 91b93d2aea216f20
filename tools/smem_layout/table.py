"""Prints the canonical layouts of the ISA, or which of them each type of A and B is read in; of
tcgen05, the shapes of its kinds, or the scale factors that they take."""

import argparse
from typing import Any

from ...layout import Arch
from ..inputs import InputError
from .arguments import add_arch, arch_of
from .printed import printed_json

SUMMARY = "the canonical layouts, the types, tcgen05's kinds and their scale factors"

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
_KINDS = ("kind", "A and B", "D", "K", "M", "N", "M of two blocks", "N of two blocks")
_SCALES = {
    "kind": "kind",
    "factors of": "scale",
    "elements a factor": "block",
    "K": "k",
    "factors a row": "factors",
    "vector": "vector",
    "ids": "ids",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the architecture, and which table."""
    add_arch(parser)
    which = parser.add_mutually_exclusive_group()
    for name, shows in (
        ("--types", "the types, with the majors and swizzles of each"),
        ("--kinds", "tcgen05's kinds, with the shapes of their instructions (default: of sm_100)"),
        ("--scales", "the scale factors that kinds take, and how they lie (default: of sm_100)"),
    ):
        which.add_argument(name, action="store_true", help=shows)


def run(options: argparse.Namespace) -> int:
    """Prints the table."""
    from ...advisor.columns import columns
    from ...advisor.table import forms, types

    if options.kinds or options.scales:
        return _of_kinds(options)
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


def _of_kinds(options: argparse.Namespace) -> int:
    """Prints a table of what `tcgen05` alone has."""
    from ...advisor.columns import columns
    from ...advisor.kind_rows import kinds, scale_block, scales

    arch = arch_of(options, Arch.SM_100)
    if not arch.is_tcgen05:
        others = " and ".join(str(other) for other in Arch if other.is_tcgen05)
        raise InputError(f"{arch} has no kinds of instructions; {others} have")
    if options.kinds:
        rows = [row.data() for row in kinds(arch)]
        if options.json:
            return printed_json(rows)
        print(columns(_KINDS, [_kind_cells(row) for row in rows]))
        print(f"\n{_kind_notes(arch)}")
        return 0
    rows, block = [row.data() for row in scales(arch)], scale_block()
    if options.json:
        return printed_json({"block": block, "kinds": rows})
    print(columns(list(_SCALES), [[_cell(row[key]) for key in _SCALES.values()] for row in rows]))
    print(f"\n{_scale_notes(block)}")
    return 0


def _kind_cells(row: dict[str, Any]) -> list[str]:
    """The cells of a kind."""
    from ...advisor.kind_rows import runs

    types = _cell(row["types"]) + (" (the same)" if row["same"] else "")
    shapes = [runs(shape[name]) for shape in row["shapes"] for name in ("m", "n")]
    return [row["kind"], types, _cell(row["accumulators"]), _cell(row["k"]), *shapes]


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


def _kind_notes(arch: Arch) -> str:
    """How the table of kinds is to be read."""
    long = " or K is 96," if arch.has_absolute_lbo else ""
    return (
        "M and N are those of all blocks: of two (cta_group::2), each has half the rows of A and half "
        f"the columns of B.\nWhere a B of 8 bits is N-major,{long} N is a multiple of 16, and of two "
        "blocks of 32."
    )


def _scale_notes(block: dict[str, Any]) -> str:
    """How scale factors lie."""
    rows, factors = block["shape"]
    return (
        f"A block of {rows} rows by {factors} factors: {block['layout']} in shared memory, "
        f"{block['bytes']} bytes;\ntcgen05.cp.32x128b.warpx4 by the descriptor {block['descriptor']} | "
        f"(address & 0x3ffff) >> 4 brings it\nto {block['columns']} columns of tensor memory. An id is "
        "the byte of a lane and column at which an instruction's factors begin."
    )


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)
