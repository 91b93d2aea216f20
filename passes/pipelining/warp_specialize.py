"""`smem-warp-specialize`: loads go to a producer warp, what is left to consumer warpgroups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...bindings.irtypes import Block, Module, Op, Value
from ...bindings.mlir import ir
from ...dialect.build import as_index, create
from ...dialect.op import SmemOp
from ...dialect.ops import (
    AllocOp,
    CopyAsyncOp,
    CopyOp,
    CreatePipelineOp,
    ElectOp,
    PartitionOp,
    ViewOp,
    WarpSpecializeOp,
)
from ...dialect.ops.warp_specialize import MAX_REGISTERS, REGISTER_STEP
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import ctas_of_multiprocessor, functions_of, threads_of
from ...ir.loops import OVERLAP, SPECIALIZE
from ...ir.walk import walk
from ...layout.banks import MAX_BYTES
from ...layout.fragments import REGISTERS, WARPGROUP
from ..check_async.integer_ranges import IntegerRanges
from ..driver.base import option
from ..order.effects import is_harmless
from .bulk_loads import LoadedBox, box_of
from .bulk_stores import BulkStore, OwnStores, bulk_stores
from .counting import LoopCount, carry_count
from .division import UNIT, Division, divide
from .loads import TileLoad, has_other_users, loads_of
from .loop_pass import LoopPass
from .pipelined_loads import PipelinedLoads, make_pipelines
from .producer import Producer
from .rewriting import (
    erase_dead_tiles,
    erase_unused,
    loops_of,
    unmark,
    wanted_stages,
    with_stages,
)
from .slices import is_repeatable, new_value_of
from .stages import count_stages, tile_bytes
from .store_warp import StoreWarp

#: Registers of a thread of the producer; what `setmaxnreg` frees goes to the consumers.
_PRODUCER_REGISTERS = 40

#: The most warpgroups of consumers that are chosen.
_MOST_CONSUMERS = 2

#: Ops of the `gpu` dialect that mean the same in a partition as in a CTA of other threads.
_OF_CTAS = {
    *("gpu.block_id", "gpu.cluster_block_id", "gpu.cluster_dim", "gpu.cluster_id", "gpu.grid_dim"),
    *("gpu.printf", "gpu.return", "gpu.yield"),
}


@dataclass(frozen=True)
class WarpSpecialize(LoopPass):
    """Divides a kernel of one warpgroup into partitions: one thread loads the tiles of its loops by TMA,
    through a pipeline of stages; warpgroups of consumers do everything else, and divide its rows, or
    its columns.

    All copies from arrays are loads, as for `smem-pipeline`. What is computed before the first op on
    tiles stays in front of the partitions; what a load begins with is computed by both sides.
    """

    name = "smem-warp-specialize"
    description = "give the loads of loops to a producer warp, and the rest to consumers"

    consumers: int = option(
        0, "warpgroups of consumers; 0: up to two, which divide rows or columns"
    )
    registers: int = option(0, "registers of a thread of the producer; 0: chosen")
    stages: int = option(0, "stages of loops without smem.stages; 0: as many as fit, up to four")
    only_marked: bool = option(False, "leave kernels without a loop with smem.specialize")
    max_bytes: int = option(MAX_BYTES, "shared memory of a CTA, in bytes")

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            marked = [op for op in walk(function, "scf.for") if SPECIALIZE in op.attributes]
            if marked or not self.only_marked:
                self._specialize(function, marked[0] if marked else None)

    def _specialize(self, function: Op, marked: Op | None) -> None:
        location = function.location if marked is None else marked.location
        try:
            done = self._attempt(function)
        except OpError as error:
            self.remark(location, f"is not specialized: {error.message}", marked is not None)
            return
        self.remark(location, done)

    def _attempt(self, function: Op) -> str:
        """Divide a kernel: by rows if these are independent, and with a store warp if that can be proven.

        Returns:
            What was done.

        Raises:
            OpError: at the function, which is as it was.
        """
        refusals: list[OpError] = []
        for division in self._divisions(function):
            attempts: list[_Specialization] = []
            try:
                return self._attempt_division(function, division, attempts)
            except OpError as error:
                refusals.append(error)
            if not attempts[-1].is_dividing:
                break
        raise refusals[0]

    def _attempt_division(
        self, function: Op, division: Division, attempts: list[_Specialization]
    ) -> str:
        """Divide a kernel in one way; append what is attempted; return what was done.

        Raises:
            OpError: at the function, which is as it was.
        """

        def build(changed: Op) -> str:
            attempts.append(_Specialization(changed, self, division, not attempts))
            return attempts[-1].build()

        try:
            return self.attempt(function, build)[1]
        except OpError:
            if attempts[0].is_dividing or not attempts[0].has_store_warp:
                raise
        return self.attempt(function, build)[1]

    def _divisions(self, function: Op) -> list[Division]:
        """Return how the consumers may divide the fragments, the best one first.

        Raises:
            OpError: at the function, if so many consumers as are wanted do not.
        """
        values = [x for op in walk(function, SmemOp) for x in op.results]
        count = self.consumers or _MOST_CONSUMERS
        possible = [
            division
            for division in (Division(count, 0), Division(count, 1))
            if all(map(division.divides, division.extents_of(values)))
        ]
        if count == 1 or not self.consumers:
            return [*possible, Division(1)]
        if not possible:
            rows, columns = (sorted(Division(count, axis).extents_of(values)) for axis in (0, 1))
            raise OpError(
                function,
                f"its fragments have {_alternatives(rows)} rows and {_alternatives(columns)} columns; "
                f"{count} warpgroups of consumers divide multiples of {UNIT * count}",
            )
        return possible


class _Specialization:
    """The partitions of a kernel.

    Args:
        function: the kernel, which is changed.
        options: the pass.
        division: of the fragments.
        may_have_store_warp: whether a store warp may store what loops store.

    Attributes:
        is_dividing: whether fragments are being divided, or an op of theirs hinders it.
    """

    def __init__(
        self, function: Op, options: WarpSpecialize, division: Division, may_have_store_warp: bool
    ) -> None:
        self._function, self._options = function, options
        self._division, self._may_have_store_warp = division, may_have_store_warp
        self.is_dividing = False
        self._body: Block = function.regions[0].blocks[0]
        self._groups: list[PipelinedLoads] = []
        self._stores: list[BulkStore] = []
        self._store_warp: list[StoreWarp] = []
        self._own_stores: list[OwnStores] = []
        #: What `carry_count` returns, by the positions of loops.
        self._counts: dict[int, int | None] = {}

    @property
    def has_store_warp(self) -> bool:
        """Whether a store warp stores what a loop stores."""
        return bool(self._store_warp)

    def build(self) -> str:
        """Build the partitions; return what was done.

        Raises:
            OpError: at the op that hinders it.
        """
        _check_kernel(self._function)
        self._count()
        found = self._find_loads()
        consumers = self._division.warpgroups
        self._stores = bulk_stores(self._function)
        try:
            stages = self._count_stages(found)
        except OpError:
            # The stages matter more than how the result is stored.
            self._stores = []
            stages = self._count_stages(found)
        with ir.InsertionPoint(self._first_work()), self._function.location:
            self._whole = create(WarpSpecializeOp, regions=1)
        for op in walk(self._function, AllocOp):
            op.operation.move_before(self._whole)
        for owner, loads in found.items():
            self._make_groups(owner, loads, stages.get(owner, 1), consumers)
        for store in self._stores:
            block = store.op.operation.block
            is_in_loop = block.owner.name == "scf.for"
            count = self._count_of(block) if is_in_loop else None
            if self._may_have_store_warp and store.can_be_elsewhere and count is not None:
                index = count.index()
                self._store_warp.append(StoreWarp.before(self._whole, store, index, self._division))
            else:
                self._own_stores.append(OwnStores.before(self._whole, store, self._division))
        partitions = self._make_partitions(consumers)
        self._fill_producer(partitions[0])
        self._fill_store_warp(partitions[0])
        for block in found:
            self._make_index_uniform(block)
        for group in self._groups:
            group.take_stages()
            for load in group.loads:
                load.copy.operation.erase()
        for block in found:
            erase_unused([op.operation for op in block.operations if is_repeatable(op.operation)])
        erase_dead_tiles(self._function, [x for group in self._groups for x in group.tiles])
        self._fill_consumer(partitions[1], consumers)
        threads = WARPGROUP * (1 + consumers)
        _set_block_size(self._function, threads)
        for loop in walk(self._function, "scf.for"):
            unmark(loop)
        for loop in walk(partitions[1], "scf.for"):
            if OVERLAP not in loop.attributes:
                loop.attributes[OVERLAP] = ir.UnitAttr.get()
        counts = sorted(set(stages.values()))
        warpgroups = "a warpgroup" if consumers == 1 else f"{consumers} warpgroups"
        numbers = _alternatives(counts)
        stores = " a store warp," if self.has_store_warp else ""
        return f"has a producer,{stores} and {warpgroups} of consumers, with {numbers} stages"

    def _count(self) -> None:
        """Let loops carry how often they load, where their variable is not that."""
        stored_in = {store.op.operation.block for store in bulk_stores(self._function)}
        positions = [
            position
            for position, loop in enumerate(loops_of(self._function))
            if loads_of(loop)[0] or loop.regions[0].blocks[0] in stored_in
        ]
        for position in positions:
            self._counts[position] = carry_count(self._function, position)

    # What there is.

    def _find_loads(self) -> dict[Block, list[tuple[TileLoad, LoadedBox]]]:
        """Return the loads of each block, with their boxes."""
        ranges = IntegerRanges(self._function)
        found: dict[Block, list[tuple[TileLoad, LoadedBox]]] = {}
        for owner in (self._function, *walk(self._function, "scf.for")):
            loads, late = loads_of(owner)
            if late:
                raise late[0]
            if loads:
                _check_loops_around(owner, loads[0].copy)
                block = owner.regions[0].blocks[0]
                found[block] = [(load, box_of(load, ranges)) for load in loads]
        for copy in walk(self._function, CopyOp, CopyAsyncOp):
            if all(load.copy != copy for loads in found.values() for load, _ in loads):
                raise OpError(copy, "is no load of a loop, and a partition copies nothing else")
        if not any(block != self._body for block in found):
            raise OpError(self._function, "no loop of it copies windows of arrays to tiles")
        return found

    def _count_stages(
        self, found: Mapping[Block, list[tuple[TileLoad, LoadedBox]]]
    ) -> dict[Block, int]:
        """Return how many stages the tiles of each loop get."""
        counts = {}
        loads = [load for pairs in found.values() for load, _ in pairs]
        in_loops = [x.tile for b, pairs in found.items() if b != self._body for x, _ in pairs]
        known = {op for load in loads for op in (load.copy.operation, *load.users)}
        # What uses a tile outside of the loops that load it has bytes of its own.
        kept = {x.tile for x in loads if x.tile in in_loops and has_other_users(x, known)}
        for block in found:
            if block != self._body:
                loop = block.owner.operation
                wanted = wanted_stages(loop, self._options.stages)
                tiles, function = in_loops, self._function
                more = sum(x.buffer_bytes(self._division) for x in self._stores)
                more += sum(map(tile_bytes, kept))
                count = count_stages(loop, function, tiles, wanted, self._options.max_bytes, more)
                counts[block] = count
        return counts

    def _first_work(self) -> Op:
        """Return the first op that is not computed in front of the partitions."""
        for op in self._body.operations:
            is_alloc = op.operation.name in (AllocOp.OPERATION_NAME, ViewOp.OPERATION_NAME)
            if not is_alloc and not is_repeatable(op.operation) and op.name != "llvm.intr.assume":
                return op.operation
        raise OpError(self._function, "has no op")

    # Pipelines.

    def _make_groups(
        self, block: Block, loads: list[tuple[TileLoad, LoadedBox]], stages: int, consumers: int
    ) -> None:
        """Make the pipelines of the loads of a block: one for those that the same op reads first."""
        count = self._count_of(block)
        index = self._first_index() if count is None else count.index()
        tiles = {load.tile: with_stages(load.tile, stages) for load, _ in loads}
        with ir.InsertionPoint(self._whole):
            self._groups += make_pipelines(block, loads, tiles, consumers, index, count)

    def _count_of(self, block: Block) -> LoopCount | None:
        """Return the count of the loop with a body; None for the function's."""
        if block == self._body:
            return None
        loop = block.owner.operation
        return LoopCount(loop, self._counts[loops_of(self._function).index(loop)])

    def _first_index(self) -> Value:
        """Emit the index of tiles that are loaded once."""
        with ir.InsertionPoint(self._whole):
            return as_index(0)

    def _make_index_uniform(self, block: Block) -> None:
        """Let ptxas know that all threads of a warp of consumers have the same pipeline index.

        It computes stages and descriptors in uniform registers then: 38 instructions in the loop of a
        product, not 71 (measured).
        """
        groups = [group for group in self._groups if group.block == block]
        if block == self._body or not groups:
            return
        index = groups[0].index
        point = ir.InsertionPoint.at_block_begin(block)
        if not isinstance(index.owner, ir.Block):
            point = ir.InsertionPoint.after(index.owner)
        with point, block.owner.location:
            uniform = emit.warp_uniform(index)
        for group in groups:
            group.index = uniform

    # Partitions.

    def _make_partitions(self, consumers: int) -> list[Op]:
        registers: list[int | None] = [None, None]
        if consumers > 1:
            mine = self._options.registers or _PRODUCER_REGISTERS
            ctas = ctas_of_multiprocessor(self._function)
            registers = [mine, _registers_of_consumer(consumers, mine, ctas)]
            if "nvvm.minctasm" not in self._function.attributes:
                # ptxas ignores setmaxnreg where it does not know a kernel's registers (C7508).
                one = ir.IntegerAttr.get(emit.i32(), 1)
                self._function.attributes["nvvm.minctasm"] = one
        partitions = []
        with ir.InsertionPoint(ir.Block.create_at_start(self._whole.regions[0], [])):
            for warpgroups, count in zip((1, consumers), registers, strict=True):
                with self._function.location:
                    partition = create(
                        PartitionOp, regions=1, warpgroups=warpgroups, registers=count
                    )
                ir.Block.create_at_start(partition.regions[0], [ir.IndexType.get()])
                partitions.append(partition)
        return partitions

    def _fill_producer(self, partition: Op) -> None:
        loads: dict[Op, Callable[[Mapping[Value, Value]], None]] = {}
        needed: dict[Op, Sequence[Value]] = {}
        for group in self._groups:
            last = group.loads[-1].copy.operation
            loads[last] = lambda values, group=group: group.emit(
                values, new_value_of(values, group.index)
            )
            starts = [x for box in group.boxes for x in box.starts if not isinstance(x, int)]
            needed[last] = [group.index, *starts]
        first = _following(self._whole)
        producer = Producer(first, loads, needed)
        with ir.InsertionPoint(partition.regions[0].blocks[0]), self._function.location:
            elect = create(ElectOp, regions=1, scope="warpgroup")
        with ir.InsertionPoint(ir.Block.create_at_start(elect.regions[0], [])):
            producer.emit()

    def _fill_store_warp(self, partition: Op) -> None:
        if not self._store_warp:
            return
        stores = {x.found.op.operation: x for x in self._store_warp}
        emits = {op: store.emit_stores for op, store in stores.items()}
        needed = {op: store.operands for op, store in stores.items()}
        thread = Producer(_following(self._whole), emits, needed)
        with ir.InsertionPoint(partition.regions[0].blocks[0]), self._function.location:
            elect = create(ElectOp, regions=1, scope="warpgroup", warp=1)
        with ir.InsertionPoint(ir.Block.create_at_start(elect.regions[0], [])):
            for store in self._store_warp:
                store.grant_first()
            thread.emit()

    def _fill_consumer(self, partition: Op, consumers: int) -> None:
        block = partition.regions[0].blocks[0]
        behind = [op.operation for op in self._body.operations]
        behind = behind[behind.index(self._whole.operation) + 1 : -1]
        for op in behind:
            op.detach_from_parent()
            block.append(op)
        if consumers > 1:
            self.is_dividing = True
            divide(block, self._division)
            self.is_dividing = False
        for store in (*self._store_warp, *self._own_stores):
            store.take_place(block.arguments[0])
        erase_unused([op for op in walk(partition) if is_repeatable(op)])


