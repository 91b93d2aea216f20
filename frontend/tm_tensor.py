"""Sorts, scans and scatters of torch-mlir's dialect `tm_tensor` as loops over memory."""

from __future__ import annotations

from typing import Any

from ..bindings.mlir import ir, passmanager
from ..ir.walk import walk

_ON_MEMORY = "builtin.module(func.func(tm-tensor-bufferize))"
_LOOPS = "builtin.module(func.func(tm-tensor-to-loops),canonicalize,cse)"


def register_tm_tensor() -> None:
    """Load the dialect in the current context: its passes do, and torch-mlir has no function for it."""
    with ir.Location.unknown():
        passmanager.PassManager.parse(_ON_MEMORY).run(ir.Module.create().operation)


def lower_tm_tensor(module: Any) -> None:
    """Replace ops of `tm_tensor` by loops over memory, in place, in a context that has the dialect.

    Upstream makes a tensor of an op's memory where the memory is allocated, which `one-shot-bufferize`
    does not take; here it is made behind the op, and nothing else uses the memory.
    """
    if not any(op.name.startswith("tm_tensor.") for op in walk(module.operation)):
        return
    with module.context:
        passmanager.PassManager.parse(_ON_MEMORY).run(module.operation)
        for op in walk(module.operation):
            if not op.name.startswith("tm_tensor."):
                continue
            for use in [use for operand in op.operands for use in operand.uses]:
                user = use.owner.operation
                if user.name == "bufferization.to_tensor":
                    user.attributes["restrict"] = ir.UnitAttr.get()
                    user.move_after(op)
        passmanager.PassManager.parse(_LOOPS).run(module.operation)
