"""From a Python function to a module: the `gpu.func`, its attributes, and the traced body."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import Any

from ..bindings.mlir import gpu, ir
from .control.grid import WARPGROUP
from .control.statements import Statements
from .dtypes import DType
from .dtypes import index as index_type
from .errors import TraceError
from .locations import Locations
from .ops.printing import finish_prints
from .options import KernelOptions
from .rewriting import rewrite
from .signature import Parameter
from .trace import KernelTrace, tracing
from .values.array import Array
from .values.boolean import Bool
from .values.index import Index
from .values.scalar import read_scalar


def build(
    function: Callable[..., Any],
    parameters: Mapping[str, Parameter],
    dtypes: Mapping[str, DType | None],
    constants: Mapping[str, Any],
    options: KernelOptions,
) -> Any:
    """Trace a function in the current context, and return the module; it is not verified yet.

    Args:
        function: the kernel.
        parameters: of its arrays and numbers, by name; the constants give the extents that they name.
        dtypes: their element types; None for those that are None in the kernel.
        constants: the values of its keyword-only parameters.
        options: of the decorator.

    Raises:
        TraceError: for a mistake in the kernel, at its line.
    """
    function = rewrite(function, Statements(function.__code__))
    parameters = {name: given.with_extents(constants) for name, given in parameters.items()}
    with enter_kernel(function.__code__, parameters, dtypes, options) as (trace, module, arguments):
        returned = function(*arguments, **constants)
        _check_end(trace, returned)
    return module


@contextmanager
def enter_kernel(
    code: CodeType,
    parameters: Mapping[str, Parameter],
    dtypes: Mapping[str, DType | None],
    options: KernelOptions,
) -> Iterator[tuple[KernelTrace, Any, list[Any]]]:
    """Enter the body of a new kernel; yield its trace, its module, and its arguments.

    Args:
        code: of the function that is traced.
        parameters, dtypes, options: as for `build`.
    """
    location = ir.Location.file(code.co_filename, code.co_firstlineno, 1)
    types = {name: dtype for name, dtype in dtypes.items() if dtype is not None}
    present = {name: parameters[name] for name in parameters if name in types}
    trace = KernelTrace(code.co_name, Locations(code), options)
    with location:
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            holder = gpu.GPUModuleOp("kernels")
            body = holder.bodyRegion.blocks.append()
        with ir.InsertionPoint(body):
            function = _build_function(code.co_name, present, types, options)
        block = function.add_entry_block()
    with tracing(trace), location, ir.InsertionPoint(block):
        trace.begin()
        try:
            arguments = _arguments(present, types, block.arguments)
            yield trace, module, [arguments.get(name) for name in parameters]
        except BaseException:
            trace.unwind()
            raise
        finally:
            trace.close()
        gpu.ReturnOp([])
        trace.erase_unused()
        if trace.prints:
            finish_prints(function)
    _set_attributes(function, trace, options)


def _build_function(
    symbol: str,
    parameters: Mapping[str, Parameter],
    dtypes: Mapping[str, DType],
    options: KernelOptions,
) -> Any:
    types = [parameter.type(dtypes[name]) for name, parameter in parameters.items()]
    return gpu.GPUFuncOp(
        ir.FunctionType.get(types, []),
        symbol,
        kernel=True,
        known_block_size=[WARPGROUP * options.warpgroups, 1, 1],
        arg_attrs=[_argument_attributes(name, parameter) for name, parameter in parameters.items()],
    )


def _argument_attributes(name: str, parameter: Parameter) -> dict[str, Any]:
    attributes = {"smem.name": ir.StringAttr.get(name)}
    if not parameter.is_scalar:
        number = ir.IntegerType.get_signless(64)
        extents = [
            ir.IntegerAttr.get(number, extent)
            if isinstance(extent, int)
            else ir.StringAttr.get(extent)
            for extent in parameter.shape
        ]
        attributes["smem.shape"] = ir.ArrayAttr.get(extents)
    return attributes


def _arguments(
    parameters: Mapping[str, Parameter], dtypes: Mapping[str, DType], values: Any
) -> dict[str, Any]:
    """Return the traced arguments of the function, by name."""
    arguments: dict[str, Any] = {}
    for (name, parameter), value in zip(parameters.items(), values, strict=True):
        if not parameter.is_scalar:
            arguments[name] = Array(value, name, parameter.shape)
        elif dtypes[name] == index_type:
            arguments[name] = Index(value)
        else:
            arguments[name] = Bool(value) if dtypes[name].kind == "bool" else read_scalar(value)
    return arguments


def _check_end(trace: KernelTrace, returned: Any) -> None:
    if trace.broken is not None:
        raise trace.broken
    for unentered in trace.unentered.values():
        raise unentered
    if len(trace.scopes) > 1:
        trace.scope.check_end(trace.scopes[0].label)
    if returned is not None:
        raise TraceError(
            f"the kernel {trace.name} returns a value; it writes its results to arrays, by sl.store"
        )


def _set_attributes(function: Any, trace: KernelTrace, options: KernelOptions) -> None:
    attributes = function.operation.attributes
    number = ir.IntegerType.get_signless(64, function.operation.context)
    if trace.grid is not None:
        entries = [
            ir.ArrayAttr.get([ir.StringAttr.get(extent), ir.IntegerAttr.get(number, block)])
            for extent, block in trace.grid
        ]
        attributes["smem.grid"] = ir.ArrayAttr.get(entries)
    if trace.multiples:
        attributes["smem.multiples"] = ir.DictAttr.get(
            {
                extent: ir.IntegerAttr.get(number, multiple)
                for extent, multiple in trace.multiples.items()
            }
        )
    if options.cluster_extents != (1, 1, 1):
        attributes["known_cluster_size"] = ir.DenseI32ArrayAttr.get(list(options.cluster_extents))
    min_blocks = options.min_blocks
    if min_blocks is None and trace.moves_registers:
        # ptxas ignores setmaxnreg where it does not know a kernel's registers (C7508).
        min_blocks = 1
    if min_blocks is not None:
        number = ir.IntegerType.get_signless(32)
        attributes["nvvm.minctasm"] = ir.IntegerAttr.get(number, min_blocks)
