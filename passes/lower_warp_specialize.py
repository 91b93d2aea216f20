"""`smem-lower-warp-specialize`: lower partitions and elected threads to branches, barriers and turns of
warpgroups to named barriers."""

from dataclasses import dataclass
from math import prod

from ..bindings.irtypes import Module, Op, Region, Value
from ..bindings.mlir import ir, nvvm
from ..dialect.ops import (
    ElectOp,
    OrderArriveOp,
    OrderWaitOp,
    PartitionOp,
    WarpgroupBarrierOp,
    WarpSpecializeOp,
)
from ..dialect.ops.warp_specialize import MAX_REGISTERS, REGISTER_STEP
from ..ir import emit
from ..ir.errors import OpError
from ..ir.i32 import I32
from ..ir.kernel import (
    ctas_of_multiprocessor,
    function_of,
    functions_of,
    required_block_size,
    threads_of,
    warpgroups_of,
)
from ..ir.lowerings import Lowerings
from ..ir.named_barriers import (
    BARRIERS,
    FIRST_BARRIER,
    LastBarriers,
    groups_of,
    last_barriers,
)
from ..ir.threads import linear_thread
from ..ir.walk import gather, walk
from ..layout.fragments import REGISTERS, WARPGROUP
from ..layout.transfer import WARP
from .driver.base import Pass

_LOWERINGS = Lowerings()

#: Two warpgroups meet at a barrier: the one that ends its turn, without waiting, and the next one.
_IN_TURN = 2 * WARPGROUP


@dataclass(frozen=True)
class LowerWarpSpecialize(Pass):
    """Each partition becomes one branch of an `scf.if`, as `setmaxnreg` requires."""

    name = "smem-lower-warp-specialize"
    description = "lower partitions of warpgroups and elected threads to branches"

    def run(self, module: Module) -> None:
        for op in walk(module.operation, WarpgroupBarrierOp):
            function_of(op)  # which is an error outside of functions
        for function in functions_of(module):
            _lower_named_barriers(function)
        # Ops inside partitions are lowered before the partitions.
        for ops in gather(module, [ElectOp], [WarpSpecializeOp]):
            for op in ops:
                with ir.InsertionPoint(op), op.location:
                    _LOWERINGS[op](op)
                op.operation.erase()


