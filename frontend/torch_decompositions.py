"""How ops of PyTorch are decomposed before torch-mlir lowers them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

#: Ops that sum or multiply many elements. PyTorch rounds what they compute of 16-bit floats once;
#: torch-mlir's lowering would round each partial sum, and 256 ones of bf16 and one more be 256.
_REDUCTIONS = (
    *("sum.default", "sum.dim_IntList", "mean.default", "mean.dim", "prod.default", "prod.dim_int"),
    *("linalg_vector_norm.default", "norm.Scalar", "norm.ScalarOpt_dim"),
    *("rms_norm.default", "var.correction", "std.correction", "var_mean.correction"),
    *("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default"),
    *(
        "_adaptive_avg_pool2d.default",
        "_adaptive_avg_pool3d.default",
        "adaptive_avg_pool1d.default",
    ),
)


def decompositions(torch: Any) -> dict[Any, Callable[..., Any]]:
    """Return torch-mlir's decompositions, and those that keep sums of 16-bit floats in f32."""
    upstream = importlib.import_module("torch_mlir.extras.fx_decomp_util")
    table = dict(upstream.get_decomposition_table())
    for name in _REDUCTIONS:
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload)
        table[op] = _in_f32(torch, op, table.get(op))
    return table


def _in_f32(torch: Any, op: Any, upstream: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a decomposition that computes an op of 16-bit floats in f32, and rounds the results."""
    narrow = (torch.bfloat16, torch.float16)

    def decomposed(x: Any, *arguments: Any, **named: Any) -> Any:
        if x.dtype not in narrow or named.get("dtype") not in (None, x.dtype):
            return NotImplemented if upstream is None else upstream(x, *arguments, **named)
        named.pop("dtype", None)
        operands = [
            each.to(torch.float32) if getattr(each, "dtype", None) in narrow else each
            for each in (x, *arguments)
        ]
        results = op(*operands, **named)
        if isinstance(results, tuple):
            return tuple(each.to(x.dtype) for each in results)
        return results.to(x.dtype)

    return decomposed
