"""Mbarriers: their phases, pending arrivals and tx-counts (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...bindings.diagnostics import format_location
from ..access import locate
from ..convergent import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..program import Op
from .vector_clocks import VectorClocks

if TYPE_CHECKING:
    from ..cta import Cta

_KEY = "mbarrier"

#: Size and alignment of an mbarrier, in bytes.
SIZE = 8

#: The largest tx-count, in bytes.
_MAX_BYTES = (1 << 20) - 1


@dataclass
class Transactions:
    """The bytes of a phase of an mbarrier.

    Attributes:
        expected: bytes that `expect_tx` gives.
        arrived: bytes of copies.
        op: the number of the last op that gave some.
    """

    expected: int = 0
    arrived: int = 0
    op: int | None = None

    def text(self, locations: Sequence[Any]) -> str:
        """Return what `expect_tx` gives, and where."""
        where = f" at {format_location(locations[self.op])}" if self.op is not None else ""
        return f"expect_tx{where} gives {self.expected}"


@dataclass
class MBarrier:
    """An mbarrier.

    Attributes:
        count: expected arrivals of each phase.
        pending: pending arrivals of the current phase.
        seen, proxied: the clocks that arrivals of the current phase have released.
        passed: the clocks of the last complete phase, for threads that observe its completion.
        tx_count: pending bytes of the current phase.
        transactions: the bytes of the current phase.
        complete: the bytes of the last complete phase.
        late: bytes of copies that arrived in the current phase from threads that do not know that the
            last one is complete.
        phase: number of complete phases.
        failed_tests: how often a test of the current phase has failed.
        column: its column in `VectorClocks`; None before the first bulk copy.
    """

    count: int
    pending: int
    seen: np.ndarray
    proxied: np.ndarray
    passed: tuple[np.ndarray, np.ndarray]
    tx_count: int = 0
    transactions: Transactions = field(default_factory=Transactions)
    complete: Transactions = field(default_factory=Transactions)
    late: int = 0
    phase: int = 0
    failed_tests: int = 0
    column: int | None = None

    def release(self, seen: np.ndarray, proxied: np.ndarray) -> None:
        """Join the clocks that an arrival releases."""
        self.seen = np.maximum(self.seen, seen)
        self.proxied = np.maximum(self.proxied, proxied)

    def complete_if_done(self, clocks: VectorClocks) -> None:
        """Begin the next phase if nothing is pending."""
        if self.pending == 0 and self.tx_count == 0:
            self.phase, self.pending, self.failed_tests = self.phase + 1, self.count, 0
            self.transactions, self.complete, self.late = Transactions(), self.transactions, 0
            if self.column is not None:
                self.seen, self.proxied = clocks.complete(self.column, self.seen, self.proxied)
            self.passed = self.seen, self.proxied

    def note_late(self, clocks: VectorClocks, thread: int, number: int) -> None:
        """Note bytes of a copy, if its thread has not observed that the last phase is complete."""
        assert self.column is not None
        if clocks.epoch[self.column] > clocks.seen[thread, self.column] + 1:
            self.late += number

    def lacks(self, locations: Sequence[Any]) -> str:
        """Return what the current phase waits for."""
        text, bytes_ = f"{self.pending} of {self.count} arrivals", self.transactions
        if self.tx_count < 0:
            return f"{text}; {bytes_.arrived} bytes arrived, where {bytes_.text(locations)}"
        if not bytes_.expected:
            return f"{text} and {self.tx_count} bytes"
        expected = f"{self.tx_count} of {bytes_.expected} bytes: {bytes_.arrived} arrived"
        return f"{text} and {expected}, where {bytes_.text(locations)}"

    def early(self, locations: Sequence[Any]) -> str | None:
        """Return why the last phase was complete before all bytes had come; None if it was not."""
        if not self.late:
            return None
        every = self.complete.arrived + self.late
        return (
            f"the phase of the mbarrier at which it completes was complete after {self.complete.arrived} "
            f"of the {every} bytes that bulk copies bring, where {self.complete.text(locations)}"
        )


def of_cta(cta: Cta) -> dict[int, MBarrier]:
    """Return the mbarriers of a CTA, by address."""
    return cta.state.setdefault(_KEY, {})


def mbarrier_addresses(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, int, np.ndarray]]:
    """Yield each mbarrier that threads access: the CTA in whose shared memory it is, its address, and the
    threads, by their numbers in the cluster."""
    address, threads = convergent.checked(pointer), convergent.threads
    # Mostly all threads use the same one.
    same = bool((address == address[0]).all())
    if same:
        address = address[:1]
    accessing = convergent.lanes.threads[: len(address)]
    for memory, among, local in locate(convergent, address, op.space, SIZE, "uses", accessing):
        ctas = convergent.cta.cluster.ctas
        cta = next((cta for cta in ctas if cta.shared is memory), None)
        if cta is None:
            raise op.refuse("is in global memory; mbarriers are in shared memory")
        for at in sorted({*local.tolist()}):
            yield cta, at, threads if same else threads[among][local == at]


def mbarriers_written(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, int, np.ndarray]]:
    """Like `mbarrier_addresses`, for mbarriers that are initialised or invalidated."""
    for cta, at, threads in mbarrier_addresses(op, convergent, pointer):
        rows = cta.shared.rows(np.full(len(threads), at), SIZE)
        cta.shadow.check_write(threads, rows, SIZE, convergent.cta.reporter(convergent))
        cta.shadow.note_write(threads, rows, SIZE, convergent.current.number)
        yield cta, at, threads


def mbarriers_used(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, MBarrier, np.ndarray]]:
    """Yield each mbarrier that threads use: its CTA, the mbarrier, and the threads."""
    for cta, at, threads in mbarrier_addresses(op, convergent, pointer):
        yield cta, mbarrier_at(convergent, cta, at, threads), threads


def mbarrier_at(convergent: ConvergentThreads, cta: Cta, at: int, threads: np.ndarray) -> MBarrier:
    """Return the mbarrier of a CTA at an address; check that the threads may use it."""
    rows = cta.shared.rows(np.full(len(threads), at), SIZE)
    cta.shadow.check_read(threads, rows, SIZE, convergent.cta.reporter(convergent))
    if at not in of_cta(cta):
        report_misuse(
            convergent, f"uses an mbarrier at {at:#x}{cta.label}, where none was initialised"
        )
    return of_cta(cta)[at]


def report_misuse(convergent: ConvergentThreads, message: str) -> NoReturn:
    """Report an invalid use of an mbarrier, and stop."""
    convergent.cta.report_at(convergent, ViolationKind.BARRIER, message)
    raise Stop


def add_tx_count(convergent: ConvergentThreads, barrier: MBarrier, number: int) -> None:
    """Add bytes to the tx-count of the current phase, or subtract them; this may complete the phase."""
    barrier.tx_count += number
    if number > 0:
        barrier.transactions.expected += number
        barrier.transactions.op = convergent.current.number
    else:
        barrier.transactions.arrived -= number
    if abs(barrier.tx_count) > _MAX_BYTES:
        report_misuse(
            convergent,
            f"makes a phase of an mbarrier wait for {barrier.tx_count} bytes; at most {_MAX_BYTES} are "
            "possible",
        )
    complete_phase_if_done(convergent, barrier)


def count_arrivals(convergent: ConvergentThreads, barrier: MBarrier, arrivals: int) -> None:
    """Count arrivals, which may complete more than one phase."""
    while arrivals:
        if not barrier.pending:
            report_misuse(
                convergent,
                f"arrives at an mbarrier whose {barrier.count} arrivals of this phase have all come; "
                f"it still waits for {barrier.tx_count} of {barrier.transactions.expected} bytes",
            )
        taken = min(arrivals, barrier.pending)
        barrier.pending -= taken
        arrivals -= taken
        complete_phase_if_done(convergent, barrier)


def complete_phase_if_done(convergent: ConvergentThreads, barrier: MBarrier) -> None:
    """Begin the next phase of the mbarrier if nothing is pending."""
    if barrier.pending == 0 and barrier.tx_count < 0:
        bytes_ = barrier.transactions
        report_misuse(
            convergent,
            f"leaves an mbarrier whose {barrier.count} arrivals of this phase have all come with "
            f"{-barrier.tx_count} bytes that no expect_tx announced: {bytes_.arrived} arrived, where "
            f"{bytes_.text(convergent.cta.program.locations)}; mbarrier.arrive.expect_tx (or "
            "mbarrier.expect_tx) must name all bytes that bulk copies write",
        )
    barrier.complete_if_done(convergent.cta.clocks)
