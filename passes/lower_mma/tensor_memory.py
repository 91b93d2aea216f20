"""Tensor memory of a kernel: allocation, waits, release; stores and loads of accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...bindings.diagnostics import format_location
from ...bindings.irtypes import Attribute, Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import AnyMma, TensorMemoryOp, WaitOp, warpgroup_barrier
from ...dialect.ops.pipeline import MBARRIER_BYTES
from ...dialect.ops.tensor_memory import ADDRESS_BYTES, LEAST_COLUMNS
from ...dialect.types import FragmentType, is_in_flight
from ...ir import emit
from ...ir.cluster import check_clusters, cluster_barrier
from ...ir.errors import OpError
from ...ir.i32 import I32
from ...ir.kernel import function_of, required_block_size, returns_of, warpgroups_of
from ...ir.mbarriers import wait_for_phase
from ...ir.shared_memory import allocation_pointer, gep
from ...ir.tensor_memory import LANE_BIT, WARP_LANES, address_offset, columns_needed
from ...ir.threads import linear_thread
from ...layout.fragments import WARPGROUP, first_rows
from ...layout.transfer import WARP
from ...layout.wgmma import INSTRUCTION_M
from .registers import AccumulatorRegisters, struct_of

#: An access in the shape 16x256b moves 8 columns, times a power of two up to 32.
_ACCESS_COLUMNS, _MOST_ACCESSES = 8, 32

#: The selector of `prmt` that combines the low halves of two words. A column of tensor memory holds one
#: f16.
_LOW_HALVES = 0x5410

#: Registers that one access in the shape 16x128b moves at most.
_MOST_WORDS = 128

#: Arrivals at the mbarrier of a synchronisation: one of each CTA.
_PAIR_ARRIVALS = 2


class TensorMemoryAllocation:
    """The tensor memory of a kernel; its values are computed at the `smem.tensor_memory` op.

    Attributes:
        first: the address of this warpgroup's first column (i32).
        columns: the number of columns of a warpgroup.
        leader: whether this thread issues the mma of its warpgroup (i1). In a CTA pair, the leader in the
            even CTA issues those of both.
        group: the `.cta_group` of the kernel's instructions.
    """

    def __init__(self, op: TensorMemoryOp) -> None:
        """Emit the allocation, the mbarriers and the release."""
        function, size = function_of(op), required_block_size(op)
        columns, first, warpgroups, self._depth = (
            attribute.value for attribute in (op.columns, op.first, op.warpgroups, op.depth)
        )
        self.columns, barriers = columns, op.barriers_of_each
        self._pair = _PairedCta() if op.pair else None
        self.group = ir.Attribute.parse(f"#nvvm.cta_group<cta_{2 if self._pair else 1}>")
        count = max(LEAST_COLUMNS, 1 << (columns * warpgroups - 1).bit_length())
        slot, self._thread = allocation_pointer(op), linear_thread(size)
        in_first_warp = emit.compare("ult", self._thread, WARP)
        with emit.scf_if(in_first_warp):
            number = emit.constant(count, emit.i32())
            emit.op("nvvm.tcgen05.alloc", (slot, number), group=self.group)
            emit.op("nvvm.tcgen05.relinquish_alloc_permit", group=self.group)
        with emit.scf_if(emit.compare("eq", self._thread, 0)):
            for number in range(warpgroups * barriers):
                barrier = gep(slot, ADDRESS_BYTES + number * MBARRIER_BYTES)
                arrivals = 1 if number % barriers < self._depth else _PAIR_ARRIVALS
                emit.op("nvvm.mbarrier.init", (barrier, emit.constant(arrivals, emit.i32())))
            emit.op("nvvm.fence.mbarrier.init")
        self._barrier_of_all()
        base = emit.value("llvm.load", (slot,), emit.i32())
        # The value is undefined in warpgroups before the first, which do not use it.
        warpgroup = emit.binary("divui", self._thread, WARPGROUP)
        warpgroup = emit.binary("subi", warpgroup, first) if first else warpgroup
        self.first = emit.binary("addi", base, emit.binary("muli", warpgroup, columns))
        self.leader = emit.compare("eq", emit.binary("remui", self._thread, WARPGROUP), 0)
        offset = emit.binary("muli", warpgroup, barriers * MBARRIER_BYTES)
        self._barriers = gep(gep(slot, ADDRESS_BYTES), offset)
        i32 = ir.TypeAttr.get(emit.i32())
        one = emit.constant(1, emit.i32())
        self._count = emit.value("llvm.alloca", (one,), emit.pointer(0), elem_type=i32)
        emit.op("llvm.store", (emit.constant(self._depth, emit.i32()), self._count))
        for end in returns_of(function):
            with ir.InsertionPoint(end), end.location:
                self._barrier_of_all()
                with emit.scf_if(in_first_warp):
                    number = emit.constant(count, emit.i32())
                    emit.op("nvvm.tcgen05.dealloc", (pointer(base), number), group=self.group)

    @contextmanager
    def issue(self) -> Iterator[None]:
        """Emit the `with` block, which has the instructions of one mma, and their commit.

        Both are in the branch of the thread that issues the instructions.
        """
        number = self._next()
        # Each thread waits for the previous mma on the mbarrier. After the barrier, all threads have
        # loaded what the mma overwrites, and stored what it reads.
        self._wait_for(number - self._depth)
        fence("before")
        warpgroup_barrier()
        fence("after")
        with emit.scf_if(self.leader):
            if self._pair:
                self._pair.synchronize(gep(self._barriers, self._depth * MBARRIER_BYTES))
                fence("after")
                with emit.scf_if(self._pair.is_even):
                    yield
                    self._commit(number, self._pair.mask)
            else:
                yield
                self._commit(number)
        emit.op("llvm.store", ((number + 1).value, self._count))

    def wait(self, pending: int = 0) -> None:
        """Emit the wait of a warpgroup for all of its mma but the last `pending`."""
        self._wait_for(self._next() - (1 + min(pending, self._depth - 1)))
        # The loads that follow are warp-synchronous, but threads may leave the wait one by one.
        emit.op("nvvm.bar.warp.sync", (emit.constant(-1, emit.i32()),))
        fence("after")

    def _commit(self, number: I32, *mask: Value) -> None:
        emit.op("nvvm.tcgen05.commit", (self._barrier(number), *mask), group=self.group)

    def _barrier_of_all(self) -> None:
        """Emit a barrier of the CTA, or of both CTAs of a pair."""
        fence("before")
        if self._pair:
            cluster_barrier()
        else:
            emit.op("gpu.barrier")
        fence("after")

    def _next(self) -> I32:
        """Return the number of the warpgroup's next mma, counted from the depth.

        The counter is an alloca, which LLVM promotes to registers for any control flow.
        """
        return I32(emit.value("llvm.load", (self._count,), emit.i32()))

    def _wait_for(self, number: I32) -> None:
        """Emit a wait for the mma of that number.

        Each pass over the mbarriers is a phase. The phase before the first mma is complete.
        """
        parity = number // self._depth & 1 ^ 1
        wait_for_phase(self._barrier(number), parity.value)

    def _barrier(self, number: I32) -> Value:
        return gep(self._barriers, (number % self._depth * MBARRIER_BYTES).value)

    def load(
        self, address: Value, registers: AccumulatorRegisters, total_columns: int | None = None
    ) -> Value:
        """Emit the loads of an accumulator, or of some of its columns; return the registers.

        Args:
            address: the address of its first column (i32).
            registers: the registers to load.
            total_columns: the number of columns of the accumulator, if only some of them are loaded.
        """
        structs = []
        for position, (pointers, counts) in enumerate(
            self._accesses(address, registers, total_columns)
        ):
            scalars: list[Value] = []
            for access, count in zip(pointers, counts, strict=True):
                vector = emit.value(
                    "nvvm.tcgen05.ld",
                    (access,),
                    ir.VectorType.get([4 * count], emit.i32()),
                    shape=_shape(),
                )
                if registers.register == "f32":
                    floats = ir.VectorType.get([4 * count], ir.F32Type.get())
                    vector = emit.value("llvm.bitcast", (vector,), floats)
                scalars += [emit.extract_element(vector, i) for i in range(4 * count)]
            if registers.accumulator.per_register == 2:
                scalars = [
                    emit.prmt(low, high, _LOW_HALVES)
                    for low, high in zip(scalars[::2], scalars[1::2], strict=True)
                ]
            structs.append(struct_of(registers.block_type(position), scalars))
        emit.op("nvvm.tcgen05.wait", kind=ir.Attribute.parse("#nvvm.tcgen05_wait<load>"))
        return registers.join(structs)

    def store(self, address: Value, registers: AccumulatorRegisters, fragment: Value) -> None:
        """Emit the stores of the registers of an accumulator."""
        accesses = self._accesses(address, registers)
        for (pointers, counts), (_, scalars) in zip(
            accesses, registers.scalars(fragment), strict=True
        ):
            values = scalars
            if registers.accumulator.per_register == 2:
                values = [x for word in scalars for x in (word, emit.binary("shrui", word, 16))]
            first = 0
            for access, count in zip(pointers, counts, strict=True):
                chunk = values[first : first + 4 * count]
                first += 4 * count
                vector = emit.value(
                    "vector.from_elements", chunk, ir.VectorType.get([4 * count], chunk[0].type)
                )
                words = ir.VectorType.get([4 * count], emit.i32())
                if vector.type != words:
                    vector = emit.value("llvm.bitcast", (vector,), words)
                emit.op("nvvm.tcgen05.st", (access, vector), shape=_shape())
        emit.op("nvvm.tcgen05.wait", kind=ir.Attribute.parse("#nvvm.tcgen05_wait<store>"))

    def store_a(self, address: Value, words: list[list[Value]], rows: int) -> None:
        """Emit the stores of the registers of an A fragment.

        Args:
            address: the address of its first column (i32).
            words: for each block of 64 rows, its registers (i32) along K.
            rows: rows of an instruction.
        """
        lane_address = emit.binary("addi", address, self._lane())
        firsts = first_rows(len(words) * INSTRUCTION_M, rows)
        for row, block in zip(firsts, words, strict=True):
            for begin, count in _in_powers_of_two(len(block), _MOST_WORDS):
                # Two registers are four columns of the warp's rows.
                offset = address_offset(row, begin * 2, len(block) * 2, rows)
                vector = emit.value(
                    "vector.from_elements",
                    block[begin : begin + count],
                    ir.VectorType.get([count], emit.i32()),
                )
                access = pointer(emit.binary("addi", lane_address, offset))
                emit.op("nvvm.tcgen05.st", (access, vector), shape=_shape("16x128b"))
        emit.op("nvvm.tcgen05.wait", kind=ir.Attribute.parse("#nvvm.tcgen05_wait<store>"))

    def _accesses(
        self, address: Value, registers: AccumulatorRegisters, total_columns: int | None = None
    ) -> Iterator[tuple[list[Value], list[int]]]:
        """Yield, for each block, the pointers of its accesses and the columns of each divided by 8."""
        columns = total_columns or registers.columns
        lane_address = emit.binary("addi", address, self._lane())
        for row, column, n in registers.blocks:
            pointers, counts = [], []
            for begin, count in _in_powers_of_two(n // _ACCESS_COLUMNS, _MOST_ACCESSES):
                first_column = column + begin * _ACCESS_COLUMNS
                offset = address_offset(row, first_column, columns, registers.rows)
                pointers.append(pointer(emit.binary("addi", lane_address, offset)))
                counts.append(count)
            yield pointers, counts

    def _lane(self) -> Value:
        """Return the offset that the first lane of the warp adds to an address."""
        warp = emit.binary("remui", emit.binary("divui", self._thread, WARP), WARPGROUP // WARP)
        return emit.binary("muli", warp, WARP_LANES << LANE_BIT)


class _PairedCta:
    """A CTA in its pair, which has ranks 2i and 2i + 1 of the cluster, adjacent along x.

    Attributes:
        is_even: whether the CTA has the even rank, and issues the mma of the pair (i1).
        mask: the mask of both CTAs (i16).
    """

    def __init__(self) -> None:
        rank = emit.value("nvvm.read.ptx.sreg.cluster.ctarank", (), emit.i32())
        odd = emit.binary("andi", rank, 1)
        self.is_even = emit.compare("eq", odd, 0)
        self._peer = emit.binary("xori", rank, 1)
        two_bits = emit.constant(3, emit.i32())
        mask = emit.value("arith.shli", (two_bits, emit.binary("subi", rank, odd)), emit.i32())
        self.mask = emit.value("arith.trunci", (mask,), ir.IntegerType.get_signless(16))

    def synchronize(self, barrier: Value) -> None:
        """Emit a synchronisation of this thread with the corresponding thread of the other CTA.

        Memory operations before it, of either thread, are visible to both after it. Each thread arrives
        at the mbarrier of its own CTA first, so the next arrival of the other thread cannot come earlier,
        and no phase has to be counted.

        Args:
            barrier: an mbarrier with `_PAIR_ARRIVALS`, at the same address in both CTAs.
        """
        scope = ir.Attribute.parse("#nvvm.mem_scope<cluster>")
        state = emit.value("nvvm.mbarrier.arrive", (barrier,), emit.i64(), scope=scope)
        peer_barrier = emit.value("nvvm.mapa", (barrier, self._peer), emit.pointer(7))
        emit.op("nvvm.mbarrier.arrive", (peer_barrier,), scope=scope)
        loop = emit.op("scf.while", regions=2)
        with ir.InsertionPoint(ir.Block.create_at_start(loop.regions[0])):
            i1 = ir.IntegerType.get_signless(1)
            is_complete = emit.value("nvvm.mbarrier.try_wait", (barrier, state), i1, scope=scope)
            emit.op("scf.condition", (emit.binary("xori", is_complete, emit.constant(1, i1)),))
        with ir.InsertionPoint(ir.Block.create_at_start(loop.regions[1])):
            emit.op("scf.yield")


def pointer(address: Value) -> Value:
    """Return a pointer to an address in tensor memory."""
    return emit.value("llvm.inttoptr", (address,), emit.pointer(6))


def fence(side: str) -> None:
    """Emit `tcgen05.fence` "before" or "after" a synchronisation of threads."""
    emit.op("nvvm.tcgen05.fence", kind=ir.Attribute.parse(f"#nvvm.tcgen05_fence<{side}>"))


def _in_powers_of_two(total: int, most: int) -> Iterator[tuple[int, int]]:
    """Split a number into powers of two up to `most`, the largest first; yield (sum before, power)."""
    begin = 0
    while begin < total:
        count = min(most, 1 << (total - begin).bit_length() - 1)
        yield begin, count
        begin += count


def _shape(shape: str = "16x256b") -> Attribute:
    return ir.Attribute.parse(f"#nvvm.tcgen05_ldst_shape<shape_{shape}>")


def check_tensor_memory(lowered: Sequence[Op], memories: Sequence[TensorMemoryOp]) -> None:
    """Check that functions have the tensor memory that their accumulators in flight need.

    Args:
        lowered: the ops on fragments.
        memories: the `smem.tensor_memory` of their functions.

    Raises:
        OpError: for the first op without tensor memory, or with tensor memory that does not fit it.
    """
    memory_of: dict[Op, TensorMemoryOp] = {}
    for op in memories:
        function = function_of(op)
        if function in memory_of:
            where = format_location(memory_of[function].location)
            raise OpError(
                op, f"allocates tensor memory again; the function has allocated it at {where}"
            )
        if op.operation.block != function.regions[0].blocks[0]:
            raise OpError(
                op, "is not at the top of its function, where all threads execute it once"
            )
        memory_of[function] = op
    makers: dict[Op, list[Op]] = {}
    for op in lowered:
        fragments = [value.type for value in (*op.operands, *op.results)]
        if not any(isinstance(t, FragmentType) and is_in_flight(t) for t in fragments):
            continue
        function = function_of(op)
        if function not in memory_of:
            raise OpError(op, "has no tensor memory; run smem-place-accumulators before")
        _check_order(op, memory_of[function], function)
        if not isinstance(op, WaitOp):
            _check_op(op, memory_of[function])
            makers.setdefault(function, []).append(op)
    for function, ops in makers.items():
        _check_columns(memory_of[function], ops)


def _check_order(op: Op, memory: TensorMemoryOp, function: Op) -> None:
    """Check that tensor memory is allocated before an op that needs it."""
    outer = op.operation
    while outer.parent.operation != function:
        outer = outer.parent.operation
    if outer.block == memory.operation.block and outer.is_before_in_block(memory.operation):
        raise OpError(
            memory,
            f"comes after the '{op.operation.name}' at {format_location(op.location)}, which needs it",
        )


def _check_op(op: Op, memory: TensorMemoryOp) -> None:
    """Check that the warpgroups, and the CTA pair, that execute an op are those of its tensor memory."""
    where = f"the smem.tensor_memory at {format_location(memory.location)}"
    if isinstance(op, AnyMma):
        paired = memory.pair
        if (op.ctas > 1) != paired:
            op_pair, memory_pair = ("no pair", "pair") if paired else ("pair", "no pair")
            raise OpError(op, f"has {op_pair}, but {where} has {memory_pair}")
        if paired:
            check_clusters(op)
    (first, end), begin = warpgroups_of(op), memory.first.value
    stop = begin + memory.warpgroups.value
    if first < begin or end > stop:
        raise OpError(
            op,
            f"is executed by warpgroups {first} to {end - 1} of the CTA, but {where} is for {begin} to "
            f"{stop - 1}",
        )


def _check_columns(memory: TensorMemoryOp, makers: list[Op]) -> None:
    """Check that there are columns for all accumulators that ops make."""
    columns, needed = memory.columns.value, columns_needed(makers)
    if columns < needed:
        raise OpError(
            memory,
            f"has {columns} columns for each warpgroup, but its function's accumulators and factors take "
            f"{needed}",
        )
