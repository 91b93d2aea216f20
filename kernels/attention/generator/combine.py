"""The kernel that combines the results of parts of the keys, as FlashDecoding does (Dao et al., 2023)."""

from __future__ import annotations

from typing import Any

from .... import language as sl
from ....dialect import new_context
from ....language.build import Options
from ....language.traced_function import TracedFunction
from ....layout.wgmma import INSTRUCTION_M
from .division import divided
from .problem import Problem

#: The rows of a head in the arrays of parts: the queries of one warpgroup.
ROWS = INSTRUCTION_M

#: The columns of a CTA. It waits for memory, so many CTAs have few columns each.
_COLUMNS = 16

#: The parts that are loaded before the first of them is needed.
_AHEAD = 8


def combine_text(problem: Problem) -> str:
    """Return a module with the kernel `combine(P, T, O, L)`, as text.

    P (Z, B, H, 64, d) of f32 has the results of Z parts of the keys, T (Z, B, H, 64) the logarithms of
    their sums of exponentials. O (B, H, M, d) gets the results of all keys, and L (B, H, M) the
    logarithms, if the problem has them; M is at most 64.
    """
    shapes = {
        "P": f"(Z,B,H,{ROWS},{problem.dim})",
        "T": f"(Z,B,H,{ROWS})",
        "O": f"(B,H,M,{problem.dim}):(?,?,?,1)",
    }
    types: dict[str, Any] = {"P": "f32", "T": "f32", "O": problem.result}
    if problem.lse:
        shapes["L"], types["L"] = "(B,H,M)", "f32"
    kernel = _combine_with_lse if problem.lse else _combine
    with new_context():
        traced = TracedFunction(kernel, ", ".join(shapes.values()), Options(1))
        return str(traced.trace(*types.values()))


def combine_grid(problem: Problem, heads: int) -> tuple[int, int]:
    """Return the kernel's grid, for heads of all batches."""
    return heads, problem.dim // _COLUMNS


def _combine_with_lse(P: Any, T: Any, O: Any, L: Any) -> None:  # noqa: E741, N803
    lse, batch, head = _combined(P, T, O)
    with sl.when(sl.block_id(1) < 1):
        sl.store(lse, L[batch, head, sl.ds(0, ROWS)], rows=O.shape[2])


def _combine(P: Any, T: Any, O: Any) -> None:  # noqa: E741, N803
    _combined(P, T, O)


def _combined(parts: Any, logarithms: Any, result: Any) -> tuple[sl.Fragment, sl.Index, sl.Index]:
    """Store columns of the result of a head; return its logarithms, and where the head is."""
    _, heads, queries, _ = result.shape
    batch, head = divided(sl.block_id(0), heads)
    own, columns = sl.ds(0, ROWS), sl.ds(sl.block_id(1) * _COLUMNS, _COLUMNS)
    count = parts.shape[0]
    maximum = sl.full((ROWS,), float("-inf"), sl.f32, axis=1)
    total = sl.full((ROWS,), 0.0, sl.f32, axis=1)
    o = sl.zeros((ROWS, _COLUMNS), sl.f32)
    for first in sl.range(0, count, _AHEAD):
        found = []
        for each in range(_AHEAD):
            # The last part stands for those behind it, with the weight 0.
            part = sl.unsigned(sl.minimum(first + each, count - 1))
            logarithm = sl.load(logarithms[part, batch, head, own], axis=1)
            logarithm = sl.where(first + each < count, logarithm, float("-inf"))
            found.append((logarithm, sl.load(parts[part, batch, head, own, columns])))
        larger = maximum
        for logarithm, _ in found:
            larger = sl.maximum(larger, logarithm)
        # The difference of infinities is NaN.
        shift = sl.where(larger > float("-inf"), larger, 0.0)
        shrink = sl.exp(maximum - shift)
        o, total = o * shrink, total * shrink
        for logarithm, values in found:
            weight = sl.exp(logarithm - shift)
            o, total = o + values * weight, total + weight
        maximum = larger
    some = total > 0.0
    normalised = o * sl.where(some, sl.fdiv(1.0, total), 0.0)
    sl.store(normalised, result[batch, head, own, columns], rows=queries)
    return sl.where(some, maximum + sl.log(total), float("-inf")), batch, head
