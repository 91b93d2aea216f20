"""Conversion of fragment types to LLVM types."""

from collections.abc import Callable, Iterable

from ....bindings.diagnostics import Invalid
from ....bindings.irtypes import Module, Op, Type, Value
from ....bindings.mlir import ir
from ....dialect.types import FragmentType
from ....ir.errors import OpError
from ....ir.walk import walk

#: From a fragment type to its LLVM type.
Convert = Callable[[Type], Type]


def convert_types(module: Module, register_type: Convert) -> None:
    """Convert the type of every fragment in a module to its LLVM type.

    Results and block arguments of all ops, and signatures of functions, are converted, so that ops of
    other dialects can pass fragments on.

    Args:
        module: the module.
        register_type: from a fragment type to the LLVM type that replaces it.

    Raises:
        OpError: if an op of another dialect has a fragment that no registers can hold.
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


def _convert_values(values: Iterable[Value], register_type: Convert) -> None:
    for value in values:
        if isinstance(value.type, FragmentType):
            value.set_type(register_type(value.type))


def _converted(type_: Type, register_type: Convert) -> Type:
    return register_type(type_) if isinstance(type_, FragmentType) else type_


def _convert_signature(function: Op, register_type: Convert) -> None:
    signature = function.attributes["function_type"].value
    if not isinstance(signature, ir.FunctionType):
        return
    inputs, results = (
        [_converted(t, register_type) for t in types]
        for types in (signature.inputs, signature.results)
    )
    if inputs != list(signature.inputs) or results != list(signature.results):
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
