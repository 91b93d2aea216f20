"""`linalg-to-smem-prepare`: one generic op for a contraction, one for what is computed of its result."""

from __future__ import annotations

from dataclasses import dataclass

from ...bindings.irtypes import Attribute, Module, Op, Value
from ...bindings.mlir import ir, passmanager
from ...ir.walk import walk
from ...passes import Pass
from .generic import GENERIC, RESHAPES, inputs_of, is_reduction, only_moves, only_scales, owner
from .precision import PRECISION
from .schedule import CONFIG

#: Extents are those of what an op writes to, so they are no uses of its result.
_GENERALIZE = (
    "builtin.module(func.func(linalg-generalize-named-ops),"
    "resolve-ranked-shaped-type-result-dims,cse)"
)

#: Upstream's fusion. Dimensions of extent 1 go before the second round: reshapes keep ops apart.
_FUSE = (
    "builtin.module(func.func(linalg-fuse-elementwise-ops,linalg-fold-unit-extent-dims,canonicalize,cse,"
    "linalg-fuse-elementwise-ops,canonicalize,cse))"
)
_CLEAN = "builtin.module(canonicalize,cse)"

#: Attributes of a contraction that stay with it.
_KEPT = (CONFIG, PRECISION)

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
        _repeat_moves(module)
        module.context.allow_unregistered_dialects = True
        try:
            walled: list[Value] = []
            for op in list(walk(module, GENERIC)):
                if any(is_reduction(op)) and len(inputs_of(op)) == 2:
                    for value in inputs_of(op):
                        _wall(value, walled)
                    _keep_attributes(op)
            _run(module, _FUSE)
            for op in list(walk(module, _WALL)):
                if (product := _behind_reshapes(op.operands[0])) is not None:
                    for name, attribute in _kept(op).items():
                        product.attributes[name] = attribute
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
        finally:
            module.context.allow_unregistered_dialects = allowed
        _run(module, _CLEAN)


def _repeat_moves(module: Module) -> None:
    """Give each op that reads a transposed, broadcast or widened tensor its own op that makes it.

    Upstream fuses only what has one use.
    """
    for op in reversed(list(walk(module, GENERIC))):
        if not list(op.results) or not only_moves(op):
            continue
        for use in list(op.results[0].uses)[1:]:
            user = use.owner.operation
            if user.name == GENERIC or user.name in RESHAPES:
                with ir.InsertionPoint(op):
                    user.operands[use.operand_number] = op.clone().results[0]


def _run(module: Module, pipeline: str) -> None:
    passmanager.PassManager.parse(pipeline).run(module.operation)


def _kept(op: Op) -> dict[str, Attribute]:
    """Return the attributes that a contraction keeps."""
    return {name: op.attributes[name] for name in _KEPT if name in op.attributes}


def _keep_attributes(op: Op) -> None:
    """Put a wall with a contraction's attributes behind it.

    Upstream's fusion into a contraction makes a new op, without attributes.
    """
    kept = _kept(op)
    if kept and list(op.results):
        with ir.InsertionPoint.after(op), op.location:
            wall = ir.Operation.create(_WALL, [op.results[0].type], [op.results[0]], kept)
        op.results[0].replace_all_uses_except(wall.result, wall)


def _behind_reshapes(value: Value) -> Op | None:
    """Return the op whose result a tensor is, before it is reshaped."""
    while (op := owner(value)) is not None and op.name in RESHAPES:
        value = op.operands[0]
    return op


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
    if only_scales(op):
        # The kernel of attention multiplies by scales itself, and reads what is multiplied.
        _wall(inputs_of(op)[0], walled)
