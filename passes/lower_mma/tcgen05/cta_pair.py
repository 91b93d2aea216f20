"""CTA pairs: the ranks of the two CTAs, and the synchronisation of their warpgroups."""

from ....bindings.irtypes import Value
from ....bindings.mlir import ir
from ....ir import emit

#: Arrivals at the mbarrier of a synchronisation: one of each CTA.
PAIR_ARRIVALS = 2


class CtaPair:
    """The pair that a CTA belongs to: ranks 2i and 2i + 1 of the cluster, adjacent along x.

    Attributes:
        is_even: whether the CTA has the even rank, and issues the mma of the pair (i1).
        mask: the mask of both CTAs (i16).
    """

    def __init__(self) -> None:
        rank = emit.value("nvvm.read.ptx.sreg.cluster.ctarank", (), emit.i32())
        odd = emit.binary("andi", rank, 1)
        self.is_even = emit.compare("eq", odd, 0)
        self._peer = emit.binary("xori", rank, 1)
        both = emit.constant(3, emit.i32())
        mask = emit.value("arith.shli", (both, emit.binary("subi", rank, odd)), emit.i32())
        self.mask = emit.value("arith.trunci", (mask,), ir.IntegerType.get_signless(16))

    def synchronize(self, barrier: Value) -> None:
        """Emit a synchronisation of this thread with the corresponding thread of the other CTA.

        Memory operations before it, of either thread, are visible to both after it. Each thread arrives
        at the mbarrier of its own CTA first, so the next arrival of the other thread cannot come earlier,
        and no phase has to be counted.

        Args:
            barrier: an mbarrier with `PAIR_ARRIVALS`, at the same address in both CTAs.
        """
        scope = ir.Attribute.parse("#nvvm.mem_scope<cluster>")
        state = emit.value("nvvm.mbarrier.arrive", (barrier,), emit.i64(), scope=scope)
        there = emit.value("nvvm.mapa", (barrier, self._peer), emit.pointer(7))
        emit.op("nvvm.mbarrier.arrive", (there,), scope=scope)
        loop = emit.op("scf.while", regions=2)
        with ir.InsertionPoint(ir.Block.create_at_start(loop.regions[0])):
            i1 = ir.IntegerType.get_signless(1)
            done = emit.value("nvvm.mbarrier.try_wait", (barrier, state), i1, scope=scope)
            emit.op("scf.condition", (emit.binary("xori", done, emit.constant(1, i1)),))
        with ir.InsertionPoint(ir.Block.create_at_start(loop.regions[1])):
            emit.op("scf.yield")
