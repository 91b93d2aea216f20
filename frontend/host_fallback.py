"""Runs ops that only a CPU can run on copies in host memory, in a program whose memory is the GPU's."""

from __future__ import annotations

from ..bindings.diagnostics import remark
from ..bindings.irtypes import Attribute, Op, Value
from ..bindings.mlir import ir
from ..ir import emit
from ..ir.walk import walk
from .memory_views import clone_views, views_of

#: The attribute of allocations in host memory.
ON_HOST = "smem.on_host"

#: Ops that the host runs on an element of a copy.
_ACCESSES = {"memref.load", "memref.store"}

#: Dialects of numbers and their control flow.
_COMPUTING = ("arith", "index", "math", "scf")

_SEGMENTS = "operandSegmentSizes"


def is_computed_on_host(op: Op) -> bool:
    """Whether upstream's passes lower an op to loops over memory of the host."""
    return op.name.startswith("linalg.") or op.name in _ACCESSES


def computes_alone(op: Op) -> bool:
    """Whether an op is a loop or branch that only computes numbers, and loads and stores them."""
    if op.name.split(".")[0] != "scf" or not op.regions:
        return False
    names = {part.name for part in walk(op)}
    return bool(names & _ACCESSES) and all(
        name in _ACCESSES or name.split(".")[0] in _COMPUTING for name in names
    )


def upload_globals(ops: list[Op]) -> None:
    """Copy constants to the GPU before their uses, in each call."""
    for op in ops:
        if op.name != "memref.get_global":
            continue
        constant = op.results[0]
        with op.location, ir.InsertionPoint.after(op):
            device_memory = emit.value("memref.alloc", (), constant.type, **_segments(0))
            copy_op = copy(constant, device_memory)
        constant.replace_all_uses_except(device_memory, copy_op)


def run_on_host(ops: list[Op]) -> None:
    """Run ops that only a CPU can run on copies; a remark at each op names the copies.

    Args:
        ops: the ops of the host's functions.
    """
    # All are found before one is changed, because an op's hash depends on its operands.
    outermost: list[Op] = []
    nested: set[Op] = set()
    for op in ops:
        if op not in nested and (is_computed_on_host(op) or computes_alone(op)):
            outermost.append(op)
            nested.update(walk(op))
    for op in outermost:
        with op.location, ir.InsertionPoint(op):
            _run_on_copies(op)


def _run_on_copies(op: Op) -> None:
    copies: list[tuple[Value, Value]] = []
    written: list[tuple[Value, Value]] = []
    # A body may load from memrefs that are no operands (`tensor.extract`).
    for user in walk(op):
        for number, operand in enumerate(list(user.operands)):
            if not isinstance(operand.type, ir.MemRefType):
                continue
            chain = views_of(operand)
            root = chain[0].operands[0] if chain else operand
            host = next((to for memref, to in copies if memref == root), None)
            if host is None:
                host = _host_copy(root)
                copies.append((root, host))
            if _writes(user, number) and all(root != memref for memref, _ in written):
                written.append((root, host))
            user.operands[number] = clone_views(chain, host)
    with ir.InsertionPoint.after(op):
        for root, host in written:
            copy(host, root)
        for _, host in copies:
            emit.op("memref.dealloc", (host,), **{ON_HOST: ir.UnitAttr.get()})
    shown = ", ".join(str(root.type) for root, _ in copies)
    remark(op.location, f"'{op.name}' runs on the CPU, on copies of {shown}")


def _host_copy(memref: Value) -> Value:
    """Emit a copy of a memref in host memory, and return it."""
    type_ = ir.MemRefType(memref.type)
    dynamic, index = ir.ShapedType.get_dynamic_size(), ir.IndexType.get()
    extents = [
        emit.value("memref.dim", (memref, emit.constant(dim, index)), index)
        for dim, size in enumerate(type_.shape)
        if size == dynamic
    ]
    attributes = {ON_HOST: ir.UnitAttr.get(), **_segments(len(extents))}
    host_type = ir.MemRefType.get(type_.shape, type_.element_type)
    host_memory = emit.value("memref.alloc", extents, host_type, **attributes)
    copy(memref, host_memory)
    return host_memory


def _segments(dynamic: int) -> dict[str, Attribute]:
    return {_SEGMENTS: ir.DenseI32ArrayAttr.get([dynamic, 0])}


def _writes(op: Op, number: int) -> bool:
    if op.name == "memref.store":
        return number == 1
    if op.name == "memref.load":
        return False
    # Ops without segments, such as `linalg.transpose`, write their last operand.
    first = op.attributes[_SEGMENTS][0] if _SEGMENTS in op.attributes else len(op.operands) - 1
    return number >= first


def copy(source: Value, target: Value) -> Op:
    """Emit a copy of contiguous memory by the runtime, and the host's wait for it; return the copy."""
    token_type = ir.Type.parse("!gpu.async.token")
    token = emit.value("gpu.wait", (), token_type)
    copy_op = emit.op("gpu.memcpy", (token, target, source), [token_type])
    emit.op("gpu.wait", (copy_op.result,))
    return copy_op
