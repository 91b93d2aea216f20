"""Memory that the CPU and the GPU address: `gpu.alloc host_shared`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from ..bindings.irtypes import Op, Value
from ..bindings.mlir import ir
from ..ir import emit
from .linalg.generic import terminator

_TOKEN = "!gpu.async.token"

_ENDS = ("func.return", "scf.yield")


def share_memory(ops: Sequence[Op]) -> None:
    """Let functions of the host allocate memory that kernels can access, and free it.

    Where a program frees some memory itself, no other is freed. Else memory is freed at the end of the
    block that allocates it, unless it leaves the block.

    Args:
        ops: those of the functions.
    """
    allocations = [op for op in ops if op.name == "memref.alloc" and _is_default(op.results[0])]
    frees = [op for op in ops if op.name == "memref.dealloc" and _is_default(op.operands[0])]
    for op in frees:
        _free(op, op.operands[0])
        op.erase()
    for op in allocations:
        memory = allocate(op)
        end = terminator(memory.owner.operation.block)
        if not frees and not _leaves(memory, end):
            _free(end, memory)


def allocate(op: Op) -> Value:
    """Replace a `memref.alloc` by `gpu.alloc`, and return the memory.

    Outside of asynchronous regions, upstream lowers it only with `hostShared`.
    """
    dynamic, symbols = op.attributes["operandSegmentSizes"]
    with ir.InsertionPoint(op), op.location:
        memory = emit.value(
            "gpu.alloc",
            list(op.operands),
            op.results[0].type,
            hostShared=ir.UnitAttr.get(),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([0, dynamic, symbols]),
        )
    op.results[0].replace_all_uses_with(memory)
    op.erase()
    return memory


def _is_default(memory: Value) -> bool:
    return ir.MemRefType(memory.type).memory_space is None


def _free(before: Op, memory: Value) -> None:
    """Emit a `gpu.dealloc` before an op; upstream lowers it only with a token."""
    token = ir.Type.parse(_TOKEN)
    with ir.InsertionPoint(before), before.location:
        start = emit.value("gpu.wait", (), token)
        end = emit.value("gpu.dealloc", (start, memory), token)
        emit.op("gpu.wait", (end,))


def _leaves(memory: Value, end: Op) -> bool:
    """Whether memory may be used after the last op of its block: by what it returns, or another block."""
    if end.name not in _ENDS:
        return True
    aliases = [memory]
    # The list grows as it is read.
    for alias in aliases:
        for use in alias.uses:
            user = use.owner.operation
            is_stored = user.name == "memref.store" and use.operand_number == 0
            if user == end or is_stored or user.name.startswith("cf."):
                return True
            aliases += [value for value in _views_by(user) if value not in aliases]
    return False


def _views_by(user: Op) -> Iterator[Value]:
    """Yield the memrefs that may be views of those that an op uses."""
    inside = (block.arguments for region in user.regions for block in region.blocks)
    results = user.parent.operation.results if user.name == "scf.yield" else user.results
    for value in chain(results, *inside):
        if isinstance(value.type, ir.MemRefType):
            yield value