@_LOWERINGS.of(ElectOp)
def _lower_elect(op: ElectOp) -> None:
    """Emit the branch of the thread that a warp elects."""
    size = required_block_size(op)
    warp, count = op.warp, prod(size) // WARP
    if warp >= count:
        raise OpError(op, f"takes a thread of warp {warp}; the CTA has warps 0 to {count - 1}")
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
def _lower_warp_specialize(op: WarpSpecializeOp) -> None:
    size = required_block_size(op)
    partitions = op.partitions
    _check_partitions(op, partitions)
    # All lanes of a warp have the same value. The compiler knows this of the result of a shuffle.
    warpgroup = _uniform(I32(linear_thread(size)) // WARPGROUP)
    _branch(partitions, warpgroup, 0)


def _check_partitions(op: WarpSpecializeOp, partitions: list[PartitionOp]) -> None:
    """Check that the partitions cover all threads of the CTA, and do not exceed its registers.

    `setmaxnreg` waits for registers that other warpgroups release; what the CTA's launch did not take
    never comes (PTX ISA 9.7.19.5; measured: 32 and 2 x 240 of three warpgroups hang, 24 and 2 x 240 run).
    """
    threads = threads_of(function_of(op)) or 0
    counts = [partition.warpgroups.value for partition in partitions]
    if sum(counts) * WARPGROUP != threads:
        raise OpError(
            op,
            f"has partitions of {' + '.join(map(str, counts))} warpgroups in a CTA of {threads} "
            f"threads; expected {threads // WARPGROUP} in all",
        )
    registers = [partition.registers for partition in partitions]
    if any(registers) and not all(registers):
        raise OpError(
            op, "has partitions with registers and partitions without; expected all or none"
        )
    if all(registers):
        terms = [f"{n} x {WARPGROUP} x {r}" for n, r in zip(counts, registers, strict=True)]
        total = sum(n * WARPGROUP * (r or 0) for n, r in zip(counts, registers, strict=True))
        at_launch = _registers_at_launch(function_of(op))
        if total > threads * at_launch:
            ctas = ctas_of_multiprocessor(function_of(op))
            shared = f" ({ctas} CTAs share a multiprocessor)" if ctas > 1 else ""
            raise OpError(
                op,
                f"has partitions of {' + '.join(terms)} = {total} registers; its {threads} threads start "
                f"with at most {at_launch} each, which are {threads * at_launch}{shared}",
            )


def _registers_at_launch(function: Op) -> int:
    """Return the registers that a thread has at launch where CTAs fill the multiprocessor.

    ptxas rounds them down to a multiple of 8.
    """
    threads = (threads_of(function) or 1) * ctas_of_multiprocessor(function)
    return min(REGISTERS // threads // REGISTER_STEP * REGISTER_STEP, MAX_REGISTERS)


def _fill_region(
    region: Region, partitions: list[PartitionOp], warpgroup: Value, first: int
) -> None:
    """Fill a region that the warpgroups of some partitions execute, from warpgroup `first` on."""
    if len(partitions) == 1:
        _move_partition(partitions[0], region, warpgroup, first)
        return
    with ir.InsertionPoint(ir.Block.create_at_start(region)):
        _branch(partitions, warpgroup, first)
        emit.op("scf.yield")


def _branch(partitions: list[PartitionOp], warpgroup: Value, first: int) -> None:
    """Emit the branch to the partition of a warpgroup."""
    partition, *later = partitions
    end = first + partition.warpgroups.value
    branch = emit.op("scf.if", (emit.compare("ult", warpgroup, end),), regions=2)
    _fill_region(branch.regions[0], [partition], warpgroup, first)
    if later:
        _fill_region(branch.regions[1], later, warpgroup, end)


def _move_partition(partition: PartitionOp, region: Region, warpgroup: Value, first: int) -> None:
    """Move the body of a partition to a region."""
    block, registers = partition.regions[0].blocks[0], partition.registers
    with ir.InsertionPoint.at_block_begin(block), partition.location:
        at_launch = _registers_at_launch(function_of(partition))
        if registers not in (None, at_launch):
            action = "increase" if registers > at_launch else "decrease"
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


def _move_body(op: ElectOp | PartitionOp, region: Region) -> None:
    """Move the block of an op to another region, and end it with `scf.yield`."""
    block = op.regions[0].blocks[0]
    block.append_to(region)
    with ir.InsertionPoint(block):
        emit.op("scf.yield")


def _uniform(number: I32) -> Value:
    """Return the value of a number in the first lane of the warp."""
    i32 = emit.i32()
    return emit.value(
        "nvvm.shfl.sync",
        (emit.constant(-1, i32), number.value, emit.constant(0, i32), emit.constant(31, i32)),
        i32,
        kind=ir.Attribute.parse("#nvvm<shfl_kind idx>"),
    )


def _lower_named_barriers(function: Op) -> None:
    """Replace barriers of warpgroups, `smem.order_wait` and `smem.order_arrive` by named barriers.

    Each warpgroup that takes turns has a barrier. It waits there, and the warpgroup before it arrives
    there. The last warpgroup arrives once at the begin, so the first warpgroup has the first turn.

    Raises:
        OpError: if there are not enough barriers.
    """
    barriers = last_barriers(function)
    for op in list(walk(function, WarpgroupBarrierOp)):
        with ir.InsertionPoint(op), op.location:
            _wait(_barrier_number(op, barriers), op.warpgroups * WARPGROUP)
        op.operation.erase()
    for partition in list(walk(function, PartitionOp)):
        turns = list(walk(partition, OrderWaitOp, OrderArriveOp))
        if partition.operation in barriers.turns:
            _lower_turns(partition, turns, barriers.turns[partition.operation])
        for op in turns:
            op.operation.erase()


def _barrier_number(op: WarpgroupBarrierOp, barriers: LastBarriers) -> I32:
    """Return the number of the barrier of a thread's group of warpgroups.

    Raises:
        OpError: if all barriers are in use.
    """
    warpgroup = I32(linear_thread(required_block_size(op))) // WARPGROUP
    if op.warpgroups == 1:
        return warpgroup + 1
    groups = groups_of(op)
    number = barriers.groups[groups]
    if number < FIRST_BARRIER:
        raise OpError(
            op,
            f"needs a barrier for each of {groups.groups} groups of {groups.warpgroups} warpgroups, with "
            f"those of others {BARRIERS - number} in all; a CTA has {BARRIERS - FIRST_BARRIER} beside "
            "those of all threads and of each warpgroup",
        )
    return (warpgroup - groups.first) // groups.warpgroups + number


def _lower_turns(partition: PartitionOp, turns: list[Op], first: int) -> None:
    """Emit the barriers of a partition.

    Args:
        partition: the partition.
        turns: the ops in it that begin and end turns.
        first: the barrier of its first warpgroup.
    """
    if first < FIRST_BARRIER:
        raise OpError(
            turns[0],
            f"needs a barrier for each warpgroup of partitions that take turns, {BARRIERS - first} in "
            f"all; a CTA has {BARRIERS - FIRST_BARRIER} beside those of all threads and of each "
            "warpgroup",
        )
    begin, end = warpgroups_of(turns[0])
    size = required_block_size(turns[0])

    def warpgroup_index() -> I32:
        """Emit the index of the warpgroup in the partition."""
        warpgroup = I32(linear_thread(size)) // WARPGROUP
        return warpgroup - begin if begin else warpgroup

    with ir.InsertionPoint.at_block_begin(partition.regions[0].blocks[0]), partition.location:
        is_last = emit.compare("eq", warpgroup_index().value, end - begin - 1)
        branch = emit.op("scf.if", (is_last,), regions=2)
        with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
            _arrive(I32(emit.constant(first, emit.i32())))
            emit.op("scf.yield")
    for op in turns:
        with ir.InsertionPoint(op), op.location:
            if isinstance(op, OrderWaitOp):
                _wait(warpgroup_index() + first, _IN_TURN)
            else:
                _arrive((warpgroup_index() + 1) % (end - begin) + first)


def _wait(number: I32, count: int) -> None:
    threads = emit.constant(count, emit.i32())
    # The op's optional operands differ between versions of LLVM; the builder of the bindings knows them.
    nvvm.BarrierOp(barrierId=number.value, numberOfThreads=threads)


def _arrive(number: I32) -> None:
    nvvm.BarrierArriveOp(emit.constant(_IN_TURN, emit.i32()), barrierId=number.value)
