"""`torch.ops.mlir_smem.attention`: attention as an op of PyTorch, which `torch.compile` keeps whole.

Importing this module registers the op and its meta function, and needs PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch

from .launch import launch

#: Results: that of attention, and its log-sum-exp (batch, heads, sequence), or an empty tensor.
_SCHEMA = (
    "(Tensor q, Tensor k, Tensor v, *, int? left, int? right, bool causal, float? scale, str layout, "
    "bool return_lse, str on) -> (Tensor, Tensor)"
)


def _run(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    left: int | None,
    right: int | None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    found, lse = launch(q, k, v, window=(left, right), **options)
    return found, _no_lse(q) if lse is None else lse.contiguous()


def _no_lse(q: torch.Tensor) -> torch.Tensor:
    return q.new_empty((0,), dtype=torch.float32)


OP = torch.library.custom_op("mlir_smem::attention", _run, mutates_args=(), schema=_SCHEMA)


@OP.register_fake
def _meta(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, layout: str, return_lse: bool, **_: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    sequence, heads = (1, 2) if layout == "bshd" else (2, 1)
    shape = q.shape[0], q.shape[heads], q.shape[sequence]
    lse = q.new_empty(shape, dtype=torch.float32) if return_lse else _no_lse(q)
    return q.new_empty(q.shape), lse
