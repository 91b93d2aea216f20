"""The registry of lowerings, and the lowerings of ops that need no more than one function.

Each file of this folder registers its own.
"""

from __future__ import annotations

from ...bindings.irtypes import Attribute, Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.ops import CopyCommitOp, CopyWaitOp, FenceOp, OffsetOp, TmaCommitOp, TmaWaitOp
from ...dialect.ops.copy import is_packed
from ...dialect.ops.tma import check_box, map_box, matrix_contiguous
from ...dialect.types import tensor_of, tile_element
from ...ir import emit
from ...ir.errors import OpError
from ...ir.i32 import I32
from ...ir.kernel import block_size, function_of, parameter_attributes
from ...ir.launch_attributes import TENSOR_MAP
from ...ir.launches import PLACEHOLDER, LaunchFunc, launches_of
from ...ir.lowerings import Lowerings
from ...ir.subtiles import subtile_from
from ...ir.tensor_map_parameters import add_tensor_map
from ...ir.threads import linear_thread
from ...ir.tile_address import Number, TileOffset
from ...layout.tensor_box import TensorBox
from ...layout.vector_use import check_vectors

#: Functions of the op (an op view) and the `TensorMaps` of the module, called with the insertion point at
#: the op. The op is erased later.
LOWERINGS = Lowerings()


@LOWERINGS.of(FenceOp)
def lower_fence(op: FenceOp, _: TensorMaps) -> None:
    """Emit `fence.proxy.async` of shared memory."""
    emit.op(
        "nvvm.fence.proxy",
        kind=ir.Attribute.parse("#nvvm.proxy_kind<async.shared>"),
        space=ir.Attribute.parse("#nvvm.shared_space<cta>"),
    )


@LOWERINGS.of(CopyCommitOp)
def lower_copy_commit(op: CopyCommitOp, _: TensorMaps) -> None:
    """Emit the commit of a group of `cp.async`."""
    emit.op("nvvm.cp.async.commit.group")


@LOWERINGS.of(CopyWaitOp)
def lower_copy_wait(op: CopyWaitOp, _: TensorMaps) -> None:
    """Emit a wait for groups of `cp.async`."""
    emit.op("nvvm.cp.async.wait.group", n=_i32(op.pending))


@LOWERINGS.of(TmaCommitOp)
def lower_tma_commit(op: TmaCommitOp, _: TensorMaps) -> None:
    """Emit the commit of a group of bulk copies."""
    emit.op("nvvm.cp.async.bulk.commit.group")


@LOWERINGS.of(TmaWaitOp)
def lower_tma_wait(op: TmaWaitOp, _: TensorMaps) -> None:
    """Emit a wait for groups of bulk copies; with `read`, only until their sources may be written."""
    attributes = {"group": _i32(op.pending)}
    if op.read:
        attributes["read"] = ir.UnitAttr.get()
    emit.op("nvvm.cp.async.bulk.wait_group", **attributes)


@LOWERINGS.of(OffsetOp)
def lower_offset(op: OffsetOp, _: TensorMaps) -> None:
    """Replace the offset by arithmetic on i32, or by a constant where row, column and start are known."""
    subtile = subtile_from(op.tile, op)
    check_vectors(subtile.slice, op.vector)
    offset = TileOffset(subtile).element_offset(_number(op.row), _number(op.column))
    index = ir.IndexType.get()
    if isinstance(offset, int):
        value = emit.constant(offset, index)
    else:
        value = emit.value("arith.index_castui", (offset.value,), index)
    op.result.replace_all_uses_with(value)


def _number(index: Value) -> Number:
    constant = constant_of(index)
    return I32(emit.cast_index(index, emit.i32())) if constant is None else constant


def _i32(attribute: Attribute) -> Attribute:
    return ir.IntegerAttr.get(emit.i32(), attribute.value)


