"""`smem.semaphore_arrive`: counts the warpgroups of a grid that have stored their part of a result."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext, ir
from ..arguments import Index, Memref
from ..build import as_index, create
from ..builder import builder
from ..divisibility import constant_of
from ..effects import Effects, Scope
from ..memrefs import check_global, strides_of
from ..op import SmemOp
from ..verifier import verifier


class SemaphoreArriveOp(SmemOp, name="semaphore_arrive"):
    """Arrives at element `index` of `semaphores`, an array of i32 in global memory. `last` is true if it
    is the arrival number `count`, and is the same for all threads of the warpgroup.

    In one atomic step, `old = s[index]`, `s[index] = old + 1 < count ? old + 1 : 0`, and `last` is
    `old + 1 == count` (both compared without sign). So a semaphore that is zero before a launch, and at
    which a multiple of `count` warpgroups arrive, is zero after it. No warpgroup waits for another: a
    kernel in which the last one adds the parts of all cannot deadlock, whatever CTAs are resident.

    Each warpgroup that executes the op arrives, with its own `index`; all of its threads execute the op
    together. The op is a barrier of the warpgroup, like `smem.warpgroup_barrier`. What its threads, and
    those that they have synchronized with, wrote to global memory before the op is visible to every
    thread of the warpgroup for which `last` is true, after the op. Bulk stores (`smem.tma_store`) count
    if `smem.tma_wait` without `read` has completed them.
    """

    semaphores: ext.Operand[ir.MemRefType]
    index: ext.Operand[ir.IndexType]
    count: ext.Operand[ir.IndexType]
    last: ext.Result[ir.IntegerType[1]]

    effects = Effects(Scope.WARPGROUP, barrier=Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        check_semaphores(self.semaphores.type)
        count, index = constant_of(self.count), constant_of(self.index)
        if count is not None and count < 1:
            raise Invalid(f"has count = {count}; expected 1 or more arrivals")
        if index is not None:
            _check_index(index, self.semaphores.type)


def check_semaphores(memref: Type) -> None:
    """Check that a memref is an array of semaphores.

    Raises:
        Invalid: if it is not in global memory, or has another rank, element type or layout.
    """
    check_global(memref, "arrives at semaphores in")
    if memref.rank != 1 or memref.element_type != ir.IntegerType.get_signless(32, memref.context):
        raise Invalid(f"arrives at semaphores in {memref}; expected one dimension of i32")
    strides_of(memref)


def _check_index(index: int, memref: Type) -> None:
    """Check a constant index against the extent, as far as that is known."""
    extent = None if memref.is_dynamic_dim(0) else memref.shape[0]
    if index < 0 or (extent is not None and index >= extent):
        range_text = "" if extent is None else f" to {extent - 1}"
        raise Invalid(f"has index = {index}; expected 0{range_text or ' or more'}")


@builder
def semaphore_arrive(semaphores: Memref, index: Index, count: Index) -> Value:
    """Build an `smem.semaphore_arrive`, and return whether it is the last arrival (i1).

    Args:
        semaphores: i32, of one dimension, in global memory.
        index: the element at which the warpgroup arrives.
        count: the number of arrivals of which the last one sets the element to zero.

    Raises:
        Invalid: for another memref, or a constant count below 1.

    Example:
        >>> i32 = ir.IntegerType.get_signless(32)
        >>> semaphores = memref.alloc(ir.MemRefType.get([4], i32), [], [])
        >>> print(smem.semaphore_arrive(semaphores, 0, 7).type)
        i1
    """
    check_semaphores(semaphores.type)
    operands = [semaphores, as_index(index), as_index(count)]
    return create(SemaphoreArriveOp, operands, [ir.IntegerType.get_signless(1)]).result
