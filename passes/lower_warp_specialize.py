"""`smem-lower-warp-specialize`: partitions of warpgroups, and code of one thread, become branches."""

from dataclasses import dataclass
from math import prod

from ..bindings.irtypes import Module, Region, Value
from ..bindings.mlir import ir
from ..dialect.ops import ElectOp, PartitionOp, WarpSpecializeOp
from ..dialect.ops.warp_specialize import MAX_REGISTERS, REGISTER_STEP
from ..ir import emit
from ..ir.errors import OpError
from ..ir.i32 import I32
from ..ir.kernel import function_of, functions_of, required_block_size, threads_of
from ..ir.lowerings import Lowerings
from ..ir.threads import linear_thread
from ..ir.walk import gather
from ..layout.fragments import REGISTERS, WARPGROUP
from ..layout.transfer import WARP
from .driver.base import Pass
from .lower_named_barriers import lower_named_barriers

_LOWERINGS = Lowerings()


@dataclass(frozen=True)
class LowerWarpSpecialize(Pass):
    """Each partition becomes one branch of an `scf.if`, as `setmaxnreg` requires."""

    name = "smem-lower-warp-specialize"
    description = "lower partitions of warpgroups and elected threads to branches"

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            lower_named_barriers(function)
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
    _check(op, partitions)
    # All lanes of a warp have the same value; the compiler knows this of the result of a shuffle.
    warpgroup = _uniform(I32(linear_thread(size)) // WARPGROUP)
    _branch(partitions, warpgroup, 0)


def _check(op: WarpSpecializeOp, partitions: list[PartitionOp]) -> None:
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
        begins = _registers_at_launch(threads)
        if total > threads * begins:
            raise OpError(
                op,
                f"has partitions of {' + '.join(terms)} = {total} registers; its {threads} threads start "
                f"with at most {begins} each, which are {threads * begins}",
            )


def _registers_at_launch(threads: int) -> int:
    """Return with how many registers each thread of a CTA starts, if it has the multiprocessor alone:
    ptxas rounds down to a multiple of 8."""
    return min(REGISTERS // threads // REGISTER_STEP * REGISTER_STEP, MAX_REGISTERS)


def _fill(region: Region, partitions: list[PartitionOp], warpgroup: Value, first: int) -> None:
    """Fill a region that is executed by the warpgroups of some partitions; `first` is the first of these
    warpgroups."""
    if len(partitions) == 1:
        _move_partition(partitions[0], region, warpgroup, first)
        return
    with ir.InsertionPoint(ir.Block.create_at_start(region)):
        _branch(partitions, warpgroup, first)
        emit.op("scf.yield")


def _branch(partitions: list[PartitionOp], warpgroup: Value, first: int) -> None:
    """Emit the branch to the partition of a warpgroup."""
    partition, *others = partitions
    end = first + partition.warpgroups.value
    branch = emit.op("scf.if", (emit.compare("ult", warpgroup, end),), regions=2)
    _fill(branch.regions[0], [partition], warpgroup, first)
    if others:
        _fill(branch.regions[1], others, warpgroup, end)


def _move_partition(partition: PartitionOp, region: Region, warpgroup: Value, first: int) -> None:
    """Move the body of a partition to a region."""
    block, registers = partition.regions[0].blocks[0], partition.registers
    with ir.InsertionPoint.at_block_begin(block), partition.location:
        begins = _registers_at_launch(threads_of(function_of(partition)) or 1)
        if registers not in (None, begins):
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
