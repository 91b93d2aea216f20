"""nvvm: mbarriers, which count arrivals and bytes, phase after phase (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..access import locate
from ..errors import Kind, Stop
from ..program import Op
from ..registry import executes
from ..strand import Strand
from ..types import space_of

_KEY = "mbarrier"

#: Bytes of an mbarrier, and what it is aligned to.
_SIZE = 8

#: Arrivals that one can count.
_MAX_COUNT = (1 << 20) - 1

#: Fruitless looks at one phase after which nobody is expected to complete it.
_PATIENCE = 100_000


@dataclass
class _MBarrier:
    """An mbarrier.

    Attributes:
        count: arrivals of each phase.
        pending: arrivals that the current phase still waits for.
        bytes: bytes that it still waits for.
        phase: how many phases are complete.
        looks: how often threads looked at the current phase in vain.
        seen, proxied: what those who arrived in the current phase passed on.
        passed: what those who arrived before passed on, to all who see a phase complete.
    """

    count: int
    pending: int
    seen: np.ndarray
    proxied: np.ndarray
    passed: tuple[np.ndarray, np.ndarray]
    bytes: int = 0
    phase: int = 0
    looks: int = 0

    def release(self, seen: np.ndarray, proxied: np.ndarray) -> None:
        """Takes over what threads that arrive have seen."""
        self.seen = np.maximum(self.seen, seen)
        self.proxied = np.maximum(self.proxied, proxied)

    def complete_if_done(self) -> None:
        """Begins the next phase when nothing is pending."""
        if self.pending == 0 and self.bytes == 0:
            self.phase, self.pending, self.looks = self.phase + 1, self.count, 0
            self.passed = self.seen, self.proxied


def _all(strand: Strand) -> dict[int, _MBarrier]:
    return strand.block.state.setdefault(_KEY, {})


def _addresses(op: Op, strand: Strand, pointer: Any, writes: bool) -> Iterator[tuple[int, Any]]:
    """Each address that threads of the strand use, and those threads; checks that they may."""
    block = strand.block
    space = space_of(str(op.operand_types[0]))
    address = strand.spread(strand.checked(pointer))
    for memory, among, local in locate(strand, address, space, _SIZE, "uses"):
        if memory is not block.shared:
            raise op.refuse("is in global memory; mbarriers are in shared memory")
        for at in np.unique(local):
            threads = strand.lanes.threads[among][local == at]
            rows = memory.rows(np.full(len(threads), at), _SIZE)
            if writes:
                block.shadow.check_write(threads, rows, _SIZE, block.reporter(strand))
                block.shadow.wrote(threads, rows, _SIZE, strand.current.number)
            else:
                block.shadow.check_read(threads, rows, _SIZE, block.reporter(strand))
            yield int(at), threads


def _used(op: Op, strand: Strand, pointer: Any) -> Iterator[tuple[_MBarrier, np.ndarray]]:
    """Each mbarrier that threads of the strand use, and those threads."""
    for address, threads in _addresses(op, strand, pointer, writes=False):
        if address not in _all(strand):
            _wrong(strand, f"uses an mbarrier at {address:#x}, where none was initialised")
        yield _all(strand)[address], threads


def _wrong(strand: Strand, message: str) -> None:
    strand.block.report_at(strand, Kind.BARRIER, message)
    raise Stop


def _number(strand: Strand, value: Any, what: str) -> int:
    numbers = strand.checked(value)
    if (numbers != numbers[0]).any():
        _wrong(strand, f"has a {what} that threads disagree on")
    return int(numbers[0])


@executes("nvvm.mbarrier.init")
def _init(op: Op) -> Any:
    if len(op.operand_types) != 2:
        raise op.refuse("is predicated, which the emulator does not know")

    def step(strand: Strand, pointer: Any, count: Any) -> None:
        arrivals = _number(strand, count, "count")
        if not 1 <= arrivals <= _MAX_COUNT:
            _wrong(strand, f"is to count {arrivals} arrivals; expected 1 to {_MAX_COUNT}")
        nothing = np.full(strand.block.threads, -1, np.int32)
        for address, _ in _addresses(op, strand, pointer, writes=True):
            _all(strand)[address] = _MBarrier(
                arrivals, arrivals, nothing, nothing, (nothing, nothing)
            )

    return step


@executes("nvvm.mbarrier.inval")
def _invalidate(op: Op) -> Any:
    def step(strand: Strand, pointer: Any) -> None:
        for address, _ in _addresses(op, strand, pointer, writes=True):
            if _all(strand).pop(address, None) is None:
                _wrong(strand, f"ends an mbarrier at {address:#x}, where none was initialised")

    return step


@executes("nvvm.fence.mbarrier.init")
def _init_fence(op: Op) -> Any:
    # It is for other blocks of a cluster; within the block a barrier makes an mbarrier known.
    return lambda strand: None


@executes("nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive.expect_tx")
def _arrive(op: Op) -> Any:
    expects = op.name.endswith("expect_tx")
    if len(op.operand_types) > 2:
        raise op.refuse("is predicated, which the emulator does not know")
    releases = "true" not in op.text("relaxed")
    has_token = bool(op.result_types)

    def step(strand: Strand, pointer: Any, amount: Any = None) -> np.ndarray | None:
        number = 1 if amount is None else _number(strand, amount, "number")
        token = np.zeros(strand.lanes.count, np.uint64)
        for barrier, threads in _used(op, strand, pointer):
            token[np.isin(strand.lanes.threads, threads)] = barrier.phase
            if releases:
                barrier.release(*strand.block.order.release(threads))
            if expects:
                barrier.bytes += number * len(threads)
            _count(strand, barrier, len(threads) * (1 if expects else number))
        return token if has_token else None

    return step


def _count(strand: Strand, barrier: _MBarrier, arrivals: int) -> None:
    """Counts arrivals, which may complete more than one phase."""
    while arrivals:
        if not barrier.pending:
            _wrong(
                strand,
                f"arrives at an mbarrier whose {barrier.count} arrivals of this phase have all come; "
                f"it still waits for {barrier.bytes} bytes",
            )
        taken = min(arrivals, barrier.pending)
        barrier.pending -= taken
        arrivals -= taken
        barrier.complete_if_done()


@executes("nvvm.mbarrier.expect_tx", "nvvm.mbarrier.complete_tx")
def _transaction(op: Op) -> Any:
    sign = 1 if op.name.endswith("expect_tx") else -1

    def step(strand: Strand, pointer: Any, count: Any) -> None:
        number = _number(strand, count, "number of bytes")
        for barrier, threads in _used(op, strand, pointer):
            barrier.bytes += sign * number * len(threads)
            barrier.complete_if_done()

    return step


def _is_complete(barrier: _MBarrier, wanted: np.ndarray, by_parity: bool) -> np.ndarray:
    """Whether the phase that each thread asks for is complete."""
    if by_parity:
        return (wanted & 1) != barrier.phase & 1
    return wanted < barrier.phase


def _look(
    strand: Strand,
    used: list[tuple[_MBarrier, np.ndarray]],
    wanted: np.ndarray,
    by_parity: bool,
) -> np.ndarray:
    """Whether each thread's phase is complete; those who see it see what was passed on."""
    found = np.zeros(strand.lanes.count, bool)
    for barrier, threads in used:
        rows = np.isin(strand.lanes.threads, threads)
        complete = _is_complete(barrier, wanted[rows], by_parity)
        found[rows] = complete
        if complete.any():
            strand.block.order.acquire(threads[complete], *barrier.passed)
        else:
            barrier.looks += 1
            if barrier.looks > _PATIENCE:
                _wrong(strand, f"looked {_PATIENCE} times for a phase that nobody completes")
    return found


