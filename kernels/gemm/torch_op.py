"""`torch.ops.mlir_smem.matmul`: the GEMM as an op of PyTorch, which `torch.compile` keeps whole.

Importing this module registers the op, its meta function and its gradient, and needs PyTorch; `matmul`
takes tensors without it.
"""

from __future__ import annotations

from typing import Any

import torch

from ..libraries import element_named, empty, whole_columns
from .call.matmul import matmul as _matmul
from .call.results import result_element
from .generator.problem import ProblemError, item_bytes

#: The op's name: that of a library of ops, and of one of them.
NAME = "mlir_smem::matmul"

_LIBRARY = torch.library.Library("mlir_smem", "FRAGMENT")
_LIBRARY.define("matmul(Tensor a, Tensor b, *, ScalarType? out_dtype=None) -> Tensor")

#: Types in which a gradient is computed.
_DIFFERENTIABLE = (torch.bfloat16, torch.float16, torch.float32)


def matmul(a: torch.Tensor, b: torch.Tensor, *, out_dtype: Any = None) -> torch.Tensor:
    """Return `a @ b` of tensors on a GPU by the op `torch.ops.mlir_smem.matmul`.

    The op does what `kernels.gemm.matmul` does for two tensors. `torch.compile` keeps it whole, also with
    dynamic shapes; it has a gradient, and `torch.func.vmap` adds leading dimensions.

    Args:
        a, b: A (..., M, K) and B (..., K, N), with leading dimensions that broadcast.
        out_dtype: the dtype of the result; None for that of `matmul`.

    Raises:
        ProblemError: if the tensors are not operands of a GEMM, or the gradient of operands is asked for
            that are not bf16, f16 or f32.
        LaunchError: without a GPU of the architecture.

    Example:
        >>> from mlir_smem.kernels.gemm import torch_op  # on a GPU
        >>> a, b = (torch.ones(512, 512, device="cuda").bfloat16() for _ in "AB")  # on a GPU
        >>> float(torch.compile(torch_op.matmul)(a, b)[0, 0])  # on a GPU
        512.0
    """
    return torch.ops.mlir_smem.matmul(a, b, out_dtype=out_dtype)


def _cuda(a: torch.Tensor, b: torch.Tensor, *, out_dtype: Any = None) -> torch.Tensor:
    return _matmul(a, b, out_dtype=out_dtype)


def _meta(a: torch.Tensor, b: torch.Tensor, *, out_dtype: Any = None) -> torch.Tensor:
    """Return a result without elements; extents may be symbols."""
    for name, tensor in (("A", a), ("B", b)):
        if tensor.dim() < 2:
            raise ProblemError(
                f"{name} has the shape {list(tensor.shape)}; expected a matrix, or several"
            )
    torch._check(
        a.shape[-1] == b.shape[-2],
        lambda: (
            f"A is {list(a.shape)} and B is {list(b.shape)}; expected a B of {a.shape[-1]} rows"
        ),
    )
    element = result_element(element_named(a.dtype), element_named(b.dtype), out_dtype)
    *_, m, _ = a.shape
    *_, n = b.shape
    rows = (*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), m)
    # The real result is a view of padded rows as well, so its strides are these.
    padded: torch.Tensor = empty(a, (*rows, whole_columns(n, item_bytes(element))), element)
    return padded[..., :n]


def _setup(ctx: Any, inputs: tuple[Any, ...], keyword_only_inputs: Any, output: Any) -> None:
    a, b = inputs
    needs_a, needs_b = ctx.needs_input_grad[:2]
    if (needs_a or needs_b) and (a.dtype not in _DIFFERENTIABLE or a.dtype != b.dtype):
        types = " and ".join(element_named(tensor.dtype) for tensor in (a, b))
        raise ProblemError(
            f"there is no gradient of a GEMM of {types}; expected two of bf16, f16 or f32"
        )
    ctx.save_for_backward(a if needs_b else None, b if needs_a else None)
    ctx.shapes, ctx.dtype = (a.shape, b.shape), a.dtype


def _backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    a, b = ctx.saved_tensors
    a_shape, b_shape = ctx.shapes
    grad = grad.to(ctx.dtype)
    of_a = None if b is None else matmul(grad, b.mT).sum_to_size(a_shape)
    of_b = None if a is None else matmul(a.mT, grad).sum_to_size(b_shape)
    return of_a, of_b


def _vmap(
    info: Any, in_dims: tuple[Any, ...], a: torch.Tensor, b: torch.Tensor, *, out_dtype: Any = None
) -> tuple[torch.Tensor, int]:
    """Return the result for operands that have a further dimension, and where the result has it."""
    operands = list(zip((a, b), in_dims, strict=False))
    rank = max(tensor.dim() - (dim is not None) for tensor, dim in operands)

    def leading(tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
        if dim is None:
            return tensor
        return tensor.movedim(dim, 0)[(slice(None), *(None,) * (rank + 1 - tensor.dim()))]

    return matmul(*(leading(*operand) for operand in operands), out_dtype=out_dtype), 0


_LIBRARY.impl("matmul", _cuda, "CUDA")
torch.library.register_fake(NAME, _meta, lib=_LIBRARY)
torch.library.register_autograd(NAME, _backward, setup_context=_setup, lib=_LIBRARY)
torch.library.register_vmap(NAME, _vmap, lib=_LIBRARY)
