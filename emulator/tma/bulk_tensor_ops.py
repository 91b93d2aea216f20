"""nvvm: bulk tensor copies (TMA) between global and shared memory, and bulk groups.

A load completes at an mbarrier: its writes belong to the mbarrier's phase, and are visible to threads
that observe the completion of the phase. A store reads until its thread waits for its group. Both use
the async proxy. The emulator moves bytes when a copy is issued; the vector clocks find an access that
is too early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...bindings.diagnostics import format_location
from ..access import locate
from ..cta import ConvergentThreads, Cta
from ..errors import Report, Stop, ViolationKind
from ..kernel import Op
from ..memory import CLUSTER, RANK_SHIFT, SHARED
from ..ops.nvvm_mbarrier import MBARRIER_BYTES, add_tx_count, mbarrier_at
from ..predicates import predicate_step
from ..registry import executes
from ..tensor_map import UNIT, TensorMap
from ..types import as_signed

_KEY = "bulk groups"


@dataclass(frozen=True)
class _BulkRead:
    """A bulk store that may still read shared memory.

    Attributes:
        thread: the thread that issued it, by its index in the CTA.
        group: its group of that thread.
        copy: its number in the CTA.
        positions: positions in shared memory, one for each byte.
        op: the number of the op.
    """

    thread: int
    group: int
    copy: int
    positions: np.ndarray
    op: int


@dataclass
class _BulkGroups:
    """The bulk groups of the threads of a CTA.

    Attributes:
        committed: int32[threads], the number of groups that each thread has committed.
        copies: number of stores so far.
        in_flight: stores that have not been waited for.
        writes: those whose writes have not been waited for: the thread, its group, and the number of the
            write in `GlobalOrder`.
    """

    committed: np.ndarray
    copies: int = 0
    in_flight: list[_BulkRead] = field(default_factory=list)
    writes: list[tuple[int, int, int]] = field(default_factory=list)


def _groups(cta: Cta) -> _BulkGroups:
    if _KEY not in cta.state:
        cta.state[_KEY] = _BulkGroups(np.zeros(cta.threads, np.int32))
        cta.at_exit.append(_check_read)
    return cta.state[_KEY]


def _check_read(convergent: ConvergentThreads) -> None:
    """Check that all stores have read their memory, which is freed when the CTA ends."""
    cta = convergent.cta
    if reading := _groups(cta).in_flight:
        where = format_location(cta.kernel.locations[reading[0].op])
        cta.report_at(
            convergent,
            ViolationKind.EXITED,
            f"the last thread{cta.label} returns, but the bulk store at {where} may still read its "
            "memory: nvvm.cp.async.bulk.wait_group 0 by the thread that issued it is missing before it",
        )


# -- operands of loads and stores ------------------------------------------------------------------


def _copies_of(
    op: Op, convergent: ConvergentThreads, map_: Any, coordinates: Sequence[Any], *others: Any
) -> Iterator[tuple[int, TensorMap, list[int], list[int]]]:
    """Yield each copy that convergent threads issue: the index of its thread among them, its tensor
    map, its coordinates, and its other operands."""
    maps = convergent.cta.launch.tensor_maps
    addresses = convergent.broadcast(convergent.check_value(map_))
    columns = [
        convergent.broadcast(as_signed(convergent.check_value(value))) for value in coordinates
    ]
    other_columns = [convergent.broadcast(convergent.check_value(value)) for value in others]
    for row, address in enumerate(addresses):
        if int(address) not in maps:
            raise op.refuse("takes a pointer that is not a tensor map")
        tensor_map = maps[int(address)]
        if len(columns) != len(tensor_map.box):
            raise op.refuse(
                f"has {len(columns)} coordinates for the tensor map of {tensor_map.name}, which has "
                f"{len(tensor_map.box)} dimensions"
            )
        yield (
            row,
            tensor_map,
            [int(c[row]) for c in columns],
            [int(value[row]) for value in other_columns],
        )


def _shared_addresses(
    convergent: ConvergentThreads, tensor_map: TensorMap, start: int, verb: str
) -> np.ndarray:
    """Return the address in shared memory of each 16 bytes of a box.

    Raises:
        Stop: if the address is misaligned, or the box is outside of shared memory; this is reported.
    """
    cta, shared = convergent.cta, convergent.cta.shared
    if start % tensor_map.alignment:
        swizzle = f" with the swizzle {tensor_map.width}B" if tensor_map.width else ""
        cta.report_at(
            convergent,
            ViolationKind.MISALIGNED,
            f"{verb} a box of {tensor_map.name} at shared address {start:#x}; expected a multiple of "
            f"{tensor_map.alignment}{swizzle}",
        )
        raise Stop
    addresses = tensor_map.addresses(start)
    if not shared.inside(addresses, UNIT).all():
        cta.report_at(
            convergent,
            ViolationKind.OUT_OF_BOUNDS,
            f"{verb} {tensor_map.bytes} bytes from shared address {start:#x} on; the CTA's shared memory "
            f"is from {shared.base:#x} to {shared.base + shared.size - 1:#x}",
        )
        raise Stop
    return addresses


def _check_start(
    convergent: ConvergentThreads, tensor_map: TensorMap, coordinates: Sequence[int], verb: str
) -> None:
    """Check the first coordinate: a copy begins at a multiple of 16 bytes, or of 128 padded elements; the
    chip stops at any other.

    Raises:
        Stop: if it does not; this is reported.
    """
    if coordinates[0] % tensor_map.step:
        size, unit = (
            (1, "elements") if tensor_map.is_padded else (tensor_map.dtype.itemsize, "bytes")
        )
        convergent.cta.report_at(
            convergent,
            ViolationKind.MISALIGNED,
            f"{verb} a box that begins {coordinates[0] * size} {unit} into the lines of "
            f"{tensor_map.name}; expected a multiple of {tensor_map.step * size}",
        )
        raise Stop


def _check_store_coordinates(
    convergent: ConvergentThreads, tensor_map: TensorMap, coordinates: Sequence[int]
) -> None:
    """Check that the coordinates of a store are not negative (measured on an H200).

    Raises:
        Stop: if one is; this is reported.
    """
    if min(coordinates) < 0:
        convergent.cta.report_at(
            convergent,
            ViolationKind.OUT_OF_BOUNDS,
            f"writes a box at {list(coordinates)} of {tensor_map.name}; a store takes no coordinate "
            "below 0",
        )
        raise Stop


# -- loads -----------------------------------------------------------------------------------------


@executes("nvvm.cp.async.bulk.tensor.shared.cluster.global")
def _load(op: Op) -> Any:
    _, _, rank, _, offsets, has_mask, _, predicate = op.numbers("operandSegmentSizes")
    if offsets or op.has("group") or "<tile>" not in op.text("mode"):
        raise op.refuse(
            f"is of a group, or of mode {op.text('mode')}; the emulator knows plain tiles"
        )
    space = op.space

    def step(convergent: ConvergentThreads, target: Any, map_: Any, *operands: Any) -> None:
        coordinate_operands, others = (
            operands[:rank],
            [target, *operands[rank : rank + 1 + has_mask]],
        )
        for row, tensor_map, coordinates, (start, barrier, *mask) in _copies_of(
            op, convergent, map_, coordinate_operands, *others
        ):
            _check_start(convergent, tensor_map, coordinates, "reads")
            ctas = target_ctas(op, convergent, space, start, *mask)
            addresses = _shared_addresses(
                convergent, tensor_map, start & (1 << RANK_SHIFT) - 1, "writes"
            )
            thread = convergent.threads[row : row + 1]
            # The mbarrier has the same address in each CTA.
            list(
                locate(
                    convergent, np.array([barrier]), SHARED, MBARRIER_BYTES, "completes at", thread
                )
            )
            launch = convergent.cta.launch
            launch.order.read_in_bulk(
                int(thread[0]),
                launch.memory.array(tensor_map.base),
                tensor_map.box_at(coordinates),
                convergent.cta.reporter(convergent),
            )
            data = tensor_map.read(launch.memory, coordinates).reshape(-1, UNIT)
            for cta in ctas:
                deliver(convergent, thread, cta, barrier, addresses, data)

    return predicate_step(op, step) if predicate else step


def target_ctas(
    op: Op, convergent: ConvergentThreads, space: int, start: int, mask: int | None = None
) -> list[Cta]:
    """Return the CTAs to whose shared memory a load writes.

    Raises:
        Stop: if the mask is empty, or names a CTA that the cluster does not have; this is reported.
    """
    ctas = convergent.cta.cluster.ctas
    if mask is None:
        if space == CLUSTER and start >> RANK_SHIFT != convergent.cta.rank:
            raise op.refuse(
                "writes to another CTA without a multicast mask, which the emulator does not know"
            )
        return [convergent.cta]
    if not 0 < mask < 1 << len(ctas):
        convergent.cta.report_at(
            convergent,
            ViolationKind.OUT_OF_BOUNDS,
            f"has the multicast mask {mask:#06x} in a cluster of {len(ctas)} CTAs",
        )
        raise Stop
    return [cta for cta in ctas if mask >> cta.rank & 1]


def deliver(
    convergent: ConvergentThreads,
    thread: np.ndarray,
    cta: Cta,
    mbarrier_address: int,
    addresses: np.ndarray,
    data: np.ndarray,
) -> None:
    """Write the data of a thread's load to a CTA, and complete the bytes at its mbarrier."""
    barrier = mbarrier_at(convergent, cta, mbarrier_address, thread)
    if barrier.column is None:
        barrier.column = cta.clocks.column((cta.rank, mbarrier_address))
        cta.shadow.barriers[barrier.column] = barrier
    barrier.note_late(cta.clocks, int(thread[0]), data.size)
    cta.note_incoming(convergent, barrier.column)
    rows = cta.shared.rows(addresses, UNIT)
    cta.shadow.check_bulk_write(int(thread[0]), rows, UNIT, _reporter(convergent, cta))
    writer = np.array([barrier.column])
    # A box is mostly written whole, in the order of the swizzle.
    first, last = rows.min(), rows.max()
    written = slice(first, last + 1) if last - first + 1 == len(rows) else rows
    cta.shadow.note_write(writer, written, UNIT, convergent.current.number)
    cta.shared.store(addresses, data)
    add_tx_count(convergent, barrier, -data.size)


