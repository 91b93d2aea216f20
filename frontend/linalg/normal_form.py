"""`linalg-to-smem-prepare`: one generic op for a contraction, one for its element-wise users."""

from __future__ import annotations

from dataclasses import dataclass

from ...bindings.irtypes import Attribute, Module, Op, Value
from ...bindings.mlir import ir, passmanager
from ...ir.walk import walk
from ...passes import Pass
from .decompose import decompose
from .detensorize import detensorize
from .generic import GENERIC, RESHAPES, inputs_of, is_reduction, only_moves, only_scales, owner
from .precision import PRECISION
from .reshapes import check_casts, reshape_by_numbers
from .schedule import CONFIG

#: A dynamic extent of a result becomes that of the output, so that it is no use of the result.
_GENERALIZE = (
    "builtin.module(func.func(linalg-generalize-named-ops),"
    "resolve-ranked-shaped-type-result-dims,cse)"
)

#: Upstream's fusion. Dimensions of extent 1 are folded before the second round: reshapes prevent fusion.
_FUSE = (
    "builtin.module(func.func(linalg-fuse-elementwise-ops,linalg-fold-unit-extent-dims,canonicalize,cse,"
    "linalg-fuse-elementwise-ops,canonicalize,cse))"
)
_CLEAN = "builtin.module(resolve-ranked-shaped-type-result-dims,canonicalize,cse)"

#: Attributes of a contraction that stay with it.
_ATTRIBUTES = (CONFIG, PRECISION)

#: An op that nothing is fused across.
_WALL = "smem_frontend.wall"


@dataclass(frozen=True)
class PrepareLinalg(Pass):
    """Fuse element-wise ops by upstream's passes, but not into the operands of contractions.

    Casts, transpositions and reshapes become part of the contraction. Ops that compute an operand do not,
    because TMA copies operands from memory unchanged.
    """

    name = "linalg-to-smem-prepare"
    description = "fuse element-wise ops of linalg, but nothing that computes into contractions"

    def run(self, module: Module) -> None:
        allowed = module.context.allow_unregistered_dialects
        check_casts(module)
        decompose(module)
        _run(module, _GENERALIZE)
        detensorize(module)
        reshape_by_numbers(module)
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
                    for name, attribute in _contraction_attributes(op).items():
                        product.attributes[name] = attribute
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
        finally:
            module.context.allow_unregistered_dialects = allowed
        _run(module, _CLEAN)


def _repeat_moves(module: Module) -> None:
    """Clone each transposition, broadcast or widening for each of its uses.

    Upstream fuses only producers with one use.
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


def _contraction_attributes(op: Op) -> dict[str, Attribute]:
    """Return the attributes of a contraction that fusion must not drop."""
    return {name: op.attributes[name] for name in _ATTRIBUTES if name in op.attributes}


def _keep_attributes(op: Op) -> None:
    """Insert a wall with a contraction's attributes after it.

    Upstream's fusion replaces a contraction by a new op without attributes.
    """
    attributes = _contraction_attributes(op)
    if attributes and list(op.results):
        with ir.InsertionPoint.after(op), op.location:
            wall = ir.Operation.create(_WALL, [op.results[0].type], [op.results[0]], attributes)
        op.results[0].replace_all_uses_except(wall.result, wall)


def _behind_reshapes(value: Value) -> Op | None:
    """Return the producer of a tensor, reshapes skipped."""
    while (op := owner(value)) is not None and op.name in RESHAPES:
        value = op.operands[0]
    return op


def _wall(value: Value, walled: list[Value]) -> None:
    """Insert a wall after the last op that computes an operand."""
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
        wall = ir.Operation.create(_WALL, results=[value.type], operands=[value])
    value.replace_all_uses_except(wall.result, wall)
    walled.append(wall.result)
    if only_scales(op):
        # The kernel of attention reads the unscaled tensor and multiplies by the scale itself.
        _wall(inputs_of(op)[0], walled)
