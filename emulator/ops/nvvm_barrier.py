"""nvvm: the sixteen barriers of a CTA, for all or some of its threads (PTX ISA 9.7.13.1), and proxy
fences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..cta import ConvergentThreads, Cta
from ..errors import Stop, ViolationKind
from ..kernel import Op
from ..lanes import WARP, partial_warps
from ..registry import assembles, executes

_KEY = "barriers"

#: Number of barriers of a CTA.
_COUNT = 16

#: The result, the barrier, and the predicate of the reducing barrier.
_ANY = re.compile(r"barrier\.cta\.red\.or\.pred \$0, \$1, (\d+), \$2;")


@dataclass
class _Barrier:
    """The state of a barrier.

    Attributes:
        arrived: bool[threads], the threads that have arrived.
        expected: number of expected threads; None for all threads that have not returned.
        generation: how often it has completed.
        waiting: the convergent threads that wait at it.
        passed: the clocks released by threads that arrived without waiting; see `VectorClocks.release`.
        any: whether a predicate was true for any thread; None if the barrier does not reduce one.
    """

    arrived: np.ndarray
    expected: int | None = None
    generation: int = 0
    waiting: list[ConvergentThreads] = field(default_factory=list)
    passed: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    any: bool | None = None


class Barriers:
    """The barriers of a CTA."""

    def __init__(self, cta: Cta) -> None:
        self._cta = cta
        self._barriers: dict[int, _Barrier] = {}
        cta.at_return.append(self._complete_after_returns)

    def arrive(
        self,
        convergent: ConvergentThreads,
        number: int,
        count: int | None,
        wait: bool,
        predicate: bool | None = None,
    ) -> None:
        """Make threads arrive at a barrier, and wait if `wait`.

        Args:
            convergent: the threads.
            number: the barrier's number.
            count: number of participating threads; None for all threads of the CTA.
            wait: whether they wait for the others.
            predicate: whether one is true for any of these threads. The instruction's result is then
                whether it is for any thread of the barrier. None without a reduction.
        """
        report = self._cta.reporter(convergent)
        if not 0 <= number < _COUNT:
            report(ViolationKind.BARRIER, f"uses barrier {number}; a CTA has {_COUNT}")
            raise Stop
        if count is not None and (count % WARP or not 0 < count <= self._cta.threads):
            report(
                ViolationKind.BARRIER,
                f"is a barrier of {count} threads; expected a multiple of {WARP} up to the CTA's "
                f"{self._cta.threads}",
            )
            raise Stop
        if not convergent.lanes.whole_warps:
            report(
                ViolationKind.DIVERGENT,
                f"is reached by {convergent.lanes}, a part of a warp; all threads of a warp must execute "
                "a barrier together",
            )
            raise Stop
        barrier = self._barriers.setdefault(number, _Barrier(np.zeros(self._cta.threads, bool)))
        if barrier.arrived.any() and barrier.expected != count:
            report(
                ViolationKind.BARRIER,
                f"arrives at barrier {number} for {count} threads, but others did for "
                f"{barrier.expected}",
            )
        if (barrier.arrived & convergent.lanes.mask).any():
            report(
                ViolationKind.BARRIER,
                f"arrives again at barrier {number} before the others came: {convergent.lanes}",
            )
            raise Stop
        if barrier.arrived.any() and (predicate is None) != (barrier.any is None):
            report(
                ViolationKind.BARRIER,
                f"arrives at barrier {number}, at which some threads reduce a predicate and "
                "others do not",
            )
            raise Stop
        if predicate is not None:
            barrier.any = bool(barrier.any) or predicate
        barrier.expected = count
        barrier.arrived |= convergent.lanes.mask
        if wait:
            generation = barrier.generation
            barrier.waiting.append(convergent)
            convergent.wait(
                lambda: barrier.generation > generation,
                f"barrier {number}, at which {int(barrier.arrived.sum())} threads have arrived",
            )
        else:
            barrier.passed.append(self._cta.clocks.release(convergent.threads))
        self._pass_if_complete(barrier)

    def _complete_after_returns(self) -> None:
        """Complete barriers that only waited for threads that have now returned."""
        for barrier in self._barriers.values():
            if barrier.arrived.any():
                self._pass_if_complete(barrier)

    def _pass_if_complete(self, barrier: _Barrier) -> None:
        expected = barrier.expected
        if expected is None:
            expected = int(self._cta.alive.sum())
        if barrier.arrived.sum() < expected:
            return
        if barrier.waiting:
            clocks = self._cta.clocks
            waited = np.flatnonzero(np.any([s.lanes.mask for s in barrier.waiting], axis=0))
            waited += self._cta.first_thread
            for seen, proxied in barrier.passed:
                clocks.acquire(waited, seen, proxied)
            clocks.synchronise(waited)
        if barrier.any is not None:
            for convergent in barrier.waiting:
                convergent.write(convergent.current.results[0], np.array([barrier.any]))
        barrier.any = None
        barrier.arrived[:] = False
        barrier.generation += 1
        self._cta.merge(barrier.waiting)
        barrier.waiting, barrier.passed = [], []


def barriers_of(cta: Cta) -> Barriers:
    """Return the barriers of a CTA."""
    if _KEY not in cta.state:
        cta.state[_KEY] = Barriers(cta)
    return cta.state[_KEY]


# -- ops -------------------------------------------------------------------------------------------


def _uniform_operands(convergent: ConvergentThreads, values: list[Any]) -> list[int] | None:
    """Return the operands of an instruction, which must be the same for all threads of a warp. If they
    differ between warps, these diverge and execute it again; return None.

    Raises:
        Stop: if they differ within a warp.
    """
    operands = [convergent.broadcast(convergent.check_value(value)) for value in values]
    if all((numbers == numbers[0]).all() for numbers in operands):
        return [int(numbers[0]) for numbers in operands]
    distinct, which = np.unique(np.stack(operands), axis=1, return_inverse=True)
    masks = [convergent.lanes.where(which.reshape(-1) == i) for i in range(distinct.shape[1])]
    if any(len(partial_warps(mask | ~convergent.lanes.mask)) for mask in masks):
        convergent.cta.report_at(
            convergent,
            ViolationKind.DIVERGENT,
            "has a barrier number or a number of threads that threads of a warp disagree on",
        )
        raise Stop
    convergent.diverge([(mask, ConvergentThreads.repeat) for mask in masks])
    return None


@executes("nvvm.barrier", "nvvm.barrier0", waits=True)
def _barrier(op: Op) -> Any:
    has_id, has_count = (0, 0)
    if op.has("operandSegmentSizes"):
        has_id, has_count, *others = op.numbers("operandSegmentSizes")
        if any(others):
            raise op.refuse("reduces a predicate, which the emulator does not know")

    def step(convergent: ConvergentThreads, *values: Any) -> None:
        operands = _uniform_operands(convergent, list(values))
        if operands is not None:
            number = operands[0] if has_id else 0
            count = operands[-1] if has_count else None
            barriers_of(convergent.cta).arrive(convergent, number, count, wait=True)

    return step


@assembles
def _any(op: Op, text: str) -> Any:
    """`barrier.cta.red.or.pred`: a barrier whose result is whether a predicate is true for any thread."""
    match = _ANY.fullmatch(text)
    if not match or op.string("constraints") != "=b,r,b,~{memory}":
        return None
    count = int(match[1])
    op.waits = True

    def step(convergent: ConvergentThreads, number: Any, predicate: Any) -> None:
        operands = _uniform_operands(convergent, [number])
        if operands is not None:
            is_true = bool(convergent.broadcast(convergent.check_value(predicate)).any())
            barriers_of(convergent.cta).arrive(convergent, operands[0], count, True, is_true)

    return step


@executes("nvvm.barrier.arrive")
def _arrive(op: Op) -> Any:
    has_id = len(op.operand_types) == 2

    def step(convergent: ConvergentThreads, *values: Any) -> None:
        operands = _uniform_operands(convergent, list(values))
        if operands is not None:
            number = operands[0] if has_id else 0
            barriers_of(convergent.cta).arrive(convergent, number, operands[-1], wait=False)

    return step


@executes("nvvm.fence.proxy")
def _proxy_fence(op: Op) -> Any:
    kind = op.text("kind")
    if "async" not in kind:
        raise op.refuse(f"is of kind {kind}, which the emulator does not know")
    if "global" in kind:
        return lambda convergent: None
    return lambda convergent: convergent.cta.clocks.fence(convergent.threads)
