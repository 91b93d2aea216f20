"""The exchange of partial results between warps, through shared memory."""

from collections.abc import Callable, Sequence

from ....bindings.irtypes import Value
from ....bindings.mlir import ir, nvvm
from ....dialect.ops import ReduceOp
from ....ir import emit
from ....ir.i32 import I32
from ....ir.reductions import Exchange
from ....ir.shared_memory import allocation_pointer, gep
from ....layout.fragments import WARPGROUP, WARPS
from ....layout.transfer import WARP
from ..named_barriers import NamedBarriers
from ..slices import SliceRegisters

Combine = Callable[[list[Value]], Value]


def combined(
    op: ReduceOp,
    exchange: Exchange,
    partial: Sequence[Value],
    registers: SliceRegisters,
    thread: Value,
    barriers: NamedBarriers,
    combine: Combine,
) -> list[Value]:
    """Return a thread's elements of the result, from partial results of all parts.

    Args:
        op: the reduction.
        exchange: its parts.
        partial: a thread's elements of its part.
        registers: the registers of the result.
        thread: the index of the thread in its CTA (i32).
        barriers: the barriers of the kernel.
        combine: from the elements of all parts, in the order of warpgroups and warps, to the result.
    """
    warpgroup = I32(thread) // WARPGROUP - exchange.first
    group, member = warpgroup // exchange.warpgroups, warpgroup % exchange.warpgroups
    part = member
    if exchange.parts > exchange.warpgroups:
        part = member * WARPS + I32(thread) % WARPGROUP // WARP
    threads = exchange.warpgroups * WARPGROUP
    if exchange.warpgroups > 1:
        number = group + barriers.first(op, exchange)
    else:
        # The barrier of `smem.warpgroup_barrier`: both are executed by the same threads in their order.
        number = I32(thread) // WARPGROUP + 1
    element = str(registers.element)
    start = registers.start(thread)
    mine = allocation_pointer(op)
    mine = gep(mine, (group * (exchange.parts * registers.extent) + start).value, element)
    alignment = ir.IntegerAttr.get(emit.i64(), registers.element.width // 8)

    # Threads that still read the parts of the last execution.
    _barrier(number, threads)
    with emit.scf_if(_stores(registers, thread)):
        own = gep(mine, (part * registers.extent).value, element)
        for index, value in zip(registers.indices, partial, strict=True):
            emit.op("llvm.store", (value, gep(own, index, element)), alignment=alignment)
    _barrier(number, threads)
    return [
        combine(
            [
                emit.value(
                    "llvm.load",
                    (gep(mine, part * registers.extent + index, element),),
                    registers.element,
                    alignment=alignment,
                )
                for part in range(exchange.parts)
            ]
        )
        for index in registers.indices
    ]


def _stores(registers: SliceRegisters, thread: Value) -> Value:
    """Return whether a thread stores its elements (i1): one of those of a warp that hold the same."""
    if registers.dim == 1:
        return registers.stores(thread)
    return emit.compare("ult", (I32(thread) % WARP).value, 4)


def _barrier(number: I32, threads: int) -> None:
    nvvm.BarrierOp(barrierId=number.value, numberOfThreads=emit.constant(threads, emit.i32()))
