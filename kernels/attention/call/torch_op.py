"""`attention` as an op of PyTorch, which `torch.compile` and `torch.export` keep whole.

Importing this file needs PyTorch, and registers the op `mlir_smem::attention`.
"""

from __future__ import annotations

import importlib
from typing import Any

from .launch import launch

torch: Any = importlib.import_module("torch")

_SCHEMA = (
    "(Tensor q, Tensor k, Tensor v, bool causal, float? scale, int? left, int? right, str layout, "
    "bool return_lse, str on) -> (Tensor, Tensor)"
)


def _run(
    q: Any,
    k: Any,
    v: Any,
    causal: bool,
    scale: float | None,
    left: int | None,
    right: int | None,
    layout: str,
    return_lse: bool,
    on: str,
) -> tuple[Any, Any]:
    found, lse = launch(
        q,
        k,
        v,
        causal=causal,
        scale=scale,
        window=(left, right),
        layout=layout,
        return_lse=return_lse,
        on=on,
    )
    return found, _no_lse(q) if lse is None else lse.contiguous()


def _no_lse(q: Any) -> Any:
    return q.new_empty((0,), dtype=torch.float32)


#: Results: that of attention, and its log-sum-exp (batch, heads, sequence), or an empty tensor.
OP = torch.library.custom_op("mlir_smem::attention", _run, mutates_args=(), schema=_SCHEMA)


@OP.register_fake
def _meta(
    q: Any,
    k: Any,
    v: Any,
    causal: bool,
    scale: float | None,
    left: int | None,
    right: int | None,
    layout: str,
    return_lse: bool,
    on: str,
) -> tuple[Any, Any]:
    sequence, heads = (1, 2) if layout == "bshd" else (2, 1)
    shape = q.shape[0], q.shape[heads], q.shape[sequence]
    lse = q.new_empty(shape, dtype=torch.float32) if return_lse else _no_lse(q)
    return q.new_empty(q.shape), lse