def _check_kernel(function: Op) -> None:
    """Check that a kernel can be divided.

    Raises:
        OpError: at the op that hinders it.
    """
    threads = threads_of(function)
    if threads != WARPGROUP:
        raise OpError(function, f"it has {threads} threads; expected {WARPGROUP}, one warpgroup")
    if len(function.regions[0].blocks) != 1:
        raise OpError(function, "it has several basic blocks; expected scf.for and scf.if")
    for op in walk(function, WarpSpecializeOp, CreatePipelineOp, ElectOp):
        raise OpError(op, "is there already; a plain loop has copies, products and stores")
    for op in walk(function):
        if op != function and _counts_threads(op):
            raise OpError(op, "depends on the threads of the CTA, of which a partition has others")


def _counts_threads(op: Op) -> bool:
    """Whether an op means something else if other or more threads execute it."""
    dialect = op.name.partition(".")[0]
    if dialect == "gpu":
        return op.name not in _OF_CTAS
    if dialect in ("llvm", "nvvm"):
        return op.name.startswith("nvvm.read.") or not is_harmless(op)
    return op.name in ("memref.atomic_rmw", "memref.generic_atomic_rmw")


def _check_loops_around(owner: Op, copy: Op) -> None:
    while "function_type" not in owner.attributes:
        if owner.name != "scf.for":
            raise OpError(
                copy, f"is in the {owner.name} at {owner.location}; copy in each iteration"
            )
        owner = owner.parent.operation


def _following(op: Op) -> Op:
    operations = [x.operation for x in op.operation.block.operations]
    return operations[operations.index(op.operation) + 1]


def _alternatives(numbers: Sequence[int]) -> str:
    return " or ".join(map(str, numbers))


def _registers_of_consumer(consumers: int, producer: int, ctas: int) -> int:
    """Return the registers of a consumer's thread: what is left where CTAs fill the multiprocessor."""
    threads = WARPGROUP * (1 + consumers)
    at_launch = REGISTERS // (threads * ctas) // REGISTER_STEP * REGISTER_STEP
    left = (at_launch * (1 + consumers) - producer) // consumers
    return min(left // REGISTER_STEP * REGISTER_STEP, MAX_REGISTERS)


def _set_block_size(function: Op, threads: int) -> None:
    for name in ("known_block_size", "gpu.known_block_size", "nvvm.reqntid"):
        if name in function.attributes:
            function.attributes[name] = ir.DenseI32ArrayAttr.get([threads, 1, 1])
