"""The kernel that combines the results of parts of the keys, as FlashDecoding does (Dao et al., 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .... import language as sl
from ....dialect import new_context
from ....language.options import KernelOptions
from ....layout.wgmma import INSTRUCTION_M
from .arguments import trace_kernel
from .division import divmod_u32
from .problem import Problem

#: The rows of a head in the arrays of parts: the queries of one warpgroup.
ROWS = INSTRUCTION_M

#: The columns of a CTA. It waits for memory, so many CTAs have few columns each.
_COLUMNS = 16

#: The parts that are loaded before the first of them is needed.
_AHEAD = 8


def combine_text(problem: Problem) -> str:
    """Return a module with the kernel `combine(P, T, O, L)`, as text.

    P (Z, B, T, 64, d) of f32 has the results of Z parts of the keys for the rows of T tiles, one for each
    head, or for as many heads as the problem has in a tile; T (Z, B, T, 64) the logarithms of
    their sums of exponentials. O (B, H, M, d) gets the results of all keys, and L (B, H, M) the
    logarithms, if the problem has them; M is at most 64 divided by the heads of a tile.
    """
    shapes = {
        "P": f"(Z,B,T,{ROWS},{problem.dim})",
        "T": f"(Z,B,T,{ROWS})",
        "O": f"(B,H,M,{problem.dim}):(?,?,?,1)",
    }
    types: dict[str, Any] = {"P": "f32", "T": "f32", "O": problem.result}
    if problem.lse:
        shapes["L"], types["L"] = "(B,H,M)", "f32"

    def combine(*arguments: Any) -> None:
        _store_columns(dict(zip(shapes, arguments, strict=True)), problem.heads)

    with new_context():
        return str(trace_kernel(combine, shapes, types, KernelOptions(1)))


def combine_grid(problem: Problem, tiles: int) -> tuple[int, int]:
    """Return the kernel's grid, for the tiles of all batches."""
    return tiles, problem.dim // _COLUMNS


def _store_columns(arrays: Mapping[str, Any], heads: int) -> None:
    """Store columns of the result of a tile, and its logarithms.

    Args:
        arrays: the kernel's.
        heads: the heads of a tile.
    """
    parts, result = arrays["P"], arrays["O"]
    queries = result.shape[2]
    batch, tile = divmod_u32(sl.block_id(0), parts.shape[2])
    columns = sl.ds(sl.block_id(1) * _COLUMNS, _COLUMNS)
    o, lse = _combine_parts(parts, arrays["T"], (batch, tile, sl.ds(0, ROWS)), columns)
    output_rows: tuple[Any, ...] = batch, tile, sl.ds(0, ROWS)
    if heads > 1:
        output_rows = batch, sl.ds(tile * heads, heads), sl.ds(0, ROWS // heads)
    sl.store(o, result[*output_rows, columns], rows=queries)
    if "L" in arrays:
        with sl.when(sl.block_id(1) < 1):
            sl.store(lse, arrays["L"][output_rows], rows=queries)


def _combine_parts(
    parts: Any, logarithms: Any, rows: tuple[Any, ...], columns: Any
) -> tuple[sl.Fragment, sl.Fragment]:
    """Return columns of the result of a tile, and its logarithms."""
    count = parts.shape[0]
    maximum = sl.full((ROWS,), float("-inf"), sl.f32, axis=1)
    total = sl.full((ROWS,), 0.0, sl.f32, axis=1)
    o = sl.zeros((ROWS, _COLUMNS), sl.f32)
    for first in sl.range(0, count, _AHEAD):
        parts_ahead = []
        for offset in range(_AHEAD):
            # Beyond the last part, the last part is loaded again, with the weight 0.
            part = sl.unsigned(sl.minimum(first + offset, count - 1))
            logarithm = sl.load(logarithms[part, *rows], axis=1)
            logarithm = sl.where(first + offset < count, logarithm, float("-inf"))
            parts_ahead.append((logarithm, sl.load(parts[part, *rows, columns])))
        larger = maximum
        for logarithm, _ in parts_ahead:
            larger = sl.maximum(larger, logarithm)
        # The difference of infinities is NaN.
        shift = sl.where(larger > float("-inf"), larger, 0.0)
        shrink = sl.exp(maximum - shift)
        o, total = o * shrink, total * shrink
        for logarithm, values in parts_ahead:
            weight = sl.exp(logarithm - shift)
            o, total = o + values * weight, total + weight
        maximum = larger
    has_keys = total > 0.0
    lse = sl.where(has_keys, maximum + sl.log(total), float("-inf"))
    return o * sl.where(has_keys, sl.fdiv(1.0, total), 0.0), lse
