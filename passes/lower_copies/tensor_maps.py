"""Tensor maps as parameters of a kernel: the host encodes what the parameter's attribute says."""

from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops.copy import is_packed
from ...dialect.ops.tma import check_box, map_box, matrix_contiguous
from ...dialect.types import tensor_of, tile_element
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import block_size, function_of, parameter_attributes
from ...ir.launch_attributes import TENSOR_MAP
from ...ir.threads import linear_thread
from ...layout.tensor_box import TensorBox


class TensorMaps:
    """The tensor maps of a module's kernels; those that say the same are one parameter."""

    def __init__(self) -> None:
        # Not the keys of a dict: an op's hash changes with its attributes.
        self._functions: list[Any] = []

    def of(self, op: Any, memref: Any, tile: Any, box: TensorBox) -> Any:
        """The parameter (a pointer) by which `op` copies between a memref and boxes of a tile.

        Raises:
            OpError: if the memref is no argument of the kernel.
        """
        function = function_of(op)
        if function not in self._functions:
            self._functions.append(function)
        described = _described(op, function, memref, tile, box)
        for pointer, said in _maps_of(function):
            if said == described:
                return pointer
        return _add_argument(function, described)

    def prefetch(self) -> None:
        """Has one thread of each kernel fetch its tensor maps at the start."""
        for function in self._functions:
            size = block_size(function)
            if size is None:
                continue
            entry = function.regions[0].blocks[0]
            with (
                ir.InsertionPoint.at_block_begin(entry),
                function.location,
                emit.guarded(emit.compare("eq", linear_thread(size), 0)),
            ):
                for pointer, _ in _maps_of(function):
                    emit.op("nvvm.prefetch", (pointer,), tensormap=ir.UnitAttr.get())


def _maps_of(function: Any) -> list[tuple[Any, Any]]:
    """The parameters that are tensor maps, with what they describe."""
    given = parameter_attributes(function, 0)
    # A gpu.func's buffers follow the parameters, and have no attributes here.
    pairs = zip(function.regions[0].blocks[0].arguments, given, strict=False)
    return [(pointer, said[TENSOR_MAP]) for pointer, said in pairs if TENSOR_MAP in said]


def _described(op: Any, function: Any, memref: Any, tile: Any, box: TensorBox) -> Any:
    arguments = list(function.regions[0].blocks[0].arguments)
    inputs = len(ir.TypeAttr(function.attributes["function_type"]).value.inputs)
    if memref not in arguments[:inputs]:
        raise OpError(
            op,
            "takes a memref that is no argument of the kernel; the host encodes a tensor map of a whole "
            "argument, and the coordinates say where a part begins",
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


def _map_element(memref: Any, tile: Any) -> str:
    """The element type of a tensor map: the tile's, but where elements share bytes these bytes; of padded
    ones, what the ISA calls it."""
    if tile_element(tile).padding:
        return tile_element(tile).name
    return str(memref.element_type if is_packed(tile) else tensor_of(tile).element_type)


def _add_argument(function: Any, described: Any) -> Any:
    """Adds a parameter after the function's inputs; buffers of a gpu.func, which follow them, move."""
    signature = ir.TypeAttr(function.attributes["function_type"]).value
    count = len(signature.inputs)
    entry, type_ = function.regions[0].blocks[0], ir.Type.parse("!llvm.ptr")
    location = function.location
    buffers = list(entry.arguments)[count:]
    added = entry.add_argument(type_, location)
    for buffer in buffers:
        buffer.replace_all_uses_with(entry.add_argument(buffer.type, location))
    for _ in buffers:
        entry.erase_argument(count)
    inputs = [*signature.inputs, type_]
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(inputs, signature.results)
    )
    given = function.attributes
    own = parameter_attributes(function, count)
    attributes = ir.DictAttr.get({TENSOR_MAP: described})
    given["arg_attrs"] = ir.ArrayAttr.get([*own, attributes])
    return added
