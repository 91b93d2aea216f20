"""The kinds of `tcgen05.mma` and their scale factors, as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from ....layout import Arch
from ...answer import data, text
from ...kind_rows import KindRow, KindTable, ScaleBlock, ScaleTable
from ..tables import cell, columns, columns_of

_KINDS = ("kind", "A and B", "D", "K", "M", "N", "M of two blocks", "N of two blocks")

#: The heads of the columns, and what of a row's data stands below each.
_SCALES = {
    "kind": "kind",
    "factors of": "scale",
    "elements a factor": "block",
    "K": "k",
    "factors a row": "factors",
    "vector": "vector",
    "ids": "ids",
}


@text.register
def _(table: KindTable) -> str:
    return f"{columns(_KINDS, [_cells(row) for row in table.rows])}\n\n{_kind_notes(table.arch)}"


@text.register
def _(table: ScaleTable) -> str:
    rows = columns_of(_SCALES, [data(row) for row in table.rows])
    return f"{rows}\n\n{_scale_notes(table.block)}"


def runs(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words, for example `8, 16, 24, 32-256 by 16`."""
    if len(numbers) < 3:
        return ", ".join(map(str, numbers))
    step = numbers[-1] - numbers[-2]
    first = len(numbers) - 2
    while first and numbers[first] - numbers[first - 1] == step:
        first -= 1
    said = [*map(str, numbers[:first]), f"{numbers[first]}-{numbers[-1]} by {step}"]
    return ", ".join(said)


def _cells(row: KindRow) -> list[str]:
    """The cells of a kind, as `_KINDS` names them."""
    kind = row.kind
    types = cell(list(kind.codes)) + (" (the same)" if kind.same else "")
    shapes = [runs(numbers) for each in row.shapes for numbers in (each.m, each.n)]
    return [str(kind), types, cell(list(kind.accumulators)), cell(row.k), *shapes]


def _kind_notes(arch: Arch) -> str:
    """How the table of kinds is to be read."""
    long = " or K is 96," if arch.has_absolute_lbo else ""
    return (
        "M and N are those of all blocks: of two (cta_group::2), each has half the rows of A and half "
        f"the columns of B.\nWhere a B of 8 bits is N-major,{long} N is a multiple of 16, and of two "
        "blocks of 32."
    )


def _scale_notes(block: ScaleBlock) -> str:
    """How scale factors lie."""
    told = data(block)
    rows, factors = block.layout.shape
    return (
        f"A block of {rows} rows by {factors} factors: {block.layout} in shared memory, "
        f"{told['bytes']} bytes;\ntcgen05.cp.32x128b.warpx4 by the descriptor {told['descriptor']} | "
        f"(address & 0x3ffff) >> 4 brings it\nto {told['columns']} columns of tensor memory. An id is "
        "the byte of a lane and column at which an instruction's factors begin."
    )
