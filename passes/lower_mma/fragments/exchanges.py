"""Exchanges of values between threads: by shuffles within a warp, through shared memory between warps."""

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
from ..registers import SliceRegisters
from ..target import NamedBarriers

_Combine = Callable[[list[Value]], Value]

#: All lanes of a warp.
_ALL_LANES = -1

#: PTX ISA, shfl.sync: segments of 4 lanes (mask 28 in bits 8-12), or of 32; any lane of a segment (31).
_QUADS, _WARP = 28 << 8 | 31, 31


def value_of_lane(value: Value, lane: Value) -> Value:
    """Return the i32 `value` of the thread of the same quad with a number (i32, 0 to 3)."""
    return _shuffle("idx", value, lane, _QUADS)


def exchange_with_lane(value: Value, distance: int) -> Value:
    """Return the `value` (32 bits, or f16) of the lane whose number differs in the bit `distance`."""
    if isinstance(value.type, ir.F16Type):
        i16 = ir.IntegerType.get_signless(16)
        bits = emit.value("arith.bitcast", (value,), i16)
        word = exchange_with_lane(emit.value("arith.extui", (bits,), emit.i32()), distance)
        return emit.value(
            "arith.bitcast", (emit.value("arith.trunci", (word,), i16),), ir.F16Type.get()
        )
    segment = _QUADS if distance < 4 else _WARP
    return _shuffle("bfly", value, emit.constant(distance, emit.i32()), segment)


def _shuffle(kind: str, value: Value, lane: Value, segment: int) -> Value:
    return emit.value(
        "nvvm.shfl.sync",
        (
            emit.constant(_ALL_LANES, emit.i32()),
            value,
            lane,
            emit.constant(segment, emit.i32()),
        ),
        value.type,
        kind=ir.Attribute.parse(f"#nvvm<shfl_kind {kind}>"),
    )


def combine_across_warps(
    op: ReduceOp,
    exchange: Exchange,
    partial: Sequence[Value],
    registers: SliceRegisters,
    thread: Value,
    barriers: NamedBarriers,
    combine: _Combine,
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
    group_start = allocation_pointer(op)
    group_start = gep(
        group_start, (group * (exchange.parts * registers.extent) + start).value, element
    )
    alignment = ir.IntegerAttr.get(emit.i64(), registers.element.width // 8)

    # Other threads may still read the parts of the last execution.
    _barrier(number, threads)
    with emit.scf_if(_stores_elements(registers, thread)):
        part_start = gep(group_start, (part * registers.extent).value, element)
        for index, value in zip(registers.indices, partial, strict=True):
            emit.op("llvm.store", (value, gep(part_start, index, element)), alignment=alignment)
    _barrier(number, threads)
    return [
        combine(
            [
                emit.value(
                    "llvm.load",
                    (gep(group_start, part * registers.extent + index, element),),
                    registers.element,
                    alignment=alignment,
                )
                for part in range(exchange.parts)
            ]
        )
        for index in registers.indices
    ]


def _stores_elements(registers: SliceRegisters, thread: Value) -> Value:
    """Return whether a thread stores its elements (i1): one of the lanes of a warp that hold the same."""
    if registers.dim == 1:
        return registers.stores(thread)
    return emit.compare("ult", (I32(thread) % WARP).value, 4)


def _barrier(number: I32, threads: int) -> None:
    nvvm.BarrierOp(barrierId=number.value, numberOfThreads=emit.constant(threads, emit.i32()))