def _reporter(convergent: ConvergentThreads, cta: Cta) -> Report:
    """Return a reporter that adds the CTA to messages, if it is not that of the threads."""
    report = convergent.cta.reporter(convergent)
    if cta is convergent.cta:
        return report
    return lambda kind, message: report(kind, f"in shared memory{cta.label}, {message}")


# -- stores ----------------------------------------------------------------------------------------


@executes("nvvm.cp.async.bulk.tensor.global.shared.cta")
def _store(op: Op) -> Any:
    _, _, rank, _, predicate = op.numbers("operandSegmentSizes")
    if "<tile>" not in op.text("mode"):
        raise op.refuse(f"is of mode {op.text('mode')}; the emulator knows plain tiles")

    def step(convergent: ConvergentThreads, map_: Any, source: Any, *operands: Any) -> None:
        cta, groups = convergent.cta, _groups(convergent.cta)
        for row, tensor_map, coordinates, (start,) in _copies_of(
            op, convergent, map_, operands[:rank], source
        ):
            if tensor_map.is_padded:
                raise op.refuse(
                    f"stores padded elements of {tensor_map.element}; the emulator loads them"
                )
            _check_start(convergent, tensor_map, coordinates, "writes")
            _check_store_coordinates(convergent, tensor_map, coordinates)
            addresses = _shared_addresses(convergent, tensor_map, start, "reads")
            thread, groups.copies = int(convergent.lanes.threads[row]), groups.copies + 1
            bytes_ = (addresses[:, None] + np.arange(UNIT) - cta.shared.base).reshape(-1)
            number, report = convergent.current.number, cta.reporter(convergent)
            cta.shadow.start_bulk_read(
                cta.first_thread + thread, groups.copies, bytes_, number, report
            )
            group = int(groups.committed[thread])
            groups.in_flight.append(_BulkRead(thread, group, groups.copies, bytes_, number))
            write = cta.launch.order.write_in_bulk(
                cta.first_thread + thread,
                cta.launch.memory.array(tensor_map.base),
                tensor_map.box_at(coordinates),
                number,
                report,
            )
            if write is not None:
                groups.writes.append((thread, group, write))
            tensor_map.write(cta.launch.memory, coordinates, cta.shared.load(addresses, UNIT))

    return predicate_step(op, step) if predicate else step


