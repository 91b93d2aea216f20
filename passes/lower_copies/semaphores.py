"""The atomic arrival of a warpgroup at a semaphore in global memory."""

from ...bindings.irtypes import Value
from ...bindings.mlir import ir, nvvm
from ...dialect.ops import SemaphoreArriveOp
from ...ir import emit
from ...ir.i32 import I32
from ...ir.kernel import required_block_size
from ...ir.shared_memory import gep, memref_pointer, stride_value
from ...ir.threads import linear_thread
from ...layout.fragments import WARPGROUP
from .lowerings import LOWERINGS
from .tensor_maps import TensorMaps

#: The barrier that returns whether a predicate is true for any of its threads (PTX ISA 9.7.13.1). The
#: op of upstream takes no barrier other than 0. It is the form without `.aligned`, so LLVM may copy the
#: code around it.
_ANY_OF_WARPGROUP = f"barrier.cta.red.or.pred $0, $1, {WARPGROUP}, $2;"

#: An operation and two orderings of atomics (LLVM dialect, AtomicBinOp and AtomicOrdering).
_UINC_WRAP, _MONOTONIC, _ACQ_REL = 15, 2, 6


@LOWERINGS.of(SemaphoreArriveOp)
def lower_semaphore_arrive(op: SemaphoreArriveOp, _: TensorMaps) -> None:
    """Emit a barrier of the warpgroup, the atomic of its first thread, and the barrier that gives all
    threads the result.

    The order follows from PTX ISA 8.10 (causality order). The first barrier puts the writes of the
    warpgroup before the atomic, whose release is cumulative. The acquire of a later atomic of the same
    element puts them before the second barrier of that warpgroup, hence before what its threads do next.
    """
    i32, i1 = emit.i32(), ir.IntegerType.get_signless(1)
    thread = I32(linear_thread(required_block_size(op)))
    # The barrier of `smem.warpgroup_barrier`: both are executed by the same threads in their order.
    barrier = (thread // WARPGROUP + 1).value
    nvvm.BarrierOp(barrierId=barrier, numberOfThreads=emit.constant(WARPGROUP, i32))
    limit = emit.binary("subi", emit.cast_index(op.count, i32), 1)
    first = emit.compare("eq", (thread % WARPGROUP).value, 0)
    branch = emit.op("scf.if", (first,), [i1], regions=2)
    with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
        before = _increment(_pointer(op), limit)
        emit.op("scf.yield", (emit.compare("eq", before, limit),))
    with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[1])):
        emit.op("scf.yield", (emit.constant(0, i1),))
    last = emit.value(
        "llvm.inline_asm",
        (barrier, branch.results[0]),
        i1,
        asm_string=ir.StringAttr.get(_ANY_OF_WARPGROUP),
        constraints=ir.StringAttr.get("=b,r,b,~{memory}"),
        has_side_effects=ir.UnitAttr.get(),
    )
    op.last.replace_all_uses_with(last)


def _increment(semaphore: Value, limit: Value) -> Value:
    """Increment a semaphore, or set it to zero at the limit; return its value before.

    LLVM drops the ordering of this atomic (it becomes `atom.global.inc.u32`, which is relaxed), so
    fences before and after it make the release and acquire patterns (PTX ISA 8.8, 8.9).
    """
    gpu, i64 = ir.StringAttr.get("device"), emit.i64()
    acq_rel = ir.IntegerAttr.get(i64, _ACQ_REL)
    emit.op("llvm.fence", ordering=acq_rel, syncscope=gpu)
    before = emit.value(
        "llvm.atomicrmw",
        (semaphore, limit),
        limit.type,
        bin_op=ir.IntegerAttr.get(i64, _UINC_WRAP),
        ordering=ir.IntegerAttr.get(i64, _MONOTONIC),
        syncscope=gpu,
    )
    emit.op("llvm.fence", ordering=acq_rel, syncscope=gpu)
    return before


def _pointer(op: SemaphoreArriveOp) -> Value:
    i64 = emit.i64()
    element = emit.cast_index(op.index, i64)
    element = emit.binary("muli", element, stride_value(op.semaphores, 0, i64))
    return gep(memref_pointer(op.semaphores, 1), element, "i32")
