"""Functions on tensors are functions of values: bufferized, they write no argument, and their results are
memory of their own."""

from __future__ import annotations

from dataclasses import dataclass

from ...bindings.irtypes import Module, Op, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...ir.walk import walk
from ..memory_views import views_of

#: Upstream's attribute of an argument: whether bufferization may write it.
_WRITABLE = "bufferization.writable"


@dataclass(frozen=True)
class TensorFunction:
    """A public function, and the numbers of its results that are tensors."""

    op: Op
    results: list[int]


def keep_arguments(module: Module) -> list[TensorFunction]:
    """Let bufferization write no tensor that is an argument of a public function.

    An argument that says `bufferization.writable` already stays as it is.

    Returns:
        The functions whose results `own_results` looks at.
    """
    functions = []
    for op in [each.operation for each in module.body.operations]:
        if op.name != "func.func" or not op.regions[0].blocks or _is_private(op):
            continue
        type_ = ir.TypeAttr(op.attributes["function_type"]).value
        attributes = list(op.attributes["arg_attrs"]) if "arg_attrs" in op.attributes else []
        attributes = attributes or [ir.DictAttr.get({}) for _ in type_.inputs]
        for number, input_ in enumerate(type_.inputs):
            names = {each.name: each.attr for each in ir.DictAttr(attributes[number])}
            if isinstance(input_, ir.RankedTensorType) and _WRITABLE not in names:
                attributes[number] = ir.DictAttr.get(names | {_WRITABLE: ir.BoolAttr.get(False)})
        if attributes:
            op.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
        results = [
            number
            for number, result in enumerate(type_.results)
            if isinstance(result, ir.RankedTensorType)
        ]
        functions.append(TensorFunction(op, results))
    return functions


def own_results(function: TensorFunction) -> None:
    """Copy what a bufferized function returns, unless it allocated it and returns it once.

    A result may otherwise be an argument, a part of one, a constant, or another result.
    """
    for op in walk(function.op):
        if op.name != "func.return":
            continue
        returned: list[Value] = []
        for number in function.results:
            memref = op.operands[number]
            chain = views_of(memref)
            root = chain[0].operands[0] if chain else memref
            if _is_allocated(root) and root not in returned:
                returned.append(root)
                continue
            with op.location, ir.InsertionPoint(op):
                op.operands[number] = _copy(memref)


def _is_private(function: Op) -> bool:
    attributes = function.attributes
    return "sym_visibility" in attributes and str(attributes["sym_visibility"]) != '"public"'


def _is_allocated(memref: Value) -> bool:
    return not isinstance(memref.owner, ir.Block) and memref.owner.operation.name == "memref.alloc"


def _copy(memref: Value) -> Value:
    """Emit a copy of a memref, and return it."""
    type_, index = ir.MemRefType(memref.type), ir.IndexType.get()
    extents = [
        emit.value("memref.dim", (memref, emit.constant(dim, index)), index)
        for dim in range(type_.rank)
        if type_.is_dynamic_dim(dim)
    ]
    segments = ir.DenseI32ArrayAttr.get([len(extents), 0])
    copied = emit.value("memref.alloc", extents, type_, operandSegmentSizes=segments)
    emit.op("memref.copy", (memref, copied))
    return copied
