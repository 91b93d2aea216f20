"""Two blocks of a cluster that multiply together: who they are, and how their warpgroups meet."""

from typing import Any

from ....dialect.bindings import ir
from ....ir import emit

#: Arrivals of a meeting: one of each block.
MEETING_ARRIVALS = 2


class CtaPair:
    """The pair that a block belongs to: ranks 2i and 2i + 1 of the cluster, next to each other along x.

    Attributes:
        is_even: whether the block has the even rank, and starts the mma of both (i1).
        mask: the mask of both blocks (i16).
    """

    def __init__(self) -> None:
        rank = emit.value("nvvm.read.ptx.sreg.cluster.ctarank", (), emit.i32())
        odd = emit.binary("andi", rank, 1)
        self.is_even = emit.compare("eq", odd, 0)
        self._peer = emit.binary("xori", rank, 1)
        both = emit.constant(3, emit.i32())
        mask = emit.value("arith.shli", (both, emit.binary("subi", rank, odd)), emit.i32())
        self.mask = emit.value("arith.trunci", (mask,), ir.IntegerType.get_signless(16))

    def meet(self, barrier: Any) -> None:
        """Emits that this thread, and the one of the other block that does the same, wait for each
        other: all that either has done or seen before, the other has seen then.

        Each arrives at its own mbarrier first. So the other's next arrival cannot come before that, and
        nobody counts phases.

        Args:
            barrier: the mbarrier, at the same place in both blocks, of `MEETING_ARRIVALS`.
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
