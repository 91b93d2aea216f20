"""nvvm: ops of `tcgen05` (PTX ISA 9.7.16)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..access import store
from ..cta import ConvergentThreads, Cta
from ..errors import EmulationError, Stop, ViolationKind
from ..kernel import Op
from ..lanes import WARP
from ..ops.nvvm_mbarrier import count_arrivals, mbarrier_addresses, mbarrier_at
from ..registry import executes
from ..types import is_pointer, shape_of
from ..warps import full_warps
from .cells import SHAPES, TensorMemoryCells, cells_of, lanes_of, split_address
from .cp import execute as copy
from .descriptors import KINDS, UnknownInstruction
from .mma import ScalingOperands, execute
from .pairs import pair_of
from .tcgen05_clocks import tcgen05_clocks_of
from .tensor_memory import TensorMemory, report_misuse, tensor_memory_of


def group_of(op: Op, name: str = "group") -> int:
    """Return the number of CTAs of an op (`cta_group`), 1 or 2.

    Raises:
        EmulationError: if another op of the kernel has another number.
    """
    group = 2 if "cta_2" in op.text(name) else 1
    op.check_agrees("cta_group", str(group))
    return group


def _uniform(convergent: ConvergentThreads, warp: int, value: np.ndarray, operand: str) -> int:
    """Return the operand of a warp, which must be the same for all its threads.

    Raises:
        Stop: if it is not; this is reported.
    """
    of_warp = convergent.broadcast(value)[convergent.lanes.threads // WARP == warp]
    if (of_warp != of_warp[0]).any():
        report_misuse(convergent, f"has {operand} that the threads of warp {warp} disagree on")
    return int(of_warp[0])


# -- allocation ------------------------------------------------------------------------------------


def _single_warp(convergent: ConvergentThreads) -> int | None:
    """Return the warp of convergent threads. If there are several, they diverge, since each may have to
    wait for itself; return None."""
    warp, *others = full_warps(convergent)
    if not others:
        return int(warp)
    of_warp = convergent.lanes.threads // WARP
    convergent.diverge(
        [(convergent.lanes.where(of_warp == w), ConvergentThreads.repeat) for w in (warp, *others)]
    )
    return None


@executes("nvvm.tcgen05.alloc", waits=True)
def _allocate(op: Op) -> Any:
    group, space = group_of(op), op.space

    def step(convergent: ConvergentThreads, slot: Any, columns: Any) -> None:
        warp = _single_warp(convergent)
        if warp is None:
            return
        count = _uniform(convergent, warp, convergent.check_value(columns), "a number of columns")
        address = _uniform(convergent, warp, convergent.check_value(slot), "an address")
        start = (_allocate_columns_of_pair if group == 2 else _allocate_columns)(
            convergent, warp, count, address
        )
        if start is None:
            return
        raw = np.array([[start]], np.uint32).view(np.uint8)
        store(convergent, np.array([address]), space, raw, 4, convergent.lanes.threads[:1])
        # The written address is visible to all threads of the warp (9.7.16.6.1), and to no others.
        convergent.cta.clocks.synchronise(convergent.threads)

    return step


def _allocate_columns(
    convergent: ConvergentThreads, warp: int, count: int, address: int
) -> int | None:
    """Allocate columns. Return the first; None if the warp waits until others are freed."""
    memory = tensor_memory_of(convergent.cta)
    memory.check_allocate(convergent, count)
    start = memory.allocate(count)
    if start is None:
        description = f"{count} columns of tensor memory to be freed"
        convergent.wait(lambda: memory.has_room(count), description, again=True)
    return start


def _allocate_columns_of_pair(
    convergent: ConvergentThreads, warp: int, count: int, address: int
) -> int | None:
    """Allocate the same columns in both CTAs of a pair, once a warp of each executes the op."""
    pair = pair_of(convergent)

    def allocate() -> int:
        first, second = (memory.allocate(count) for memory in pair.memories)
        if first is None or first != second:
            raise EmulationError(
                f"the CTAs of a pair get {first} and {second} for {count} columns of tensor memory",
                convergent.current.location,
            )
        return first

    return pair.execute_together(
        convergent,
        warp,
        f"allocates {count} columns of tensor memory and has {address:#x} for their address",
        lambda: tensor_memory_of(convergent.cta).check_allocate(convergent, count),
        allocate,
        lambda: all(memory.has_room(count) for memory in pair.memories),
    )


@executes("nvvm.tcgen05.dealloc", waits=True)
def _free(op: Op) -> Any:
    group = group_of(op)

    def step(convergent: ConvergentThreads, address: Any, columns: Any) -> None:
        warp = _single_warp(convergent)
        if warp is None:
            return
        count = _uniform(convergent, warp, convergent.check_value(columns), "a number of columns")
        first_address = _uniform(convergent, warp, convergent.check_value(address), "an address")
        memory = tensor_memory_of(convergent.cta)
        if group == 1:
            memory.check_free(convergent, first_address, count)
            memory.free(first_address)
            return
        pair = pair_of(convergent)
        pair.execute_together(
            convergent,
            warp,
            f"frees {count} columns of tensor memory at {first_address:#010x}",
            lambda: memory.check_free(convergent, first_address, count),
            lambda: pair.for_each(lambda memory: memory.free(first_address)),
        )

    return step


@executes("nvvm.tcgen05.relinquish_alloc_permit", waits=True)
def _relinquish(op: Op) -> Any:
    group = group_of(op)

    def step(convergent: ConvergentThreads) -> None:
        warp = _single_warp(convergent)
        if warp is None:
            return
        if group == 1:
            tensor_memory_of(convergent.cta).relinquish()
            return
        pair = pair_of(convergent)
        arguments = "gives up the right to allocate tensor memory"
        pair.execute_together(
            convergent,
            warp,
            arguments,
            lambda: None,
            lambda: pair.for_each(TensorMemory.relinquish),
        )

    return step


# -- mma and cp ------------------------------------------------------------------------------------


@executes("nvvm.tcgen05.mma", tracked=True)
def _multiply(op: Op) -> Any:
    group, kind = group_of(op, "ctaGroup"), _word(op, "kind")
    if kind not in KINDS or op.has("aShift") or len(op.operand_types) != 5:
        raise op.refuse(
            f"is of kind {kind}, shifts A, or has a scale or a mask; the emulator knows plain ones of "
            f"{', '.join(KINDS)}"
        )
    return _mma_step(op, kind, group)


@executes("nvvm.tcgen05.mma.block_scale", tracked=True)
def _multiply_scaled(op: Op) -> Any:
    group, block = group_of(op, "ctaGroup"), 16 if _word(op, "blockScale") == "block16" else 32
    return _mma_step(op, _word(op, "kind"), group, block)


def _word(op: Op, name: str) -> str:
    """Return the keyword of an enumeration attribute; empty if it is missing."""
    return op.text(name).rsplit("<", 1)[-1].rstrip(">")


def _mma_step(op: Op, kind: str, group: int, block: int | None = None) -> Any:
    """Return the step of an mma of `group` CTAs; `block` elements along K share a scale factor, if
    given."""
    a_in_tensor_memory = is_pointer(str(op.operand_types[1]))

    def step(convergent: ConvergentThreads, *operands: Any) -> None:
        columns = [convergent.broadcast(convergent.check_value(value)) for value in operands]
        for row in range(convergent.lanes.count):
            d, a, b, descriptor, adds, *factors = (int(column[row]) for column in columns)
            left, scaling = (
                (a, a_in_tensor_memory),
                ScalingOperands(block, *factors) if block else None,
            )
            try:
                execute(convergent, row, kind, d, left, b, descriptor, bool(adds), group, scaling)
            except UnknownInstruction as unknown:
                raise op.refuse(f"{unknown}, which the emulator does not know") from None

    return step


@executes("nvvm.tcgen05.cp", tracked=True)
def _copy(op: Op) -> Any:
    group, form = group_of(op), (_word(op, "shape"), _word(op, "multicast"))
    if form != ("shape_32x128b", "warpx4") or op.has("srcFormat"):
        raise op.refuse("is not of shape 32x128b with warpx4, the one that the emulator knows")

    def step(convergent: ConvergentThreads, *operands: Any) -> None:
        addresses, descriptors = (
            convergent.broadcast(convergent.check_value(value)) for value in operands
        )
        for row in range(convergent.lanes.count):
            try:
                copy(convergent, row, int(addresses[row]), int(descriptors[row]), group)
            except UnknownInstruction as unknown:
                raise op.refuse(f"{unknown}, which the emulator does not know") from None

    return step


@executes("nvvm.tcgen05.commit")
def _commit(op: Op) -> Any:
    group_of(op)

    def step(convergent: ConvergentThreads, pointer: Any, mask: Any = None) -> None:
        masks = None if mask is None else convergent.broadcast(convergent.check_value(mask))
        clocks = tcgen05_clocks_of(convergent.cta.cluster)
        for cta, mbarrier_address, threads in mbarrier_addresses(op, convergent, pointer):
            for thread in threads:
                row = int(np.flatnonzero(convergent.threads == thread)[0])
                ctas = [cta] if masks is None else _ctas_in_mask(convergent, int(masks[row]))
                barriers = [
                    (b, mbarrier_at(convergent, b, mbarrier_address, np.array([thread])))
                    for b in ctas
                ]
                for target, _ in barriers:
                    if target is not convergent.cta:
                        target.note_incoming(convergent, int(thread))
                released = clocks.commit(int(thread))
                for _, barrier in barriers:
                    barrier.release(*released)
                    count_arrivals(convergent, barrier, 1)

    return step


def _ctas_in_mask(convergent: ConvergentThreads, mask: int) -> list[Cta]:
    """Return the CTAs of the cluster whose ranks are the bits of a mask."""
    ctas = convergent.cta.cluster.ctas
    if mask >> len(ctas):
        convergent.cta.report_at(
            convergent,
            ViolationKind.OUT_OF_BOUNDS,
            f"names CTA {mask.bit_length() - 1} of a cluster of {len(ctas)}",
        )
        raise Stop
    return [cta for cta in ctas if mask >> cta.rank & 1]


@executes("nvvm.tcgen05.fence")
def _fence(op: Op) -> Any:
    before = "before" in op.text("kind")

    def step(convergent: ConvergentThreads) -> None:
        if before:
            tensor_memory_of(convergent.cta).shadow.fence_before(convergent.lanes.threads)
        else:
            tcgen05_clocks_of(convergent.cta.cluster).fence_after(convergent.threads)

    return step


# -- registers -------------------------------------------------------------------------------------


@executes("nvvm.tcgen05.wait")
def _wait(op: Op) -> Any:
    name = "ld" if "load" in op.text("kind") else "st"
    return lambda convergent: tensor_memory_of(convergent.cta).shadow.wait(
        full_warps(convergent), name
    )


def _cells(
    op: Op, type_: Any, verb: str
) -> Callable[[ConvergentThreads, Any], Iterator[tuple[int, TensorMemoryCells]]]:
    """Return a function that yields, for each warp of convergent threads, the cells of its registers,
    [32 threads, registers]."""
    shape = op.text("shape").rsplit("shape_", 1)[-1].rstrip(">")
    if shape not in SHAPES:
        raise op.refuse(f"is of shape {shape}; the emulator knows {', '.join(SHAPES)}")
    if op.has("pack") or op.has("unpack"):
        raise op.refuse("packs 16 bits, which the emulator does not know")
    lanes, columns = cells_of(shape, *shape_of(type_))
    height = lanes_of(shape)

    def cells(
        convergent: ConvergentThreads, address: Any
    ) -> Iterator[tuple[int, TensorMemoryCells]]:
        addresses, memory = convergent.check_value(address), tensor_memory_of(convergent.cta)
        for warp in full_warps(convergent):
            lane, column = split_address(_uniform(convergent, warp, addresses, "an address"))
            if lane % height:
                report_misuse(
                    convergent,
                    f"{verb} tensor memory from lane {lane} on; expected a multiple of {height} for "
                    f"shape {shape}",
                )
            warp_cells = TensorMemoryCells(lane + lanes, column + columns)
            memory.check_quarter(convergent, warp, warp_cells, verb)
            memory.check_allocated(convergent, warp_cells, verb)
            yield int(warp), warp_cells

    return cells


@executes("nvvm.tcgen05.ld")
def _load(op: Op) -> Any:
    cells = _cells(op, op.result_types[0], "reads")

    def step(convergent: ConvergentThreads, address: Any) -> np.ndarray:
        memory, rows = tensor_memory_of(convergent.cta), []
        for warp, warp_cells in cells(convergent, address):
            memory.shadow.load(convergent, warp, warp_cells)
            rows.append(memory.data[warp_cells.lanes, warp_cells.columns])
        return np.concatenate(rows)

    return step


@executes("nvvm.tcgen05.st")
def _store(op: Op) -> Any:
    cells = _cells(op, op.operand_types[1], "writes")
    if len(op.operand_types) > 2:
        raise op.refuse("has an offset, which these shapes do not take")

    def step(convergent: ConvergentThreads, address: Any, value: Any) -> None:
        memory, values = (
            tensor_memory_of(convergent.cta),
            convergent.broadcast(convergent.check_value(value)),
        )
        rows = iter(values.reshape(-1, WARP, values.shape[1]))
        for warp, warp_cells in cells(convergent, address):
            memory.shadow.store(convergent, warp, warp_cells)
            memory.data[warp_cells.lanes, warp_cells.columns] = next(rows)

    return step
