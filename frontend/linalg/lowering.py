"""From linalg on tensors to a program of the host that launches kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...bindings.irtypes import Module, Op, Value
from ...bindings.mlir import ir, passmanager
from ...ir import emit
from ...ir.walk import walk
from ...passes import add_passes
from ..memory_views import views_of
from .carried_memrefs import keep_contiguous

#: Upstream's bufferization: arguments and results of functions are contiguous memrefs.
BUFFERIZATION = (
    "builtin.module(canonicalize,cse,one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map "
    "allow-return-allocs-from-loops})"
)
_CLEAN = "builtin.module(canonicalize,cse)"

#: Upstream's attribute of an argument: whether bufferization may write it.
_WRITABLE = "bufferization.writable"


def lower_linalg(module: Module, **options: Any) -> None:
    """Make kernels of a program in linalg, and bufferize the rest, in place.

    It runs `linalg-to-smem-prepare`, `linalg-to-smem`, `linalg-fuse-rows` and upstream's
    `one-shot-bufferize`. Tensors stay values: no call writes an argument that is a tensor
    (`bufferization.writable = false`, unless the program says otherwise), and each tensor that a function
    returns is memory of its own.

    Args:
        module: the program, on tensors or memrefs.
        options: options of `linalg-to-smem`, dashes as underscores.

    Raises:
        MLIRError: if a pass fails.
        OptionError: for an unknown option.

    Example:
        >>> from mlir_smem.dialect import new_context
        >>> from mlir_smem.bindings import ir
        >>> text = '''
        ... func.func @main(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xf32>) {
        ...   linalg.matmul ins(%a, %b : memref<64x64xbf16>, memref<64x64xbf16>)
        ...     outs(%c : memref<64x64xf32>)
        ...   return
        ... }
        ... '''
        >>> with new_context():
        ...     program = ir.Module.parse(text)
        ...     lower_linalg(program)
        ...     matmul = Executable(program, on="cpu")
        >>> import ml_dtypes
        >>> a = b = np.eye(64, dtype=ml_dtypes.bfloat16)
        >>> c = np.ones((64, 64), np.float32)
        >>> matmul(a, b, c)
        >>> float(c.sum())
        4160.0
    """
    manager = passmanager.PassManager("builtin.module")
    add_passes(manager, "linalg-to-smem-prepare")
    # The other ops become kernels later.
    add_passes(manager, "linalg-to-smem", **{"remarks": "products"} | options)
    add_passes(manager, "linalg-fuse-rows", **{x: options[x] for x in ("math",) if x in options})
    manager.run(module.operation)
    bufferize(module)


def bufferize(module: Module) -> None:
    """Bufferize a program, in place; its tensors stay values (`lower_linalg`).

    Raises:
        MLIRError: if upstream's pass fails.
    """
    functions = keep_arguments(module)
    passmanager.PassManager.parse(BUFFERIZATION).run(module.operation)
    keep_contiguous(module)
    passmanager.PassManager.parse(_CLEAN).run(module.operation)
    for function in functions:
        own_results(function)


@dataclass(frozen=True)
class TensorFunction:
    """A public function, and the numbers of its results that are tensors."""

    op: Op
    results: list[int]


def keep_arguments(module: Module) -> list[TensorFunction]:
    """Forbid bufferization to write tensors that are arguments of a public function.

    An argument that says `bufferization.writable` already stays as it is.

    Returns:
        The functions to which `own_results` is to be applied.
    """
    functions = []
    for op in [function.operation for function in module.body.operations]:
        if op.name != "func.func" or not op.regions[0].blocks or _is_private(op):
            continue
        type_ = ir.TypeAttr(op.attributes["function_type"]).value
        attributes = list(op.attributes["arg_attrs"]) if "arg_attrs" in op.attributes else []
        attributes = attributes or [ir.DictAttr.get({}) for _ in type_.inputs]
        for number, input_ in enumerate(type_.inputs):
            names = {
                attribute.name: attribute.attr for attribute in ir.DictAttr(attributes[number])
            }
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
    """Copy each result of a bufferized function, unless the function allocated it and returns it once.

    A result may otherwise be an argument, a part of one, a constant, or another result.
    """
    for op in walk(function.op):
        if op.name != "func.return":
            continue
        owned: list[Value] = []
        for number in function.results:
            memref = op.operands[number]
            chain = views_of(memref)
            root = chain[0].operands[0] if chain else memref
            if _is_allocated(root) and root not in owned:
                owned.append(root)
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
    copy = emit.value("memref.alloc", extents, type_, operandSegmentSizes=segments)
    emit.op("memref.copy", (memref, copy))
    return copy
