"""nvvm: `tcgen05`, tensor memory and the products of single threads (PTX ISA 9.7.16)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..access import store
from ..lanes import WARP
from ..mbarriers import count_arrivals, used
from ..program import Op
from ..registry import executes
from ..strand import Strand
from ..tensor_cp import execute as copy
from ..tensor_descriptors import KINDS, UnknownInstruction
from ..tensor_fragments import SHAPES, cells_of, lanes_of
from ..tensor_memory import Cells, of_block, split, wrong
from ..tensor_mma import Scaling, execute
from ..types import is_pointer, shape_of, space_of
from ..warps import full_warps


def _check_group(op: Op, name: str = "group") -> None:
    if "cta_2" in op.text(name):
        raise op.refuse("is of two blocks, which the emulator does not know")


def _one(strand: Strand, warp: int, value: np.ndarray, what: str) -> int:
    """What all threads of a warp are given.

    Raises:
        Stop: if they disagree, which is reported.
    """
    of_warp = strand.spread(value)[strand.lanes.threads // WARP == warp]
    if (of_warp != of_warp[0]).any():
        wrong(strand, f"has {what} that the threads of warp {warp} disagree on")
    return int(of_warp[0])


# -- allocation ------------------------------------------------------------------------------------


@executes("nvvm.tcgen05.alloc", waits=True)
def _allocate(op: Op) -> Any:
    _check_group(op)
    space = space_of(str(op.operand_types[0]))

    def step(strand: Strand, slot: Any, columns: Any) -> None:
        warp, *others = full_warps(strand)
        if others:
            # Each may have to wait for itself.
            of_warp = strand.lanes.threads // WARP
            strand.part(
                [(strand.lanes.where(of_warp == w), Strand.repeat) for w in (warp, *others)]
            )
            return
        count = _one(strand, warp, strand.checked(columns), "a number of columns")
        address = _one(strand, warp, strand.checked(slot), "an address")
        memory = of_block(strand.block)
        start = memory.allocate(strand, count)
        if start is None:
            words = f"{count} columns of tensor memory to be freed"
            strand.wait(lambda: memory.has_room(count), words, again=True)
            return
        raw = np.array([[start]], np.uint32).view(np.uint8)
        store(strand, np.array([address]), space, raw, 4, strand.lanes.threads[:1])
        # All threads of the warp may read what was written (9.7.16.6.1), and no others.
        strand.block.order.synchronise(strand.threads)

    return step


@executes("nvvm.tcgen05.dealloc")
def _free(op: Op) -> Any:
    _check_group(op)

    def step(strand: Strand, address: Any, columns: Any) -> None:
        addresses, counts = strand.checked(address), strand.checked(columns)
        for warp in full_warps(strand):
            count = _one(strand, warp, counts, "a number of columns")
            at = _one(strand, warp, addresses, "an address")
            of_block(strand.block).free(strand, at, count)

    return step


@executes("nvvm.tcgen05.relinquish_alloc_permit")
def _relinquish(op: Op) -> Any:
    _check_group(op)

    def step(strand: Strand) -> None:
        full_warps(strand)
        of_block(strand.block).relinquished = True

    return step


# -- products --------------------------------------------------------------------------------------


@executes("nvvm.tcgen05.mma")
def _multiply(op: Op) -> Any:
    _check_group(op, "ctaGroup")
    kind = _word(op, "kind")
    if kind not in KINDS or op.has("aShift") or len(op.operand_types) != 5:
        raise op.refuse(
            f"is of kind {kind}, shifts A, or has a scale or a mask; the emulator knows plain ones of "
            f"{', '.join(KINDS)}"
        )
    return _multiplies(op, kind)


@executes("nvvm.tcgen05.mma.block_scale")
def _multiply_scaled(op: Op) -> Any:
    _check_group(op, "ctaGroup")
    block = 16 if _word(op, "blockScale") == "block16" else 32
    return _multiplies(op, _word(op, "kind"), block)


def _word(op: Op, name: str) -> str:
    """What an attribute of an enumeration says; nothing if it is missing."""
    return op.text(name).rsplit("<", 1)[-1].rstrip(">")


def _multiplies(op: Op, kind: str, block: int | None = None) -> Any:
    """What multiplies; `block` elements along K share a scale factor, if that is given."""
    a_in_tensor_memory = is_pointer(str(op.operand_types[1]))

    def step(strand: Strand, *operands: Any) -> None:
        columns = [strand.spread(strand.checked(value)) for value in operands]
        for row in range(strand.lanes.count):
            d, a, b, descriptor, adds, *factors = (int(column[row]) for column in columns)
            left, scaling = (a, a_in_tensor_memory), Scaling(block, *factors) if block else None
            try:
                execute(strand, row, kind, d, left, b, descriptor, bool(adds), scaling)
            except UnknownInstruction as unknown:
                raise op.refuse(f"{unknown}, which the emulator does not know") from None

    return step


@executes("nvvm.tcgen05.cp")
def _copy(op: Op) -> Any:
    _check_group(op)
    said = _word(op, "shape"), _word(op, "multicast")
    if said != ("shape_32x128b", "warpx4") or op.has("srcFormat"):
        raise op.refuse("is not of shape 32x128b with warpx4, the one that the emulator knows")

    def step(strand: Strand, *operands: Any) -> None:
        addresses, descriptors = (strand.spread(strand.checked(value)) for value in operands)
        for row in range(strand.lanes.count):
            try:
                copy(strand, row, int(addresses[row]), int(descriptors[row]))
            except UnknownInstruction as unknown:
                raise op.refuse(f"{unknown}, which the emulator does not know") from None

    return step


@executes("nvvm.tcgen05.commit")
def _commit(op: Op) -> Any:
    _check_group(op)
    if len(op.operand_types) > 1:
        raise op.refuse("has a multicast mask, which the emulator does not know")

    def step(strand: Strand, pointer: Any) -> None:
        shadow = of_block(strand.block).shadow
        for block, barrier, threads in used(op, strand, pointer):
            if block is not strand.block:
                raise op.refuse("arrives in another block, which the emulator does not know")
            for thread in threads - block.first:
                barrier.release(*shadow.commit(int(thread)))
            count_arrivals(strand, barrier, len(threads))

    return step


@executes("nvvm.tcgen05.fence")
def _fence(op: Op) -> Any:
    before = "before" in op.text("kind")

    def step(strand: Strand) -> None:
        shadow = of_block(strand.block).shadow
        (shadow.fence_before if before else shadow.fence_after)(strand.lanes.threads)

    return step


# -- registers -------------------------------------------------------------------------------------


@executes("nvvm.tcgen05.wait")
def _wait(op: Op) -> Any:
    name = "ld" if "load" in op.text("kind") else "st"
    return lambda strand: of_block(strand.block).shadow.wait(full_warps(strand), name)


def _cells(op: Op, type_: Any, does: str) -> Callable[[Strand, Any], Iterator[tuple[int, Cells]]]:
    """What a load or store needs: a function that gives the warps of a strand, and the cells that the
    registers of each warp's threads hold, [32 threads, registers]."""
    shape = op.text("shape").rsplit("shape_", 1)[-1].rstrip(">")
    if shape not in SHAPES:
        raise op.refuse(f"is of shape {shape}; the emulator knows {', '.join(SHAPES)}")
    if op.has("pack") or op.has("unpack"):
        raise op.refuse("packs 16 bits, which the emulator does not know")
    lanes, columns = cells_of(shape, *shape_of(type_))
    height = lanes_of(shape)

    def cells(strand: Strand, address: Any) -> Iterator[tuple[int, Cells]]:
        addresses, memory = strand.checked(address), of_block(strand.block)
        for warp in full_warps(strand):
            lane, column = split(_one(strand, warp, addresses, "an address"))
            if lane % height:
                wrong(
                    strand,
                    f"{does} tensor memory from lane {lane} on; expected a multiple of {height} for "
                    f"shape {shape}",
                )
            found = Cells(lane + lanes, column + columns)
            memory.check_quarter(strand, warp, found, does)
            memory.check_allocated(strand, found, does)
            yield int(warp), found

    return cells


@executes("nvvm.tcgen05.ld")
def _load(op: Op) -> Any:
    cells = _cells(op, op.result_types[0], "reads")

    def step(strand: Strand, address: Any) -> np.ndarray:
        memory, found = of_block(strand.block), []
        for warp, at in cells(strand, address):
            memory.shadow.load(strand, warp, at)
            found.append(memory.data[at.lanes, at.columns])
        return np.concatenate(found)

    return step


@executes("nvvm.tcgen05.st")
def _store(op: Op) -> Any:
    cells = _cells(op, op.operand_types[1], "writes")
    if len(op.operand_types) > 2:
        raise op.refuse("has an offset, which shapes of one part have not")

    def step(strand: Strand, address: Any, value: Any) -> None:
        memory, values = of_block(strand.block), strand.spread(strand.checked(value))
        rows = iter(values.reshape(-1, WARP, values.shape[1]))
        for warp, at in cells(strand, address):
            memory.shadow.store(strand, warp, at)
            memory.data[at.lanes, at.columns] = next(rows)

    return step
