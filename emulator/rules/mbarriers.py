"""Mbarriers, which count arrivals and bytes, phase after phase (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..access import locate
from ..convergent import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..program import Op
from ..types import space_of
from .vector_clocks import VectorClocks

if TYPE_CHECKING:
    from ..cta import Cta

_KEY = "mbarrier"

#: Bytes of an mbarrier, and what it is aligned to.
SIZE = 8

#: Bytes that a phase can wait for.
_MAX_BYTES = (1 << 20) - 1


@dataclass
class MBarrier:
    """An mbarrier.

    Attributes:
        count: arrivals of each phase.
        pending: arrivals that the current phase still waits for.
        seen, proxied: what those who arrived in the current phase passed on.
        passed: what those who arrived before passed on, to all who see a phase complete.
        bytes: bytes that it still waits for.
        phase: how many phases are complete.
        looks: how often threads looked at the current phase in vain.
        column: its column in `VectorClocks`, once a bulk copy completes at it.
    """

    count: int
    pending: int
    seen: np.ndarray
    proxied: np.ndarray
    passed: tuple[np.ndarray, np.ndarray]
    tx_count: int = 0
    phase: int = 0
    failed_tests: int = 0
    column: int | None = None

    def release(self, seen: np.ndarray, proxied: np.ndarray) -> None:
        """Takes over what threads that arrive have seen."""
        self.seen = np.maximum(self.seen, seen)
        self.proxied = np.maximum(self.proxied, proxied)

    def complete_if_done(self, order: VectorClocks) -> None:
        """Begins the next phase when nothing is pending."""
        if self.pending == 0 and self.tx_count == 0:
            self.phase, self.pending, self.failed_tests = self.phase + 1, self.count, 0
            if self.column is not None:
                self.seen, self.proxied = order.complete(self.column, self.seen, self.proxied)
            self.passed = self.seen, self.proxied


def of_cta(cta: Cta) -> dict[int, MBarrier]:
    """A CTA's mbarriers by their addresses."""
    return cta.state.setdefault(_KEY, {})


def mbarrier_addresses(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, int, np.ndarray]]:
    """Where the mbarriers lie that a convergent's threads use: the CTA in whose shared memory each is,
    its address, and those threads."""
    ctas = convergent.cta.cluster.ctas
    address = convergent.broadcast(convergent.checked(pointer))
    space = space_of(str(op.operand_types[0]))
    for memory, among, local in locate(convergent, address, space, SIZE, "uses"):
        cta = next((cta for cta in ctas if cta.shared is memory), None)
        if cta is None:
            raise op.refuse("is in global memory; mbarriers are in shared memory")
        for at in np.unique(local):
            yield cta, int(at), convergent.threads[among][local == at]


def mbarriers_written(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, int, np.ndarray]]:
    """Like `located`, of mbarriers that begin or end there."""
    for cta, at, threads in mbarrier_addresses(op, convergent, pointer):
        rows = cta.shared.rows(np.full(len(threads), at), SIZE)
        cta.shadow.check_write(threads, rows, SIZE, convergent.cta.reporter(convergent))
        cta.shadow.wrote(threads, rows, SIZE, convergent.current.number)
        yield cta, at, threads


def mbarriers_used(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, MBarrier, np.ndarray]]:
    """Each mbarrier that threads of a convergent use: its CTA, itself, and these threads."""
    for cta, at, threads in mbarrier_addresses(op, convergent, pointer):
        yield cta, mbarrier_at(convergent, cta, at, threads), threads


def mbarrier_at(convergent: ConvergentThreads, cta: Cta, at: int, threads: np.ndarray) -> MBarrier:
    """The mbarrier of a CTA at an address; checks that some of a convergent's threads may use it."""
    rows = cta.shared.rows(np.full(len(threads), at), SIZE)
    cta.shadow.check_read(threads, rows, SIZE, convergent.cta.reporter(convergent))
    if at not in of_cta(cta):
        report_misuse(
            convergent, f"uses an mbarrier at {at:#x}{cta.label}, where none was initialised"
        )
    return of_cta(cta)[at]


def report_misuse(convergent: ConvergentThreads, message: str) -> NoReturn:
    """Notes that an mbarrier is used in a way that it cannot be, and stops."""
    convergent.cta.report_at(convergent, ViolationKind.BARRIER, message)
    raise Stop


def add_tx_count(convergent: ConvergentThreads, barrier: MBarrier, number: int) -> None:
    """Makes the current phase wait for bytes, or for as many fewer; it may be complete then."""
    barrier.tx_count += number
    if abs(barrier.tx_count) > _MAX_BYTES:
        report_misuse(
            convergent,
            f"makes a phase of an mbarrier wait for {barrier.tx_count} bytes; at most {_MAX_BYTES} are "
            "possible",
        )
    complete_phase_if_done(convergent, barrier)


def count_arrivals(convergent: ConvergentThreads, barrier: MBarrier, arrivals: int) -> None:
    """Counts arrivals, which may complete more than one phase."""
    while arrivals:
        if not barrier.pending:
            report_misuse(
                convergent,
                f"arrives at an mbarrier whose {barrier.count} arrivals of this phase have all come; "
                f"it still waits for {barrier.tx_count} bytes",
            )
        taken = min(arrivals, barrier.pending)
        barrier.pending -= taken
        arrivals -= taken
        complete_phase_if_done(convergent, barrier)


def complete_phase_if_done(convergent: ConvergentThreads, barrier: MBarrier) -> None:
    """Begins the mbarrier's next phase if nothing is pending."""
    if barrier.pending == 0 and barrier.tx_count < 0:
        report_misuse(
            convergent,
            f"leaves an mbarrier whose {barrier.count} arrivals of this phase have all come with "
            f"{-barrier.tx_count} bytes that nobody expected: mbarrier.arrive.expect_tx (or "
            "mbarrier.expect_tx) must name all bytes that bulk copies write",
        )
    barrier.complete_if_done(convergent.cta.clocks)