@executes("nvvm.cp.async.bulk.commit.group")
def _commit(op: Op) -> Any:
    def step(convergent: ConvergentThreads) -> None:
        _groups(convergent.cta).committed[convergent.lanes.index] += 1

    return step


@executes("nvvm.cp.async.bulk.wait_group")
def _wait(op: Op) -> Any:
    pending, writes = op.number("group"), not op.has("read")

    def step(convergent: ConvergentThreads) -> None:
        cta, groups = convergent.cta, _groups(convergent.cta)
        remaining: list[_BulkRead] = []
        for read in groups.in_flight:
            done = read.group < groups.committed[read.thread] - pending
            if done and convergent.lanes.mask[read.thread]:
                cta.shadow.finish_bulk_read(
                    cta.first_thread + read.thread, read.copy, read.positions
                )
            else:
                remaining.append(read)
        groups.in_flight = remaining
        if writes and groups.writes:
            _complete_writes(convergent, groups, pending)

    return step


def _complete_writes(convergent: ConvergentThreads, groups: _BulkGroups, pending: int) -> None:
    """Note that threads have waited until all but the latest `pending` groups have written."""
    cta, remaining = convergent.cta, []
    for thread, group, write in groups.writes:
        if convergent.lanes.mask[thread] and group < groups.committed[thread] - pending:
            cta.launch.order.complete(cta.first_thread + thread, write)
        else:
            remaining.append((thread, group, write))
    groups.writes = remaining
