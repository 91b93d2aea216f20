"""nvvm: `cp.async`, asynchronous copies from global to shared memory, and their groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..access import locate
from ..cta import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..kernel import Op
from ..memory import GLOBAL, SHARED, GlobalArray
from ..registry import executes
from ..types import as_signed

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


def _read(
    convergent: ConvergentThreads, address: np.ndarray, size: int, counts: np.ndarray
) -> np.ndarray:
    """Return the bytes that each thread reads: 0 behind the first `counts` of `size` bytes.

    Addresses are multiples of `size`, even of threads that read fewer (PTX ISA, cp.async: src-size).
    """
    cta, report = convergent.cta, convergent.cta.reporter(convergent)
    if ((counts < 0) | (counts > size)).any():
        text = f"copies {counts[np.argmax((counts < 0) | (counts > size))]} of {size} bytes"
        report(ViolationKind.OUT_OF_BOUNDS, text)
        raise Stop
    if (address % size).any():
        list(locate(convergent, address, GLOBAL, size, "reads"))
    data = np.zeros((len(address), size), np.uint8)
    for count in np.unique(counts):
        those, step = np.flatnonzero(counts == count), size if count == size else 1
        for offset in range(0, int(count), step):
            threads = convergent.lanes.threads[those]
            places = locate(convergent, address[those] + offset, GLOBAL, step, "reads", threads)
            for memory, among, local in places:
                if isinstance(memory, GlobalArray):
                    readers, number = convergent.threads[those[among]], convergent.current.number
                    cta.launch.order.read(readers, memory, local, step, number, report)
                data[those[among], offset : offset + step] = memory.load(local, step)
    return data


@executes("nvvm.cp.async.shared.global")
def _copy(op: Op) -> Any:
    size = op.number("size")

    def step(
        convergent: ConvergentThreads, target: Any, source: Any, bytes_read: Any = None
    ) -> None:
        cta, copies = convergent.cta, _copies(convergent)
        number, report = convergent.current.number, cta.reporter(convergent)
        to, from_ = (
            convergent.broadcast(convergent.check_value(value)) for value in (target, source)
        )
        counts = np.full(len(from_), size)
        if bytes_read is not None:
            counts = as_signed(convergent.broadcast(convergent.check_value(bytes_read)))
        data = _read(convergent, from_, size, counts)
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
