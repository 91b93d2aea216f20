"""nvvm: ops on mbarriers (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convergent import ConvergentThreads
from ..lanes import partial_warps
from ..predicates import predicated
from ..program import Op
from ..registry import executes
from ..rules.mbarriers import (
    MBarrier,
    add_tx_count,
    count_arrivals,
    mbarriers_used,
    mbarriers_written,
    of_cta,
    report_misuse,
)

#: The largest count of arrivals.
_MAX_COUNT = (1 << 20) - 1

#: Failed tests of a phase after which it counts as one that never completes.
_MAX_TESTS = 100_000

#: An mbarrier, and the rows of the convergent threads that use it.
_Use = tuple[MBarrier, np.ndarray]


def _number(convergent: ConvergentThreads, value: Any, what: str) -> int:
    numbers = convergent.checked(value)
    if (numbers != numbers[0]).any():
        report_misuse(convergent, f"has a {what} that threads disagree on")
    return int(numbers[0])


@executes("nvvm.mbarrier.init")
def _init(op: Op) -> Any:
    def step(convergent: ConvergentThreads, pointer: Any, count: Any) -> None:
        arrivals = _number(convergent, count, "count")
        if not 1 <= arrivals <= _MAX_COUNT:
            report_misuse(
                convergent, f"has a count of {arrivals} arrivals; expected 1 to {_MAX_COUNT}"
            )
        nothing = np.full(len(convergent.cta.clocks.epoch), -1, np.int32)
        for cta, at, _ in mbarriers_written(op, convergent, pointer):
            of_cta(cta)[at] = MBarrier(arrivals, arrivals, nothing, nothing, (nothing, nothing))

    return predicated(op, step) if len(op.operand_types) > 2 else step


@executes("nvvm.mbarrier.inval")
def _invalidate(op: Op) -> Any:
    def step(convergent: ConvergentThreads, pointer: Any) -> None:
        for cta, at, _ in mbarriers_written(op, convergent, pointer):
            if of_cta(cta).pop(at, None) is None:
                report_misuse(
                    convergent, f"invalidates an mbarrier at {at:#x}, where none was initialised"
                )

    return step


@executes("nvvm.fence.mbarrier.init")
def _init_fence(op: Op) -> Any:
    # A barrier of the CTA or the cluster makes the initialisation visible, even without this fence.
    return lambda convergent: None


@executes("nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive.expect_tx")
def _arrive(op: Op) -> Any:
    expects = op.name.endswith("expect_tx")
    releases = "true" not in op.text("relaxed")
    has_token, has_predicate = bool(op.result_types), len(op.operand_types) > 2

    def step(convergent: ConvergentThreads, pointer: Any, amount: Any = None) -> np.ndarray | None:
        number = 1 if amount is None else _number(convergent, amount, "number")
        token = np.zeros(convergent.lanes.count, np.uint64)
        for cta, barrier, threads in mbarriers_used(op, convergent, pointer):
            if has_token:
                token[np.isin(convergent.threads, threads)] = barrier.phase
            if cta is not convergent.cta:
                for thread in threads:
                    cta.note_incoming(convergent, int(thread))
            if releases:
                barrier.release(*convergent.cta.clocks.release(threads))
            if expects:
                add_tx_count(convergent, barrier, number * len(threads))
            count_arrivals(convergent, barrier, len(threads) * (1 if expects else number))
        return token if has_token else None

    return predicated(op, step) if has_predicate else step


@executes("nvvm.mbarrier.expect_tx", "nvvm.mbarrier.complete_tx")
def _transaction(op: Op) -> Any:
    sign = 1 if op.name.endswith("expect_tx") else -1

    def step(convergent: ConvergentThreads, pointer: Any, count: Any) -> None:
        number = _number(convergent, count, "number of bytes")
        for _, barrier, threads in mbarriers_used(op, convergent, pointer):
            add_tx_count(convergent, barrier, sign * number * len(threads))

    return step


def _tested(op: Op, convergent: ConvergentThreads, pointer: Any) -> list[_Use]:
    """Return the mbarriers that threads test."""
    return [
        (barrier, _rows_of(convergent, threads))
        for _, barrier, threads in mbarriers_used(op, convergent, pointer)
    ]


def _rows_of(convergent: ConvergentThreads, threads: np.ndarray) -> np.ndarray:
    """Return which of the convergent threads are some threads."""
    if len(threads) == convergent.lanes.count:
        return np.ones(len(threads), bool)
    return np.isin(convergent.threads, threads)


def _is_complete(barrier: MBarrier, wanted: np.ndarray, by_parity: bool) -> np.ndarray:
    """Return whether the phase that each thread tests is complete."""
    if by_parity:
        return (wanted & 1) != barrier.phase & 1
    return wanted < barrier.phase


def _test(
    convergent: ConvergentThreads,
    tested: list[_Use],
    wanted: np.ndarray,
    by_parity: bool,
) -> np.ndarray:
    """Return whether each thread's phase is complete; threads that observe this acquire its clocks."""
    found = np.zeros(convergent.lanes.count, bool)
    for barrier, rows in tested:
        complete = _is_complete(barrier, wanted[rows], by_parity)
        found[rows] = complete
        if complete.any():
            convergent.cta.clocks.acquire(convergent.threads[rows][complete], *barrier.passed)
        else:
            barrier.failed_tests += 1
            if barrier.failed_tests > _MAX_TESTS:
                lacks = barrier.lacks(convergent.cta.program.locations)
                report_misuse(
                    convergent,
                    f"tested a phase {_MAX_TESTS} times that no arrival completes: it lacks {lacks}",
                )
    return found


@executes("nvvm.mbarrier.test.wait")
def _test_wait(op: Op) -> Any:
    by_parity = str(op.operand_types[1]) == "i32"

    def step(convergent: ConvergentThreads, pointer: Any, wanted: Any) -> np.ndarray:
        tested = _tested(op, convergent, pointer)
        found = _test(
            convergent, tested, convergent.broadcast(convergent.checked(wanted)), by_parity
        )
        # Other threads run before the next test.
        convergent.wait(lambda: True, "its next test of an mbarrier")
        return found

    return step


@executes("nvvm.mbarrier.try_wait", "nvvm.mbarrier.try_wait.parity", waits=True)
def _try_wait(op: Op) -> Any:
    by_parity = str(op.operand_types[1]) == "i32"
    has_result = bool(op.result_types)

    def step(
        convergent: ConvergentThreads, pointer: Any, wanted: Any, *ticks: Any
    ) -> np.ndarray | None:
        phases = convergent.broadcast(convergent.checked(wanted))
        tested = _tested(op, convergent, pointer)
        found = _test(convergent, tested, phases, by_parity)
        if found.all():
            return found if has_result else None
        masks = [convergent.lanes.where(rows) for _, rows in tested]
        if len(masks) > 1 and not any(
            len(partial_warps(m | ~convergent.lanes.mask)) for m in masks
        ):
            # Warps that wait for different mbarriers wait separately.
            convergent.diverge([(mask, ConvergentThreads.repeat) for mask in masks])
            return None
        barriers = [barrier for barrier, _ in tested]
        before = [barrier.phase for barrier in barriers]
        locations = convergent.cta.program.locations
        convergent.wait(
            lambda: before != [barrier.phase for barrier in barriers],
            lambda: (
                f"an mbarrier's phase, which lacks {', '.join(b.lacks(locations) for b in barriers)}"
            ),
            again=True,
        )
        return None

    return step
