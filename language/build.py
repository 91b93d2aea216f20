"""From a Python function to a module: the `gpu.func`, its attributes, and the traced body."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import Any

from ..bindings.mlir import gpu, ir
from .control.grid import WARPGROUP
from .dtypes import DType
from .dtypes import index as index_type
from .errors import TraceError
from .places import Locations
from .signature import Parameter
from .trace import Trace, tracing
from .values.array import Array
from .values.boolean import Bool
from .values.index import Index
from .values.scalar import Scalar


class Options:
    """What the decorator says of a kernel.

    Attributes:
        warpgroups: of a CTA.
        cluster: CTAs of a cluster along x, y and z.
        min_blocks: CTAs of a multiprocessor at least (`.minnctapersm`); None leaves it.
        inserts_sync: whether `smem-insert-sync` synchronizes the kernel, and not its author.
    """

    def __init__(
        self,
        warpgroups: int,
        cluster: tuple[int, ...] = (1, 1, 1),
        min_blocks: int | None = None,
        inserts_sync: bool = False,
    ) -> None:
        self.inserts_sync = inserts_sync
        self.warpgroups = warpgroups
        self.cluster = (*cluster, 1, 1)[:3]
        self.min_blocks = min_blocks


def build(
    function: Callable[..., Any],
    parameters: Mapping[str, Parameter],
    dtypes: Mapping[str, DType],
    constants: Mapping[str, Any],
    options: Options,
) -> Any:
    """Trace a function in the current context, and return the module; it is not verified yet.

    Args:
        function: the kernel.
        parameters: of its arrays and numbers, by name.
        dtypes: their element types.
        constants: the values of its keyword-only parameters.
        options: of the decorator.

    Raises:
        TraceError: for a mistake in the kernel, at its line.
    """
    with new_kernel(function.__code__, parameters, dtypes, options) as (trace, module, given):
        returned = function(*given, **constants)
        _check_end(trace, returned)
    return module


@contextmanager
def new_kernel(
    code: CodeType,
    parameters: Mapping[str, Parameter],
    dtypes: Mapping[str, DType],
    options: Options,
) -> Iterator[tuple[Trace, Any, list[Any]]]:
    """Enter the body of a new kernel. Gives its trace, its module, and its arguments.

    Args:
        code: of the function that is traced.
        parameters, dtypes, options: as for `build`.
    """
    location = ir.Location.file(code.co_filename, code.co_firstlineno, 1)
    trace = Trace(code.co_name, Locations(code), options.warpgroups, options.inserts_sync)
    with location:
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            holder = gpu.GPUModuleOp("kernels")
            body = holder.bodyRegion.blocks.append()
        with ir.InsertionPoint(body):
            made = _function(code.co_name, parameters, dtypes, options)
        block = made.add_entry_block()
    with tracing(trace), location, ir.InsertionPoint(block):
        trace.begin()
        try:
            yield trace, module, _arguments(parameters, dtypes, block.arguments)
        except BaseException:
            trace.unwind()
            raise
        finally:
            trace.close()
        gpu.ReturnOp([])
        trace.erase_unused()
    _attributes(made, trace, options)


def _function(
    name: str, parameters: Mapping[str, Parameter], dtypes: Mapping[str, DType], options: Options
) -> Any:
    types = [parameter.type(dtypes[each]) for each, parameter in parameters.items()]
    return gpu.GPUFuncOp(
        ir.FunctionType.get(types, []),
        name,
        kernel=True,
        known_block_size=[WARPGROUP * options.warpgroups, 1, 1],
        arg_attrs=[_described(each, parameter) for each, parameter in parameters.items()],
    )


def _described(name: str, parameter: Parameter) -> dict[str, Any]:
    described = {"smem.name": ir.StringAttr.get(name)}
    if not parameter.is_scalar:
        number = ir.IntegerType.get_signless(64)
        extents = [
            ir.IntegerAttr.get(number, each) if isinstance(each, int) else ir.StringAttr.get(each)
            for each in parameter.shape
        ]
        described["smem.shape"] = ir.ArrayAttr.get(extents)
    return described


def _arguments(
    parameters: Mapping[str, Parameter], dtypes: Mapping[str, DType], values: Any
) -> list[Any]:
    """Return what the function receives for its parameters."""
    given: list[Any] = []
    for (name, parameter), value in zip(parameters.items(), values, strict=True):
        if not parameter.is_scalar:
            given.append(Array(value, name, parameter.shape))
        elif dtypes[name] == index_type:
            given.append(Index(value))
        else:
            given.append(Bool(value) if dtypes[name].kind == "bool" else Scalar(value))
    return given


def _check_end(trace: Trace, returned: Any) -> None:
    if trace.broken is not None:
        raise trace.broken
    if len(trace.scopes) > 1:
        raise TraceError(f"the kernel {trace.name} ends in {trace.scope.what}, by a return")
    if returned is not None:
        raise TraceError(
            f"the kernel {trace.name} returns a value; it writes its results to arrays, by sl.store"
        )


def _attributes(made: Any, trace: Trace, options: Options) -> None:
    attributes = made.operation.attributes
    number = ir.IntegerType.get_signless(64, made.operation.context)
    if trace.grid is not None:
        entries = [
            ir.ArrayAttr.get([ir.StringAttr.get(extent), ir.IntegerAttr.get(number, by)])
            for extent, by in trace.grid
        ]
        attributes["smem.grid"] = ir.ArrayAttr.get(entries)
    if trace.multiples:
        attributes["smem.multiples"] = ir.DictAttr.get(
            {extent: ir.IntegerAttr.get(number, by) for extent, by in trace.multiples.items()}
        )
    if options.cluster != (1, 1, 1):
        attributes["known_cluster_size"] = ir.DenseI32ArrayAttr.get(list(options.cluster))
    if options.min_blocks is not None:
        attributes["nvvm.minctasm"] = ir.IntegerAttr.get(
            ir.IntegerType.get_signless(32), options.min_blocks
        )
