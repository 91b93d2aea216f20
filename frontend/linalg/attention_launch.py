"""The launch of an attention kernel."""

from __future__ import annotations

from collections.abc import Sequence

from ...bindings.irtypes import Type, Value
from ...bindings.mlir import gpu, ir
from ...ir import emit
from .attention_plan import Array, AttentionPlan
from .views import Buffer, allocated, filled, index

_THREADS = 128


def launch_attention(
    plan: AttentionPlan, kernel: str, types: Sequence[Type], read: Sequence[Value]
) -> Value:
    """Emit the launch, with memory for the result; return that as a tensor.

    Args:
        plan: the plan.
        kernel: the name of the kernel's `gpu.module`.
        types: the types of its parameters.
        read: the memory of Q, K and V.
    """
    result = plan.result.value.type
    memory = allocated(list(result.shape), result)
    arrays = zip((*plan.operands, plan.result), (*read, memory), types, strict=False)
    f32 = ir.F32Type.get()
    given = [
        *(_view(array, each, type_) for array, each, type_ in arrays),
        emit.value("arith.constant", (), f32, value=ir.FloatAttr.get(f32, plan.scale)),
        *map(index, plan.sight),
    ]
    grid = [index(plan.grid), index(1), index(1)]
    block = [index(_THREADS * (1 + plan.config.consumers)), index(1), index(1)]
    gpu.launch_func([kernel, "attention"], grid, block, kernel_operands=given)
    return filled(memory, result)


def _view(array: Array, memref: Value, type_: Type) -> Value:
    """Return memory as a kernel's parameter has it."""
    loops = tuple(range(len(array.sizes)))
    return Buffer(memref, loops, array.sizes, array.strides).view(
        [(loop,) for loop in loops], type_
    )
