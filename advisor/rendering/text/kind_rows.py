"""The kinds of `tcgen05.mma` and their scale factors, as text."""

from __future__ import annotations

from collections.abc import Sequence

from ....layout import Arch
from ...answer import data, text
from ...kind_rows import KindRow, KindTable, ScaleBlock, ScaleTable
from ..tables import cell, columns, columns_of

_KINDS = ("kind", "A and B", "D", "K", "M", "N", "M of a CTA pair", "N of a CTA pair")

#: For the head of each column, the key of its values in a row's data.
_SCALES = {
    "kind": "kind",
    "scale type": "scale",
    "block size": "block",
    "K": "k",
    "factors per row": "factors",
    "qualifier": "vector",
    "IDs": "ids",
}


@text.register
def _(table: KindTable) -> str:
    return f"{columns(_KINDS, [_cells(row) for row in table.rows])}\n\n{_kind_notes(table.arch)}"


@text.register
def _(table: ScaleTable) -> str:
    rows = columns_of(_SCALES, [data(row) for row in table.rows])
    return f"{rows}\n\n{_scale_notes(table.block)}"


def runs(numbers: Sequence[int]) -> str:
    """Return ascending numbers as ranges, for example `8, 16, 24, 32-256 by 16`."""
    if len(numbers) < 3:
        return ", ".join(map(str, numbers))
    step = numbers[-1] - numbers[-2]
    first = len(numbers) - 2
    while first and numbers[first] - numbers[first - 1] == step:
        first -= 1
    return ", ".join([*map(str, numbers[:first]), f"{numbers[first]}-{numbers[-1]} by {step}"])


def _cells(row: KindRow) -> list[str]:
    """Return the cells of a kind; the columns are `_KINDS`."""
    kind = row.kind
    types = cell(list(kind.codes)) + (" (the same)" if kind.same else "")
    shapes = [runs(numbers) for each in row.shapes for numbers in (each.m, each.n)]
    return [str(kind), types, cell(list(kind.accumulators)), cell(row.k), *shapes]


def _kind_notes(arch: Arch) -> str:
    """Return the notes below the table of kinds."""
    long = " or K is 96," if arch.has_absolute_lbo else ""
    return (
        "M and N are over all CTAs: in a CTA pair (cta_group::2), each CTA has half of the rows of A and "
        f"half of the columns of B.\nWhere a B of 8 bits is N-major,{long} N is a multiple of 16, and "
        "of 32 in a CTA pair."
    )


def _scale_notes(block: ScaleBlock) -> str:
    """Return the notes about the layout of scale factors."""
    values = data(block)
    rows, factors = block.layout.shape
    return (
        "Block size: elements along K per scale factor. ID: the first byte of an instruction's "
        f"factors in a 4-byte word.\nFactors of {rows} rows by {factors} are a block in shared memory, "
        f"{block.layout}, {values['bytes']} bytes.\ntcgen05.cp.32x128b.warpx4 with descriptor "
        f"{values['descriptor']} | (address & 0x3ffff) >> 4\ncopies it to {values['columns']} columns "
        "of tensor memory."
    )
