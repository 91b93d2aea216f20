"""Upstream's `nvgpu` ops beside tiles: `convert-nvgpu-to-nvvm`, and tensor maps as parameters.

A kernel's argument of type `!nvgpu.tensormap.descriptor` becomes the matrix that the map describes, and a
parameter with the map itself follows the arguments, as for `smem.tma_load`: the host passes the matrix,
and encodes the map at the launch. The type gives the box, the swizzle, the L2 promotion and the fill.

Upstream's pass leaves casts to its descriptors of memrefs. They become the `memref` and `llvm` ops that
have the same value, which code generation and the emulator know.
"""

from collections.abc import Iterator
from typing import Any

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Op, Type, Value
from ..bindings.mlir import ir, is_dialect_loaded, llvm, passmanager
from ..ir import emit
from ..ir.nvgpu import TensorMapType, is_tensor_map, tensor_map_type
from ..ir.shared_memory import strided_metadata
from ..ir.tensor_map_parameters import add_tensor_map
from ..ir.walk import walk, walk_dialects
from .errors import error_at

_DIALECT = "nvgpu"

PIPELINE = "gpu.module(convert-nvgpu-to-nvvm)"

_CAST = "builtin.unrealized_conversion_cast"

#: The number of the offset in upstream's descriptor of a memref, after two pointers to the memory.
_OFFSET = 2


def lower_nvgpu(kernels: Any) -> None:
    """Lower the `nvgpu` ops of a gpu.module in place; a module without them is not changed.

    Raises:
        MLIRError, CompileError: with a located diagnostic, if an op or a tensor map has no lowering.
    """
    functions = [f for f in walk(kernels, "gpu.func") if any(map(is_tensor_map, _inputs(f)))]
    # A context without the dialect has no ops of it.
    is_loaded = is_dialect_loaded(kernels.context, _DIALECT)
    if not functions and not (is_loaded and walk_dialects(kernels, _DIALECT.__eq__)):
        return
    for function in functions:
        for number, type_ in enumerate(_inputs(function)):
            if is_tensor_map(type_):
                _check(function, number, type_)
    passmanager.PassManager.parse(PIPELINE).run(kernels.operation)
    for function in functions:
        _pass_matrices(function)
    for cast in walk(kernels, _CAST):
        _replace(cast)


def _inputs(function: Op) -> list[Type]:
    return list(ir.TypeAttr(function.attributes["function_type"]).value.inputs)


def _check(function: Op, number: int, type_: Type) -> TensorMapType:
    """Check that a map can be encoded, and return its fields."""
    try:
        fields = tensor_map_type(type_)
    except Invalid as error:
        raise error_at(function, str(error)) from None
    if fields.interleave != "none":
        raise error_at(
            function,
            f"takes argument {number}, a tensor map with interleave = {fields.interleave}; "
            "expected none, the format of matrices",
        )
    return fields


def _pass_matrices(function: Op) -> None:
    """Replace the tensor maps among a kernel's arguments by matrices, and append the maps."""
    inputs = _inputs(function)
    casts, descriptions = [], []
    for number, type_ in enumerate(inputs):
        if not is_tensor_map(type_):
            continue
        argument, fields = function.regions[0].blocks[0].arguments[number], tensor_map_type(type_)
        casts.append(_casts(argument))
        descriptions.append(_description(number, fields))
        inputs[number] = _matrix(fields)
        argument.set_type(inputs[number])
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, []))
    for ops, description in zip(casts, descriptions, strict=True):
        pointer = add_tensor_map(function, description)
        for cast in ops:
            cast.results[0].replace_all_uses_with(pointer)
            cast.erase()


def _casts(argument: Value) -> list[Op]:
    """Return upstream's casts of a tensor map to a pointer, its only uses.

    Raises:
        CompileError: if it has another use.
    """
    uses = [use.owner.operation for use in argument.uses]
    for op in uses:
        if op.name != _CAST:
            raise error_at(
                op,
                "uses a tensor map, which only the ops of nvgpu that prefetch and copy by it can",
            )
    return uses


def _matrix(fields: TensorMapType) -> Type:
    """Return the type of the matrices that a map can describe."""
    unknown, rank = ir.ShapedType.get_dynamic_size(), fields.tensor.rank
    step = ir.ShapedType.get_dynamic_stride_or_offset()
    layout = ir.StridedLayoutAttr.get(step, [*[step] * (rank - 1), 1])
    return ir.MemRefType.get([unknown] * rank, fields.tensor.element_type, layout)


def _description(number: int, fields: TensorMapType) -> Any:
    """Return what `smem.tensor_map` says of a map; see `codegen.manifest`."""
    i64 = emit.i64()
    return ir.DictAttr.get(
        {
            "argument": ir.IntegerAttr.get(i64, number),
            "box": ir.DenseI64ArrayAttr.get(list(fields.tensor.shape)),
            "contiguous": ir.IntegerAttr.get(i64, fields.tensor.rank - 1),
            "element": ir.StringAttr.get(str(fields.tensor.element_type)),
            "l2_promotion": ir.StringAttr.get(fields.l2_promotion),
            "oob": ir.StringAttr.get(fields.oob),
            "swizzle": ir.StringAttr.get(str(fields.swizzle)),
        }
    )


def _replace(cast: Op) -> None:
    """Replace a cast of upstream's lowering by ops that have the same value, if it is one of these."""
    source, result = cast.operands[0], cast.results[0]
    if {str(source.type), str(result.type)} == {"index", "i64"}:
        with ir.InsertionPoint(cast), cast.location:
            result.replace_all_uses_with(emit.value("arith.index_cast", (source,), result.type))
        cast.erase()
        return
    if not isinstance(source.type, ir.MemRefType):
        return
    for extract in list(_extracts(result)):
        with ir.InsertionPoint(extract), extract.location:
            extract.results[0].replace_all_uses_with(_member(source, extract))
        extract.erase()
    if not list(result.uses):
        cast.erase()


def _extracts(descriptor: Value) -> Iterator[Op]:
    """Yield the ops that read a number or a pointer of a memref's descriptor."""
    for use in descriptor.uses:
        op = use.owner.operation
        if op.name == "llvm.extractvalue" and not isinstance(
            op.results[0].type, llvm.StructType | llvm.ArrayType
        ):
            yield op


def _member(memref: Value, extract: Op) -> Value:
    """Emit the member of a memref's descriptor that an op reads (MLIR, "Target LLVM IR": the allocated
    and the aligned pointer, the offset, the sizes, the strides)."""
    result, (member, *dims) = extract.results[0].type, list(extract.attributes["position"])
    if member < _OFFSET:
        start = emit.value("memref.extract_aligned_pointer_as_index", (memref,), ir.IndexType.get())
        return emit.value("llvm.inttoptr", (emit.cast_index(start, emit.i64()),), result)
    # The results of `memref.extract_strided_metadata` after its first.
    number = sum(dims) + (0, 1, 1 + memref.type.rank)[member - _OFFSET]
    return emit.cast_index(strided_metadata(memref).results[1 + number], result)
