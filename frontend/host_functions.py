"""Checks and lowers functions of the host in a program whose memory is the GPU's."""

from __future__ import annotations

from ..bindings.irtypes import Module, Op, Value
from ..bindings.mlir import ir
from ..codegen.errors import error_at
from ..dialect.memrefs import has_identity_layout
from ..ir import emit
from ..ir.walk import walk
from .host_fallback import ON_HOST, copy, is_computed_on_host
from .host_shared import allocate
from .moves import move

#: The runtime function that takes a condition, and the number of its `cf.assert` in the program.
ASSERT = "smemHostAssert"

#: Dialects whose ops compute numbers, control the flow, or belong to launches.
_DIALECTS = {"arith", "index", "func", "cf", "scf", "gpu", "builtin", "ub", "math", "llvm"}

#: Ops of other dialects that allocate memory, copy it by the GPU, or make views of it.
_OPS = {
    *("affine.apply", "affine.min", "affine.max"),
    *("memref.alloc", "memref.dealloc", "memref.copy", "memref.dim", "memref.cast"),
    *("memref.subview", "memref.reinterpret_cast", "memref.expand_shape", "memref.collapse_shape"),
    *("memref.extract_strided_metadata", "memref.extract_aligned_pointer_as_index"),
    *("memref.global", "memref.get_global"),
    *("memref.memory_space_cast", "memref.assume_alignment", "memref.view", "memref.transpose"),
}

_MODULES = ("gpu.module", "gpu.binary")


def host_ops(module: Module) -> list[Op]:
    """Return the ops of a program outside of its kernels, in pre-order."""
    ops: list[Op] = []
    for top in module.operation.regions[0].blocks[0].operations:
        if top.operation.name not in _MODULES:
            ops += walk(top.operation)
    return ops


def check_host_functions(module: Module, mixed: bool) -> None:
    """Check that only kernels work on the memory of a program.

    Args:
        module: the program.
        mixed: whether the host may work on copies of memory.

    Raises:
        LocatedError: for an op that only a CPU can run on memory, and for types of memrefs that no kernel
            takes.
    """
    for op in host_ops(module):
        if mixed and is_computed_on_host(op):
            continue
        if op.name.split(".")[0] not in _DIALECTS and op.name not in _OPS:
            raise error_at(
                op,
                "works on memory that is the GPU's, and only a CPU can run it; make a kernel of it, or "
                "give mixed=True, which copies the memory",
            )
        for value in op.results:
            if isinstance(value.type, ir.UnrankedMemRefType):
                raise error_at(op, f"is of type {value.type}; expected memrefs of known rank")


def move_strided(module: Module) -> None:
    """Replace copies between strided memrefs by kernels: the runtime copies only contiguous memory."""
    for op in host_ops(module):
        if op.name != "memref.copy" or all(map(_is_contiguous, op.operands)):
            continue
        with op.location, ir.InsertionPoint(op):
            source, target = op.operands
            move(source, target, range(source.type.rank))
        op.erase()


def use_device_memory(module: Module) -> list[str]:
    """Allocate and copy memory, and check assertions, by functions of the runtime.

    Memory is freed after a call, so deallocations are erased.

    Args:
        module: a program that `check_host_functions` takes; it is changed.

    Returns:
        The messages of the program's assertions, by their numbers.
    """
    messages: list[str] = []
    for op in host_ops(module):
        if ON_HOST in op.attributes:
            del op.attributes[ON_HOST]
            continue
        with op.location, ir.InsertionPoint(op):
            match op.name:
                case "memref.alloc":
                    # The runtime's function decides whose memory it is.
                    allocate(op)
                case "memref.dealloc":
                    op.erase()
                case "memref.copy":
                    copy(*op.operands)
                    op.erase()
                case "cf.assert":
                    messages.append(ir.StringAttr(op.attributes["msg"]).value)
                    number = emit.constant(len(messages) - 1, emit.i32())
                    emit.op(
                        "func.call",
                        (op.operands[0], number),
                        callee=ir.FlatSymbolRefAttr.get(ASSERT),
                    )
                    op.erase()
    if messages:
        _declare(module)
    return messages


def _declare(module: Module) -> None:
    with ir.InsertionPoint.at_block_begin(module.body), ir.Location.unknown():
        type_ = ir.FunctionType.get([ir.IntegerType.get_signless(1), emit.i32()], [])
        ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(ASSERT),
                "function_type": ir.TypeAttr.get(type_),
                "sym_visibility": ir.StringAttr.get("private"),
            },
            regions=1,
        )


def _is_contiguous(memref: Value) -> bool:
    # Upstream folds a cast into the copy, whose operand has strides then.
    while not isinstance(memref.owner, ir.Block) and memref.owner.operation.name == "memref.cast":
        memref = memref.owner.operation.operands[0]
    return has_identity_layout(ir.MemRefType(memref.type))
