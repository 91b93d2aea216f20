"""Fragment types become LLVM types, wherever fragments flow."""

from collections.abc import Callable
from typing import Any

from ....dialect.bindings import ir
from ....dialect.diagnostics import Invalid
from ....dialect.types import FragmentType
from ....ir.errors import OpError
from ....ir.walk import walk

Convert = Callable[[Any], Any]


def convert_types(module: Any, register_type: Convert) -> None:
    """Gives every fragment in a module its LLVM type, wherever it flows: results and block arguments
    of any op and signatures of functions, so that the host's dialects carry it on.

    Args:
        module: the module.
        register_type: from a fragment type to the LLVM type of what stands for it.

    Raises:
        OpError: if an op that is none of ours has a fragment that no registers can hold.
    """

    for op in walk(module):
        try:
            _convert_values(op.results, register_type)
            for region in op.regions:
                for block in region.blocks:
                    _convert_values(block.arguments, register_type)
            if "function_type" in op.attributes:
                _convert_signature(op, register_type)
        except Invalid as error:
            raise OpError(op, str(error)) from None


def _convert_values(values: Any, register_type: Convert) -> None:
    for value in values:
        if isinstance(value.type, FragmentType):
            value.set_type(register_type(value.type))


def _converted(type_: Any, register_type: Convert) -> Any:
    return register_type(type_) if isinstance(type_, FragmentType) else type_


def _convert_signature(function: Any, register_type: Convert) -> None:
    signature = function.attributes["function_type"].value
    if not isinstance(signature, ir.FunctionType):
        return
    inputs, results = (
        [_converted(t, register_type) for t in types]
        for types in (signature.inputs, signature.results)
    )
    if inputs != list(signature.inputs) or results != list(signature.results):
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