class TensorMaps:
    """The tensor maps of the kernels of a module; equal maps are one parameter.

    Args:
        module: the module. Launches in it get an operand for each map: a placeholder, which
            `smem-lower-launches` replaces, and nothing else can lower.
    """

    def __init__(self, module: Op) -> None:
        self._module = module
        # A list: a dict needs the hash of an op, which changes with its attributes.
        self._functions: list[Op] = []

    def of(self, op: Op, memref: Value, tile: Value, box: TensorBox) -> Value:
        """Return the parameter (a pointer) with which `op` copies between a memref and boxes of a tile.

        Raises:
            OpError: if the memref is not an argument of the kernel.
        """
        function = function_of(op)
        if function not in self._functions:
            self._functions.append(function)
        map_attribute = _map_attribute(op, function, memref, tile, box)
        for pointer, existing in _maps_of(function):
            if existing == map_attribute:
                return pointer
        pointer = add_tensor_map(function, map_attribute)
        for launch in launches_of(function, self._module):
            _add_placeholder(launch, map_attribute, pointer.type)
        return pointer

    def prefetch(self) -> None:
        """Emit, at the start of each kernel, the prefetch of its tensor maps by one thread."""
        for function in self._functions:
            size = block_size(function)
            if size is None:
                continue
            entry = function.regions[0].blocks[0]
            with (
                ir.InsertionPoint.at_block_begin(entry),
                function.location,
                emit.scf_if(emit.compare("eq", linear_thread(size), 0)),
            ):
                for pointer, _ in _maps_of(function):
                    emit.op("nvvm.prefetch", (pointer,), tensormap=ir.UnitAttr.get())


def _add_placeholder(launch: Op, map_attribute: Attribute, type_: Type) -> None:
    """Give a launch an operand for a tensor map that the host has to encode."""
    operands = LaunchFunc.of(launch)
    memref = operands.arguments[map_attribute["argument"].value]
    with ir.InsertionPoint(launch), launch.location:
        pointer = emit.value(PLACEHOLDER, (memref,), type_, **{TENSOR_MAP: map_attribute})
    operands.replace(launch, arguments=[*operands.arguments, pointer])


def _maps_of(function: Op) -> list[tuple[Value, Attribute]]:
    """Return the parameters that are tensor maps, each with its attribute."""
    # The buffers of a gpu.func follow its parameters, and have no attributes here.
    arguments = function.regions[0].blocks[0].arguments
    return [
        (pointer, attributes[TENSOR_MAP])
        for pointer, attributes in zip(arguments, parameter_attributes(function, 0), strict=False)
        if TENSOR_MAP in attributes
    ]


def _map_attribute(op: Op, function: Op, memref: Value, tile: Value, box: TensorBox) -> Attribute:
    arguments = list(function.regions[0].blocks[0].arguments)
    inputs = len(ir.TypeAttr(function.attributes["function_type"]).value.inputs)
    if memref not in arguments[:inputs]:
        raise OpError(
            op,
            "takes a memref that is not an argument of the kernel; the host encodes a tensor map of a "
            "whole argument, and the coordinates say where the copied box begins",
        )
    check_box(box, memref.type)
    i64 = emit.i64()
    return ir.DictAttr.get(
        {
            "argument": ir.IntegerAttr.get(i64, arguments.index(memref)),
            "box": ir.DenseI64ArrayAttr.get(map_box(memref.type, tile.type, box)),
            "contiguous": ir.IntegerAttr.get(i64, matrix_contiguous(memref.type)),
            "element": ir.StringAttr.get(_map_element(memref.type, tile.type)),
            "swizzle": ir.StringAttr.get(str(box.swizzle)),
        }
    )


def _map_element(memref: Type, tile: Type) -> str:
    """Return the name of the element type of a tensor map.

    It is the element type of the tile; that of the memref where elements share bytes; the name in the ISA
    for padded elements.
    """
    if tile_element(tile).padding:
        return tile_element(tile).name
    return str(memref.element_type if is_packed(tile) else tensor_of(tile).element_type)
