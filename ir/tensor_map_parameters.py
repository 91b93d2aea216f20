"""Parameters of a kernel that are tensor maps; the host encodes them at the launch."""

from ..dialect.bindings import ir
from ..dialect.irtypes import Attribute, Op, Value
from .kernel import parameter_attributes
from .launch_attributes import TENSOR_MAP


def add_tensor_map(function: Op, described: Attribute) -> Value:
    """Add a parameter after the inputs of a function, and before the buffers of a gpu.func.

    Args:
        function: the kernel.
        described: what the map describes, the attribute `smem.tensor_map`.

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
    given = function.attributes
    own = parameter_attributes(function, count)
    attributes = ir.DictAttr.get({TENSOR_MAP: described})
    given["arg_attrs"] = ir.ArrayAttr.get([*own, attributes])
    return added
