"""`linalg-to-smem-prepare`: one generic op for a contraction, one for what is computed of its result."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialect.bindings import ir, passmanager
from ...dialect.irtypes import Module, Value
from ...ir.walk import walk
from ...passes import Pass
from .generic import GENERIC, RESHAPES, inputs_of, is_reduction, only_moves, owner

_GENERALIZE = "builtin.module(func.func(linalg-generalize-named-ops))"

#: Upstream's fusion. Dimensions of extent 1 go before the second round: reshapes keep ops apart.
_FUSE = (
    "builtin.module(func.func(linalg-fuse-elementwise-ops,linalg-fold-unit-extent-dims,canonicalize,cse,"
    "linalg-fuse-elementwise-ops,canonicalize,cse))"
)
_CLEAN = "builtin.module(canonicalize,cse)"

#: An op that nothing is fused across.
_WALL = "smem_frontend.wall"


@dataclass(frozen=True)
class PrepareLinalg(Pass):
    """Upstream's fusion of element-wise ops, which leaves operands of contractions as tensors.

    Casts, transpositions and reshapes become part of the contraction; what computes an operand does not,
    because TMA brings operands from memory to tensor cores as they are.
    """

    name = "linalg-to-smem-prepare"
    description = "fuse element-wise ops of linalg, but nothing that computes into contractions"

    def run(self, module: Module) -> None:
        allowed = module.context.allow_unregistered_dialects
        _run(module, _GENERALIZE)
        module.context.allow_unregistered_dialects = True
        try:
            walled: list[Value] = []
            for op in list(walk(module, GENERIC)):
                if any(is_reduction(op)) and len(inputs_of(op)) == 2:
                    for value in inputs_of(op):
                        _wall(value, walled)
            _run(module, _FUSE)
            for op in list(walk(module, _WALL)):
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
        finally:
            module.context.allow_unregistered_dialects = allowed
        _run(module, _CLEAN)


def _run(module: Module, pipeline: str) -> None:
    passmanager.PassManager.parse(pipeline).run(module.operation)


def _wall(value: Value, walled: list[Value]) -> None:
    """Put a wall behind the last op that computes an operand."""
    op = owner(value)
    if op is None or not isinstance(value.type, ir.RankedTensorType) or value in walled:
        return
    if op.name in RESHAPES:
        return _wall(op.operands[0], walled)
    if op.name != GENERIC or any(is_reduction(op)):
        return
    if only_moves(op):
        return _wall(inputs_of(op)[0], walled)
    with ir.InsertionPoint.after(op), op.location:
        made = ir.Operation.create(_WALL, results=[value.type], operands=[value])
    value.replace_all_uses_except(made.result, made)
    walled.append(made.result)
