"""nvvm: `cp.async`, asynchronous copies from global to shared memory, and their groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..access import locate
from ..cta import ConvergentThreads
from ..kernel import Op
from ..memory import GLOBAL, SHARED, GlobalArray
from ..registry import executes

_KEY = "cp.async"


@dataclass
class _Copies:
    """The `cp.async` of a CTA.

    Attributes:
        committed: int32[threads], the number of groups that each thread has committed.
        in_flight: copies that a thread has not waited for.
    """

    committed: np.ndarray
    in_flight: list[_Copy] = field(default_factory=list)


@dataclass(frozen=True)
class _Copy:
    """A `cp.async` of several threads.

    Attributes:
        threads: the threads.
        rows: the bytes of shared memory that each writes, in rows of `size` bytes.
        size: bytes that each thread copies.
        group: the group of each thread.
        number: of the instruction.
    """

    threads: np.ndarray
    rows: np.ndarray
    size: int
    group: np.ndarray
    number: int

    def restrict(self, mask: np.ndarray) -> _Copy:
        """Return the copy restricted to some of its threads."""
        return _Copy(self.threads[mask], self.rows[mask], self.size, self.group[mask], self.number)


def _copies(convergent: ConvergentThreads) -> _Copies:
    cta = convergent.cta
    if _KEY not in cta.state:
        cta.state[_KEY] = _Copies(np.zeros(cta.threads, np.int32))
    return cta.state[_KEY]


@executes("nvvm.cp.async.shared.global")
def _copy(op: Op) -> Any:
    size = op.number("size")
    if len(op.operand_types) != 2:
        raise op.refuse("copies fewer bytes than it writes, which the emulator does not know")

    def step(convergent: ConvergentThreads, target: Any, source: Any) -> None:
        cta, copies = convergent.cta, _copies(convergent)
        number, report = convergent.current.number, cta.reporter(convergent)
        to, from_ = (
            convergent.broadcast(convergent.check_value(value)) for value in (target, source)
        )
        data = np.empty((len(from_), size), np.uint8)
        for memory, among, local in locate(convergent, from_, GLOBAL, size, "reads"):
            if isinstance(memory, GlobalArray):
                readers = convergent.threads[among]
                cta.launch.order.read(readers, memory, local, size, number, report)
            data[among] = memory.load(local, size)
        for memory, among, local in locate(convergent, to, SHARED, size, "writes"):
            rows, threads = memory.rows(local, size), convergent.lanes.threads[among]
            cta.shadow.check_write(threads + cta.first_thread, rows, size, report)
            cta.shadow.start_copy(rows, size, number)
            memory.store(local, data[among])
            group = copies.committed[threads]
            copies.in_flight.append(_Copy(threads, rows, size, group, number))

    return step


@executes("nvvm.cp.async.commit.group")
def _commit(op: Op) -> Any:
    def step(convergent: ConvergentThreads) -> None:
        _copies(convergent).committed[convergent.lanes.index] += 1

    return step


@executes("nvvm.cp.async.wait.group")
def _wait(op: Op) -> Any:
    pending = op.number("n")

    def step(convergent: ConvergentThreads) -> None:
        cta, copies = convergent.cta, _copies(convergent)
        remaining: list[_Copy] = []
        for copy in copies.in_flight:
            waits = convergent.lanes.mask[copy.threads]
            done = waits & (copy.group < copies.committed[copy.threads] - pending)
            if done.any():
                complete = copy.restrict(done)
                cta.shadow.note_write(
                    complete.threads + cta.first_thread,
                    complete.rows,
                    complete.size,
                    complete.number,
                )
            if not done.all():
                remaining.append(copy.restrict(~done))
        copies.in_flight = remaining

    return step
