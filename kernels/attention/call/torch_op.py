"""`torch.ops.mlir_smem.attention`: attention as an op of PyTorch, which `torch.compile` keeps whole.

Importing this module registers the op and its meta function, and needs PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch

from .checked import AttentionOptions
from .emulated import emulate
from .launch import launch
from .operands import AttentionArrays, window_of

#: Results: that of attention, and its log-sum-exp (batch, heads, sequence), or an empty tensor.
_SCHEMA = (
    "(Tensor q, Tensor k, Tensor v, Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, Tensor? q_descale, "
    "Tensor? k_descale, Tensor? v_descale, *, int? left, int? right, bool causal, float? scale, "
    "str layout, bool return_lse, SymInt? max_seqlen_q, float[] factors, str on) -> (Tensor, Tensor)"
)


def _run(
    *arrays: torch.Tensor | None,
    left: int | None,
    right: int | None,
    factors: list[float],
    on: str,
    **options_of_call: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    of_q, of_k, of_v = factors
    options = AttentionOptions(
        window=(left, right), config=None, factors=(of_q, of_k, of_v), **options_of_call
    )
    all_arrays = AttentionArrays(*arrays)
    out, lse = emulate(all_arrays, options) if on == "cpu" else launch(all_arrays, options)
    return out, _no_lse(all_arrays.q) if lse is None else lse


def _no_lse(q: torch.Tensor) -> torch.Tensor:
    return q.new_empty((0,), dtype=torch.float32)


OP = torch.library.custom_op("mlir_smem::attention", _run, mutates_args=(), schema=_SCHEMA)


@OP.register_fake
def _meta(
    q: torch.Tensor, *_: torch.Tensor | None, layout: str, return_lse: bool, **_options: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    *batches, sequence, heads = q.shape[:-1]
    if layout == "bhsd":
        sequence, heads = heads, sequence
    shape = (*batches, heads, sequence)
    lse = q.new_empty(shape, dtype=torch.float32) if return_lse else _no_lse(q)
    return q.new_empty(q.shape, dtype=torch.bfloat16 if q.itemsize == 1 else q.dtype), lse


def call_op(arrays: AttentionArrays, options: AttentionOptions, on: str) -> tuple[Any, Any]:
    """Call the op; arguments as for `emulated` and `attention`."""
    left, right = window_of(False, options.window)
    return OP(
        *arrays[:-1],
        left=left,
        right=right,
        causal=options.causal,
        scale=options.scale,
        layout=options.layout,
        return_lse=options.return_lse,
        max_seqlen_q=options.max_seqlen_q,
        factors=list(options.factors),
        on=on,
    )
