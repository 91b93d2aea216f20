"""Tensor maps that the host encodes before a launch, by the driver's `cuTensorMapEncodeTiled`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..bindings.irtypes import Attribute, Op, Type, Value
from ..bindings.mlir import ir
from ..ir import emit
from ..ir.errors import OpError
from ..ir.kernel import MODULES
from ..ir.launch_attributes import TENSOR_MAP, TENSOR_MAP_ALIGNMENT, TENSOR_MAP_BYTES
from ..ir.shared_memory import memref_pointer, strided_metadata
from ..layout.elements import NARROW, UNIT_BYTES, Element
from ..layout.swizzle import Swizzle
from ..layout.tensor_box import PADDED_ALIGNMENT
from ..runtime.tensor_maps import DATA_TYPES, TensorMapArguments

#: The driver's function as upstream's runtime exports it, in `libmlir_cuda_runtime.so`: its arguments are
#: those of `cuTensorMapEncodeTiled`; errors are printed.
ENCODE = "mgpuTensorMapEncodeTiled"

_TYPE = "!llvm.func<void (ptr, i32, i32, ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32)>"

#: `CUtensorMapDataType`, in its order (CUDA driver API).
_DATA_TYPES = (
    *("UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64"),
    *("BFLOAT16", "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ"),
    *("16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"),
)

#: `CUtensorMapL2promotion` and `CUtensorMapFloatOOBfill`, in their order.
_L2_PROMOTIONS, _FILLS = ("none", "64B", "128B", "256B"), ("zero", "nan")

_SWIZZLES = {str(swizzle): swizzle.value for swizzle in Swizzle}


def encode_tensor_map(launch: Op, placeholder: Op) -> Value:
    """Emit the encoding of a tensor map, and return the map as a value, `!llvm.array<16 x i64>`.

    A launch passes it by value. The map describes the memref at the time of the launch.

    Args:
        launch: the launch; the insertion point is before it.
        placeholder: the op with the memref and the attribute `smem.tensor_map`.

    Raises:
        OpError: if the launch is in no function, the map is malformed, or the module has another function
            of the encoder's name.
    """
    (memref,) = placeholder.operands
    spec = _tensor_map_spec(placeholder)
    rank, contiguous = memref.type.rank, spec.contiguous
    order = [contiguous, *(d for d in reversed(range(rank)) if d != contiguous)]
    function = _function_of(launch)
    _declare(launch, function)
    metadata = strided_metadata(memref)
    sizes, strides = metadata.results[2 : 2 + rank], metadata.results[2 + rank :]
    lines = [_stride(memref.type, spec, sizes[d], strides[d]) for d in order[1:]]
    memory = _Memory(function)
    operands = [
        pointer := memory.allocate("i64", TENSOR_MAP_BYTES // 8, TENSOR_MAP_ALIGNMENT),
        _i32(spec.data_type),
        _i32(rank),
        memref_pointer(memref, 0),
        memory.store("i64", _extents(spec, [sizes[d] for d in order])),
        memory.store("i64", lines),
        memory.store("i32", [_i32(spec.box[d]) for d in order]),
        memory.store("i32", [_i32(1)] * rank),
        _i32(0),  # CU_TENSOR_MAP_INTERLEAVE_NONE
        _i32(spec.swizzle),
        _i32(spec.l2_promotion),
        _i32(spec.oob),
    ]
    _call(operands)
    array = ir.Type.parse(f"!llvm.array<{TENSOR_MAP_BYTES // 8} x i64>")
    return emit.value("llvm.load", (pointer,), array)


class _TensorMapSpec(NamedTuple):
    """The attribute `smem.tensor_map`; enumerations as the driver numbers them.

    Attributes:
        data_type: the `CUtensorMapDataType`.
        padded: the element type, if TMA pads its elements.
        box: elements along each dimension.
        contiguous: the contiguous dimension.
        swizzle, l2_promotion, oob: as `runtime.tensor_maps.TensorMapArguments` has them.
    """

    data_type: int
    padded: Element | None
    box: list[int]
    contiguous: int
    swizzle: int
    l2_promotion: int
    oob: int


def _tensor_map_spec(placeholder: Op) -> _TensorMapSpec:
    """Parse the attribute `smem.tensor_map`.

    Raises:
        OpError: for a dictionary that `smem-lower-copies` does not write.
    """
    attributes = placeholder.attributes[TENSOR_MAP]
    try:
        name = ir.StringAttr(attributes["element"]).value
        element = NARROW.get(name)
        spec = _TensorMapSpec(
            _DATA_TYPES.index(DATA_TYPES[name]),
            element if element is not None and element.padding else None,
            list(ir.DenseI64ArrayAttr(attributes["box"])),
            ir.IntegerAttr(attributes["contiguous"]).value,
            _SWIZZLES[ir.StringAttr(attributes["swizzle"]).value],
            _L2_PROMOTIONS.index(
                _text(attributes, "l2_promotion", TensorMapArguments.l2_promotion)
            ),
            _FILLS.index(_text(attributes, "oob", TensorMapArguments.oob)),
        )
        rank = ir.MemRefType(placeholder.operands[0].type).rank
    except (KeyError, ValueError, TypeError):
        spec, rank = None, 0
    if spec is None or len(spec.box) != rank or not 0 <= spec.contiguous < rank:
        raise OpError(
            placeholder, f"has {TENSOR_MAP} = {attributes}; expected what smem-lower-copies writes"
        )
    return spec


def _extents(spec: _TensorMapSpec, sizes: Sequence[Value]) -> list[Value]:
    """Return the elements along each dimension as i64.

    A memref of elements that TMA pads has bytes along its contiguous dimension.
    """
    extents = [emit.cast_index(size, emit.i64()) for size in sizes]
    if spec.padded:
        bits = emit.binary("muli", extents[0], 8)
        extents[0] = emit.binary("divui", bits, spec.padded.packed_bits)
    return extents


def _stride(type_: Type, spec: _TensorMapSpec, size: Value, stride: Value) -> Value:
    """Return the stride of a dimension in bytes, as i64.

    The stride of a dimension with one element is not used; any valid one is returned.
    """
    unused = emit.constant(PADDED_ALIGNMENT if spec.padded else UNIT_BYTES, emit.i64())
    width = type_.element_type.width // 8
    stride_bytes = emit.binary("muli", emit.cast_index(stride, emit.i64()), width)
    return emit.select(emit.compare("eq", size, 1), unused, stride_bytes)


class _Memory:
    """Arrays on the stack of a function.

    They are allocated at the function's entry: an allocation in a loop would grow the stack in each
    iteration.

    Args:
        function: the host's function.
    """

    def __init__(self, function: Op) -> None:
        self._entry = function.regions[0].blocks[0]

    def allocate(self, element: str, count: int, alignment: int = 0) -> Value:
        """Emit the allocation of an array, and return its address."""
        with ir.InsertionPoint.at_block_begin(self._entry):
            length = _integer(count, emit.i64())
            attributes = {"elem_type": ir.TypeAttr.parse(element)}
            if alignment:
                attributes["alignment"] = ir.IntegerAttr.get(emit.i64(), alignment)
            return emit.value("llvm.alloca", (length,), _pointer(), **attributes)

    def store(self, element: str, values: Sequence[Value]) -> Value:
        """Emit an array and the stores of its elements at the insertion point; return its address."""
        address = self.allocate(element, len(values))
        for position, value in enumerate(values):
            element_address = emit.value(
                "llvm.getelementptr",
                (address,),
                _pointer(),
                elem_type=ir.TypeAttr.parse(element),
                rawConstantIndices=ir.DenseI32ArrayAttr.get([position]),
            )
            emit.op("llvm.store", (value, element_address))
        return address


def _call(operands: Sequence[Value]) -> None:
    emit.op(
        "llvm.call",
        operands,
        callee=ir.FlatSymbolRefAttr.get(ENCODE),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(operands), 0]),
        op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
    )


def _declare(launch: Op, function: Op) -> None:
    """Declare the driver's function in the module of a function, unless it is declared already."""
    body = function.parent.operation.regions[0].blocks[0]
    declared = ir.TypeAttr.parse(_TYPE)
    for op in body.operations:
        attributes = op.operation.attributes
        if "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == ENCODE:
            if op.operation.name != "llvm.func" or attributes["function_type"] != declared:
                raise OpError(
                    launch,
                    f"needs the function '{ENCODE}' of type {_TYPE}, but the module has another "
                    "symbol of that name",
                )
            return
    with ir.InsertionPoint.at_block_begin(body), function.location:
        ir.Operation.create(
            "llvm.func",
            attributes={
                "sym_name": ir.StringAttr.get(ENCODE),
                "function_type": declared,
                "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
                "CConv": ir.Attribute.parse("#llvm.cconv<ccc>"),
            },
            regions=1,
        )


def _function_of(launch: Op) -> Op:
    """Return the host's function that has a launch."""
    op = launch
    while op.parent is not None and op.parent.operation.name not in MODULES:
        op = op.parent.operation
    if "function_type" not in op.attributes:
        raise OpError(launch, "is in no function; expected a func.func or an llvm.func of the host")
    return op


def _text(attributes: Attribute, name: str, default: str) -> str:
    return ir.StringAttr(attributes[name]).value if name in attributes else default


def _pointer() -> Type:
    return ir.Type.parse("!llvm.ptr")


def _i32(number: int) -> Value:
    return _integer(number, emit.i32())


def _integer(number: int, type_: Type) -> Value:
    return emit.value("llvm.mlir.constant", (), type_, value=ir.IntegerAttr.get(type_, number))