@executes("nvvm.mbarrier.test.wait")
def _test_wait(op: Op) -> Any:
    by_parity = str(op.operand_types[1]) == "i32"

    def step(strand: Strand, pointer: Any, wanted: Any) -> np.ndarray:
        used = list(_used(op, strand, pointer))
        found = _look(strand, used, strand.spread(strand.checked(wanted)), by_parity)
        # Others may run before the next look.
        strand.wait(lambda: True, "its next look at an mbarrier")
        return found

    return step


@executes("nvvm.mbarrier.try_wait", "nvvm.mbarrier.try_wait.parity", waits=True)
def _try_wait(op: Op) -> Any:
    by_parity = str(op.operand_types[1]) == "i32"
    has_result = bool(op.result_types)

    def step(strand: Strand, pointer: Any, wanted: Any, *ticks: Any) -> np.ndarray | None:
        phases = strand.spread(strand.checked(wanted))
        used = list(_used(op, strand, pointer))
        found = _look(strand, used, phases, by_parity)
        if found.all():
            return found if has_result else None
        barriers = [barrier for barrier, _ in used]
        before = [barrier.phase for barrier in barriers]
        waits_for = ", ".join(
            f"{barrier.pending} of {barrier.count} arrivals and {barrier.bytes} bytes"
            for barrier in barriers
        )
        strand.wait(
            lambda: before != [barrier.phase for barrier in barriers],
            f"an mbarrier's phase, which lacks {waits_for}",
            again=True,
        )
        return None

    return step
