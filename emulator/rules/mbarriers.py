"""Mbarriers: their phases, pending arrivals and tx-counts (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...bindings.diagnostics import format_location
from .vector_clocks import VectorClocks


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
