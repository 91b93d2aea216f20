"""Effects of ops: which tiles, memrefs and registers they access, and whether they order accesses.

The dialect's ops declare their effects in their classes. Those of other dialects are listed here: the
Python bindings cannot query them.
"""

from typing import NamedTuple

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.effects import Accessed, declared_accesses
from ...dialect.memrefs import is_workgroup
from ...dialect.op import SmemOp
from ...dialect.ops import TileMma
from ...dialect.types import FragmentType, TileType
from ...ir.walk import walk


def has_effect(op: Op | type[SmemOp]) -> bool:
    """Whether an op of the dialect, or a class of them, accesses memory or orders accesses.

    An op that allocates shared memory does neither: it is at the top of the kernel, and its own barrier
    guards what it stores there.
    """
    effects = op.effects
    return bool(effects.accesses or effects.orders) and not effects.allocates


def accessed_tiles(op: Op) -> list[Accessed]:
    """Return the tiles that an op accesses, and how, without memrefs."""
    return [access for access in declared_accesses(op) if isinstance(access.value.type, TileType)]


def pending_of(wait: Op) -> int:
    """Return how many of the latest groups a wait leaves pending."""
    return wait.pending.value if hasattr(wait, "pending") else 0


#: Dialects whose ops order nothing, and ops of other dialects that order nothing.
_HARMLESS_DIALECTS = {
    "affine",
    "arith",
    "builtin",
    "complex",
    "index",
    "math",
    "memref",
    "ub",
    "vector",
}
_HARMLESS = {
    "cf.assert",
    "func.return",
    "gpu.block_dim",
    "gpu.block_id",
    "gpu.cluster_block_id",
    "gpu.cluster_dim",
    "gpu.cluster_id",
    "gpu.dynamic_shared_memory",
    "gpu.global_id",
    "gpu.grid_dim",
    "gpu.lane_id",
    "gpu.num_subgroups",
    "gpu.printf",
    "gpu.return",
    "gpu.shuffle",
    "gpu.subgroup_id",
    "gpu.subgroup_size",
    "gpu.thread_id",
    "nvgpu.device_async_copy",
    "nvgpu.ldmatrix",
    "nvgpu.mbarrier.create",
    "nvgpu.tma.prefetch.descriptor",
    "nvvm.griddepcontrol",
    "scf.yield",
}


def is_harmless(op: Op) -> bool:
    """Whether an op neither accesses tiles nor orders the accesses of other ops."""
    dialect = op.name.partition(".")[0]
    return op.name in _HARMLESS or dialect in _HARMLESS_DIALECTS or _is_pure(op)


def _is_pure(op: Op) -> bool:
    """Whether an op of the `llvm` or `nvvm` dialect orders nothing."""
    if op.name == "llvm.inline_asm":
        return "has_side_effects" not in op.attributes
    if op.name.startswith("llvm."):
        return op.name not in ("llvm.call", "llvm.call_intrinsic", "llvm.fence", "llvm.inline_asm")
    return op.name.startswith("nvvm.read.")


#: Ops whose result aliases their first operand.
ALIASES = frozenset(
    {
        "memref.assume_alignment",
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.memory_space_cast",
        "memref.reinterpret_cast",
        "memref.reshape",
        "memref.subview",
        "memref.transpose",
        "memref.view",
    }
)

#: Those whose result is known to have only bytes of the operand; not `memref.view` and casts.
_WINDOWS = ALIASES - {"memref.cast", "memref.reinterpret_cast", "memref.view"}

#: Ops with a memref operand that access no memory.
_QUERIES = frozenset({"memref.dealloc", "memref.dim", "memref.prefetch", "memref.rank"})

#: Ops of other dialects whose writes complete by a `cp.async` group of the thread.
CP_ASYNC = frozenset({"nvgpu.device_async_copy"})

#: For ops of other dialects whose writes complete at an mbarrier, the number of the memref operand that
#: they write, and of the operand that is the mbarrier.
MBARRIER_WRITES = {"nvgpu.tma.async.load": (0, 1)}

