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

#: The op in the place of a tensor map that the host still has to encode, with `TENSOR_MAP` as an
#: attribute: from the memref that the map describes to the kernel's parameter.
PLACEHOLDER = "builtin.unrealized_conversion_cast"

_SEGMENTS = "operandSegmentSizes"


@dataclass(frozen=True)
class Launch:
    """The operands of a `gpu.launch_func`, in its order.

    Attributes:
        dependencies: async tokens that it waits for.
        grid, block: CTAs, and threads of a CTA, along x, y and z.
        cluster: CTAs of a cluster; nothing if the launch does not say.
        shared_bytes: its dynamic shared memory; nothing if it does not say.
        arguments: those of the kernel.
        stream: the object that it is enqueued on; nothing if there is none.
    """

    dependencies: Sequence[Value]
    grid: Sequence[Value]
    block: Sequence[Value]
    cluster: Sequence[Value]
    shared_bytes: Sequence[Value]
    arguments: Sequence[Value]
    stream: Sequence[Value]

    @staticmethod
    def of(op: Op) -> Launch:
        """Return the operands of an op."""
        sizes, operands = list(op.attributes[_SEGMENTS]), list(op.operands)
        dependencies, *extents, shared_bytes, arguments, stream = sizes
        groups = [dependencies, sum(extents[:3]), sum(extents[3:6]), sum(extents[6:])]
        found: list[list[Value]] = []
        for size in (*groups, shared_bytes, arguments, stream):
            found.append(operands[:size])
            operands = operands[size:]
        return Launch(*found)

    def replace(self, op: Op, **operands: Sequence[Value]) -> Op:
        """Put a launch with other operands in the place of an op, and return it."""
        made = replace(self, **operands)
        groups = (
            *([each] for each in (*made.grid, *made.block)),
            *([[each] for each in made.cluster] or [[]] * 3),
        )
        every = [made.dependencies, *groups, made.shared_bytes, made.arguments, made.stream]
        attributes = {name: op.attributes[name] for name in op.attributes if name != _SEGMENTS}
        attributes[_SEGMENTS] = ir.DenseI32ArrayAttr.get([len(group) for group in every])
        with ir.InsertionPoint(op), op.location:
            launch = emit.op(
                LAUNCH,
                [value for group in every for value in group],
                [result.type for result in op.results],
                **attributes,
            )
        for old, new in zip(op.results, launch.results, strict=True):
            old.replace_all_uses_with(new)
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
    found = None if table is None else table.operation
    for name in names:
        if found is None or not len(found.regions):
            return None
        found = next((op for op in found.regions[0].blocks[0].operations if _is(op, name)), None)
        found = None if found is None else found.operation
    return found


def _is(op: Op, name: str) -> bool:
    attributes = op.operation.attributes
    return "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == name
