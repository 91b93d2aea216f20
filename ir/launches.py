"""Launches of kernels by the host: `gpu.launch_func`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..bindings.irtypes import Op, Value
from ..bindings.mlir import ir
from . import emit
from .kernel import module_of
from .walk import walk

LAUNCH = "gpu.launch_func"

#: The op that stands for a tensor map until the host encodes it, with `TENSOR_MAP` as an attribute: from
#: the memref that the map describes to the kernel's parameter.
PLACEHOLDER = "builtin.unrealized_conversion_cast"

_SEGMENTS = "operandSegmentSizes"


@dataclass(frozen=True)
class LaunchFunc:
    """The operands of a `gpu.launch_func`, in its order.

    Attributes:
        dependencies: async tokens that it waits for.
        grid, block: CTAs, and threads of a CTA, along x, y and z.
        cluster: CTAs of a cluster along x, y and z; empty if absent.
        shared_bytes: bytes of dynamic shared memory; empty if absent.
        arguments: the arguments of the kernel.
        stream: the object that it is enqueued on; empty if absent.
    """

    dependencies: Sequence[Value]
    grid: Sequence[Value]
    block: Sequence[Value]
    cluster: Sequence[Value]
    shared_bytes: Sequence[Value]
    arguments: Sequence[Value]
    stream: Sequence[Value]

    @staticmethod
    def of(op: Op) -> LaunchFunc:
        """Return the operands of an op."""
        sizes, operands = list(op.attributes[_SEGMENTS]), list(op.operands)
        dependencies, *extents, shared_bytes, arguments, stream = sizes
        dims = [sum(extents[:3]), sum(extents[3:6]), sum(extents[6:])]
        operand_groups: list[list[Value]] = []
        for size in (dependencies, *dims, shared_bytes, arguments, stream):
            operand_groups.append(operands[:size])
            operands = operands[size:]
        return LaunchFunc(*operand_groups)

    def replace(self, op: Op, **operands: Sequence[Value]) -> Op:
        """Replace an op by a launch with other operands, and return the launch."""
        new = replace(self, **operands)
        extents = (
            *([extent] for extent in (*new.grid, *new.block)),
            *([[extent] for extent in new.cluster] or [[]] * 3),
        )
        segments = [new.dependencies, *extents, new.shared_bytes, new.arguments, new.stream]
        attributes = {name: op.attributes[name] for name in op.attributes if name != _SEGMENTS}
        attributes[_SEGMENTS] = ir.DenseI32ArrayAttr.get([len(segment) for segment in segments])
        with ir.InsertionPoint(op), op.location:
            launch = emit.op(
                LAUNCH,
                [value for segment in segments for value in segment],
                [result.type for result in op.results],
                **attributes,
            )
        for old_result, new_result in zip(op.results, launch.results, strict=True):
            old_result.replace_all_uses_with(new_result)
        op.erase()
        return launch


def launches_of(function: Op, within: Op) -> Iterator[Op]:
    """Yield the launches of a kernel.

    Args:
        function: the kernel.
        within: the module that holds the kernel's module and the host's functions.
    """
    symbols = (module_of(function), function)
    if any("sym_name" not in op.attributes for op in symbols):
        return
    names = [ir.StringAttr(op.attributes["sym_name"]).value for op in symbols]
    # The host's functions are in no gpu.module, and kernels launch no kernel.
    hosts = [
        op for op in within.operation.regions[0].blocks[0] if op.operation.name != "gpu.module"
    ]
    for launch in [launch for host in hosts for launch in walk(host, LAUNCH)]:
        if ir.SymbolRefAttr(launch.attributes["kernel"]).value == names:
            yield launch


def kernel_of(launch: Op) -> Op | None:
    """Return the kernel of a launch, a `gpu.func` or an `llvm.func`; None if the module has none, or
    has it as code alone (`gpu.binary`)."""
    names = ir.SymbolRefAttr(launch.attributes["kernel"]).value
    table = launch.parent
    while table is not None and table.operation.name != "builtin.module":
        table = table.operation.parent
    symbol_op = None if table is None else table.operation
    for name in names:
        if symbol_op is None or not len(symbol_op.regions):
            return None
        ops = symbol_op.regions[0].blocks[0].operations
        symbol_op = next((op.operation for op in ops if _has_name(op, name)), None)
    return symbol_op


def _has_name(op: Op, name: str) -> bool:
    attributes = op.operation.attributes
    return "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == name