#: For each op, the numbers of the memref operands that it reads, and of those that it writes. All are
#: accesses by the thread itself, complete when the op is, except for those of `CP_ASYNC`. Memrefs that
#: are always in global memory are not listed.
_ACCESSES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "affine.load": ((0,), ()),
    "affine.store": ((), (1,)),
    "affine.vector_load": ((0,), ()),
    "affine.vector_store": ((), (1,)),
    "gpu.subgroup_mma_load_matrix": ((0,), ()),
    "gpu.subgroup_mma_store_matrix": ((), (1,)),
    "memref.atomic_rmw": ((1,), (1,)),
    "memref.copy": ((0,), (1,)),
    "memref.generic_atomic_rmw": ((0,), (0,)),
    "memref.load": ((0,), ()),
    "memref.store": ((), (1,)),
    "nvgpu.device_async_copy": ((), (0,)),
    "nvgpu.ldmatrix": ((0,), ()),
    "vector.compressstore": ((), (0,)),
    "vector.expandload": ((0,), ()),
    "vector.gather": ((0,), ()),
    "vector.load": ((0,), ()),
    "vector.maskedload": ((0,), ()),
    "vector.maskedstore": ((), (0,)),
    "vector.scatter": ((), (0,)),
    "vector.store": ((), (1,)),
    "vector.transfer_read": ((0,), ()),
    "vector.transfer_write": ((), (1,)),
}


class MemrefAccesses(NamedTuple):
    """The memrefs whose memory an op reads, and those whose memory it writes."""

    reads: tuple[Value, ...]
    writes: tuple[Value, ...]


def accessed_memrefs(op: Op) -> MemrefAccesses:
    """Return the known accesses of memrefs by an op of another dialect."""
    reads, writes = _ACCESSES.get(op.name, ((), ()))
    if op.name in MBARRIER_WRITES:
        writes = MBARRIER_WRITES[op.name][:1]
    return MemrefAccesses(*(tuple(op.operands[i] for i in numbers) for numbers in (reads, writes)))


def is_known(op: Op) -> bool:
    """Whether all effects of an op on its memrefs are known."""
    return op.name in _ACCESSES or op.name in _QUERIES or op.name in MBARRIER_WRITES


def is_only_read(memref: Value) -> bool:
    """Whether no op writes the memory of a memref through it or an alias of it."""
    return all(_only_reads(use.owner, memref) for use in memref.uses)


def is_constant_argument(array: Value, function: Op) -> bool:
    """Whether an array is an argument of a function that no op writes: all reads of an element are equal.

    Different arguments are assumed to be different arrays.
    """
    owner = array.owner
    is_argument = isinstance(owner, ir.Block) and owner.owner.operation == function
    return is_argument and not is_workgroup(array.type) and is_only_read(array)


def _only_reads(op: Op, memref: Value) -> bool:
    if isinstance(op.opview, SmemOp):
        return not any(x == memref and access.writes for x, access in declared_accesses(op.opview))
    if op.name in ALIASES:
        return is_only_read(op.results[0])
    return is_known(op) and memref not in accessed_memrefs(op).writes


def base_of(memref: Value) -> Value:
    """Return the memref that a memref is an alias of."""
    while (op := defining_op(memref)) is not None and op.name in ALIASES:
        memref = op.operands[0]
    return memref


def enclosing_window(memref: Value) -> Value:
    """Return the outermost memref that is known to contain a memref, up to a `memref.view` or cast."""
    while (op := defining_op(memref)) is not None and op.name in _WINDOWS:
        memref = op.operands[0]
    return memref


def defining_op(value: Value) -> Op | None:
    """Return the op that defines a value; None for a block argument."""
    return getattr(value.owner, "operation", None)


class RegisterWriters:
    """The ops of a function that write registers which an mma in flight reads: those of A, and metadata.

    `wgmma` reads them after it was issued, as it reads shared memory (PTX ISA 9.7.15.7.3). An op in a
    loop writes the same registers in each iteration.
    """

    def __init__(self, function: Op) -> None:
        self._writers: dict[Op, None] = {}
        for op in walk(function, TileMma):
            self._writers |= dict.fromkeys(self.writers_for(op))

    def writers_for(self, mma: Op) -> list[Op]:
        """Return the ops that write the registers of an mma: for a value that a loop carries, the
        loop."""
        named = (getattr(mma, name, None) for name in ("a", "metadata"))
        read = [x for x in named if x is not None and isinstance(x.type, FragmentType)]
        return [_writer_of(value) for value in read]

    def are_written_by(self, op: Op) -> bool:
        """Whether an op writes such registers."""
        return op.operation in self._writers


def _writer_of(value: Value) -> Op:
    owner = value.owner
    return owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
