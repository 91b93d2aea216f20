"""Parameters of a kernel that are tensor maps; the host encodes them at the launch."""

from ..bindings.irtypes import Attribute, Op, Value
from ..bindings.mlir import ir
from .kernel import parameter_attributes
from .launch_attributes import TENSOR_MAP, TENSOR_MAP_ALIGNMENT, TENSOR_MAP_BYTES


def add_tensor_map(function: Op, described: Attribute) -> Value:
    """Add a parameter after the inputs of a function, and before the buffers of a gpu.func.

    Args:
        function: the kernel.
        described: the attribute `smem.tensor_map`, which describes the map.

    Returns:
        The parameter, a pointer.
    """
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
    attributes = [*parameter_attributes(function, count), ir.DictAttr.get({TENSOR_MAP: described})]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    return added


def pass_by_value(function: Op, count: int) -> None:
    """Pass the last parameters of a kernel, its tensor maps, by value as constants of the grid
    (`__grid_constant__`), so that TMA reads the parameter itself.

    Args:
        function: an `llvm.func`; `gpu.func` cannot hold these attributes.
        count: how many there are.
    """
    attributes = ir.DictAttr.get(
        {
            "llvm.align": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), TENSOR_MAP_ALIGNMENT),
            "llvm.byval": ir.TypeAttr.parse(f"!llvm.array<{TENSOR_MAP_BYTES} x i8>"),
            "nvvm.grid_constant": ir.UnitAttr.get(),
        }
    )
    parameters = len(function.regions[0].blocks[0].arguments)
    leading = parameter_attributes(function, parameters)[:-count]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([*leading, *[attributes] * count])
