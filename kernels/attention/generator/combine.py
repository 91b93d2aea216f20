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


def combine_text(problem: Problem) -> str:
    """Return a module with the kernel `combine(P, T, O, L)`, as text.

    P (Z, B, H, 64, d) of f32 has the results of Z parts of the keys, T (Z, B, H, 64) the logarithms of
    their sums of exponentials. O (B, H, M, d) gets the results of all keys, and L (B, H, M) the
    logarithms, if the problem has them; M is at most 64. The grid has a CTA for each head.
    """
    shapes = {
        "P": f"(Z,B,H,{ROWS},{problem.dim})",
        "T": f"(Z,B,H,{ROWS})",
        "O": f"(B,H,M,{problem.dim}):(?,?,?,1)",
    }
    types: dict[str, Any] = {"P": "f32", "T": "f32", "O": problem.element}
    if problem.lse:
        shapes["L"], types["L"] = "(B,H,M)", "f32"
    kernel = _combine_with_lse if problem.lse else _combine
    with new_context():
        traced = TracedFunction(kernel, ", ".join(shapes.values()), Options(1))
        return str(traced.trace(*types.values()))


def _combine_with_lse(P: Any, T: Any, O: Any, L: Any) -> None:  # noqa: E741, N803
    lse, batch, head = _combined(P, T, O)
    sl.store(lse, L[batch, head, sl.ds(0, ROWS)], rows=O.shape[2])


def _combine(P: Any, T: Any, O: Any) -> None:  # noqa: E741, N803
    _combined(P, T, O)


def _combined(parts: Any, logarithms: Any, result: Any) -> tuple[sl.Fragment, sl.Index, sl.Index]:
    """Store the result of a head; return its logarithms, and where the head is."""
    _, heads, queries, _ = result.shape
    batch, head = divided(sl.block_id(0), heads)
    own = sl.ds(0, ROWS)
    maximum = sl.full((ROWS,), float("-inf"), sl.f32, axis=1)
    total = sl.full((ROWS,), 0.0, sl.f32, axis=1)
    o = sl.zeros((ROWS, parts.shape[4]), sl.f32)
    for part in sl.range(parts.shape[0]):
        logarithm = sl.load(logarithms[part, batch, head, own], axis=1)
        larger = sl.maximum(maximum, logarithm)
        # The difference of infinities is NaN.
        shift = sl.where(larger > float("-inf"), larger, 0.0)
        weight, shrink = sl.exp(logarithm - shift), sl.exp(maximum - shift)
        o = o * shrink + sl.load(parts[part, batch, head, own, :]) * weight
        total = total * shrink + weight
        maximum = larger
    some = total > 0.0
    normalised = o * sl.where(some, sl.fdiv(1.0, total), 0.0)
    sl.store(normalised, result[batch, head, own, :], rows=queries)
    return sl.where(some, maximum + sl.log(total), float("-inf")), batch, head
