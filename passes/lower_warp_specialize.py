"""`smem-lower-warp-specialize`: partitions of warpgroups, and what one thread does, become branches."""

from dataclasses import dataclass
from math import prod
from typing import Any

from ..dialect.bindings import ir
from ..dialect.ops import ElectOp, WarpgroupBarrierOp, WarpSpecializeOp
from ..dialect.ops.warp_specialize import (
    MAX_REGISTERS,
)
from ..ir import emit
from ..ir.errors import OpError
from ..ir.i32 import I32
from ..ir.kernel import function_of, required_block_size, threads_of
from ..ir.lowerings import Lowerings
from ..ir.threads import linear_thread
from ..ir.walk import gather
from ..layout.fragments import REGISTERS, WARPGROUP
from ..layout.transfer import WARP
from .driver.base import Pass

_LOWERINGS = Lowerings()


@dataclass(frozen=True)
class LowerWarpSpecialize(Pass):
    """Each partition is one branch of an if, as `setmaxnreg` wants it."""

    name = "smem-lower-warp-specialize"
    description = "lower partitions of warpgroups and elected threads to branches"

    def run(self, module: Any) -> None:
        # What is within partitions comes before them.
        for ops in gather(module, [WarpgroupBarrierOp], [ElectOp], [WarpSpecializeOp]):
            for op in ops:
                with ir.InsertionPoint(op), op.location:
                    _LOWERINGS[op](op)
                op.operation.erase()


@_LOWERINGS.of(WarpgroupBarrierOp)
def _lower_barrier(op: Any) -> None:
    size = required_block_size(op)
    # Barrier 0 is that of all threads; a block has at most 8 warpgroups, and 15 other barriers (PTX ISA
    # 9.7.13.1).
    number = I32(linear_thread(size)) // WARPGROUP + 1
    threads = emit.constant(WARPGROUP, emit.i32())
    segments = ir.DenseI32ArrayAttr.get([1, 1])
    emit.op("nvvm.barrier", (number.value, threads), operandSegmentSizes=segments)


@_LOWERINGS.of(ElectOp)
def _lower_elect(op: Any) -> None:
    """The warp elects one of its threads."""
    size = required_block_size(op)
    warp, count = op.warp, prod(size) // WARP
    if warp >= count:
        raise OpError(op, f"takes a thread of warp {warp}; the block has warps 0 to {count - 1}")
    thread = I32(linear_thread(size))
    if op.scope.value == "warpgroup":
        thread = thread % WARPGROUP
    first = emit.op("scf.if", (emit.compare("eq", (thread // WARP).value, warp),), regions=2)
    with ir.InsertionPoint(ir.Block.create_at_start(first.regions[0])):
        elected = emit.value("nvvm.elect.sync", (), ir.IntegerType.get_signless(1))
        branch = emit.op("scf.if", (elected,), regions=2)
        _move_body(op, branch.regions[0])
        emit.op("scf.yield")


@_LOWERINGS.of(WarpSpecializeOp)
def _lower_warp_specialize(op: Any) -> None:
    size = required_block_size(op)
    partitions = op.partitions
    _check(op, partitions)
    # All lanes of a warp have the same; the compiler knows it of what a shuffle gives.
    warpgroup = _uniform(I32(linear_thread(size)) // WARPGROUP)
    _branch(partitions, warpgroup, 0)


def _check(op: Any, partitions: list[Any]) -> None:
    """Checks that the partitions take the whole block, and no more registers than there are."""
    threads = threads_of(function_of(op)) or 0
    counts = [partition.warpgroups.value for partition in partitions]
    if sum(counts) * WARPGROUP != threads:
        raise OpError(
            op,
            f"has partitions of {' + '.join(map(str, counts))} warpgroups in a block of {threads} threads; "
            f"expected {threads // WARPGROUP} in all",
        )
    registers = [partition.registers for partition in partitions]
    if any(registers) and not all(registers):
        raise OpError(
            op, "has partitions with registers and partitions without; expected all or none"
        )
    if all(registers):
        terms = [f"{n} x {WARPGROUP} x {r}" for n, r in zip(counts, registers, strict=True)]
        total = sum(n * WARPGROUP * (r or 0) for n, r in zip(counts, registers, strict=True))
        if total > REGISTERS:
            raise OpError(
                op,
                f"has partitions of {' + '.join(terms)} = {total} registers; a multiprocessor has "
                f"{REGISTERS}",
            )


def _fill(region: Any, partitions: list[Any], warpgroup: Any, first: int) -> None:
    """Fills a region that the warpgroups of some partitions reach; `first` is the first of them."""
    if len(partitions) == 1:
        _move_partition(partitions[0], region, warpgroup, first)
        return
    with ir.InsertionPoint(ir.Block.create_at_start(region)):
        _branch(partitions, warpgroup, first)
        emit.op("scf.yield")


def _branch(partitions: list[Any], warpgroup: Any, first: int) -> None:
    """Branches to the partition of a warpgroup."""
    partition, *others = partitions
    end = first + partition.warpgroups.value
    branch = emit.op("scf.if", (emit.compare("ult", warpgroup, end),), regions=2)
    _fill(branch.regions[0], [partition], warpgroup, first)
    if others:
        _fill(branch.regions[1], others, warpgroup, end)


def _move_partition(partition: Any, region: Any, warpgroup: Any, first: int) -> None:
    """Moves what a partition does to a region."""
    block, registers = partition.regions[0].blocks[0], partition.registers
    with ir.InsertionPoint.at_block_begin(block):
        # The block begins with an equal part for each thread, which ptxas rounds down to 8.
        begins = REGISTERS // (threads_of(function_of(partition)) or 1) // 8 * 8
        if registers not in (None, min(begins, MAX_REGISTERS)):
            action = "increase" if registers > begins else "decrease"
            emit.op(
                "nvvm.setmaxregister",
                regCount=ir.IntegerAttr.get(emit.i32(), registers),
                action=ir.Attribute.parse(f"#nvvm<action {action}>"),
            )
        if len(block.arguments):
            number = emit.binary("subi", warpgroup, first) if first else warpgroup
            index = emit.value("arith.index_castui", (number,), ir.IndexType.get())
            block.arguments[0].replace_all_uses_with(index)
            block.erase_argument(0)
    _move_body(partition, region)


def _move_body(op: Any, region: Any) -> None:
    """Moves an op's block to another region, whose ops it ends with `scf.yield`."""
    block = op.regions[0].blocks[0]
    block.append_to(region)
    with ir.InsertionPoint(block):
        emit.op("scf.yield")


def _uniform(number: I32) -> Any:
    """The number that the first lane of the warp has."""
    i32 = emit.i32()
    return emit.value(
        "nvvm.shfl.sync",
        (emit.constant(-1, i32), number.value, emit.constant(0, i32), emit.constant(31, i32)),
        i32,
        kind=ir.Attribute.parse("#nvvm<shfl_kind idx>"),
    )
