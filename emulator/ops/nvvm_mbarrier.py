"""nvvm: ops on mbarriers (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from ..access import locate
from ..cta import ConvergentThreads, Cta
from ..errors import Stop, ViolationKind
from ..kernel import Op
from ..lanes import partial_warps
from ..predicates import predicate_step
from ..registry import executes
from ..rules.mbarriers import MBarrier

_KEY = "mbarrier"

#: Size and alignment of an mbarrier, in bytes.
MBARRIER_BYTES = 8

#: The largest tx-count, in bytes.
_MAX_TX_COUNT = (1 << 20) - 1

#: The largest count of arrivals.
_MAX_COUNT = (1 << 20) - 1

#: Failed tests of a phase after which it counts as one that never completes.
_MAX_TESTS = 100_000

#: An mbarrier, and the rows of the convergent threads that use it.
_Use = tuple[MBarrier, np.ndarray]


# -- for the modules of instructions ---------------------------------------------------------------


def mbarriers_of(cta: Cta) -> dict[int, MBarrier]:
    """Return the mbarriers of a CTA, by address."""
    return cta.state.setdefault(_KEY, {})


def mbarrier_addresses(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, int, np.ndarray]]:
    """Yield each mbarrier that threads access: the CTA in whose shared memory it is, its address, and the
    threads, by their numbers in the cluster."""
    address, threads = convergent.check_value(pointer), convergent.threads
    # Mostly all threads use the same one.
    same = bool((address == address[0]).all())
    if same:
        address = address[:1]
    accessing = convergent.lanes.threads[: len(address)]
    for memory, among, local in locate(
        convergent, address, op.space, MBARRIER_BYTES, "uses", accessing
    ):
        ctas = convergent.cta.cluster.ctas
        cta = next((cta for cta in ctas if cta.shared is memory), None)
        if cta is None:
            raise op.refuse("is in global memory; mbarriers are in shared memory")
        for start in sorted({*local.tolist()}):
            yield cta, start, threads if same else threads[among][local == start]


def mbarriers_written(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, int, np.ndarray]]:
    """Like `mbarrier_addresses`, for mbarriers that are initialised or invalidated."""
    for cta, address, threads in mbarrier_addresses(op, convergent, pointer):
        rows = cta.shared.rows(np.full(len(threads), address), MBARRIER_BYTES)
        cta.shadow.check_write(threads, rows, MBARRIER_BYTES, convergent.cta.reporter(convergent))
        cta.shadow.note_write(threads, rows, MBARRIER_BYTES, convergent.current.number)
        yield cta, address, threads


def mbarriers_used(
    op: Op, convergent: ConvergentThreads, pointer: Any
) -> Iterator[tuple[Cta, MBarrier, np.ndarray]]:
    """Yield each mbarrier that threads use: its CTA, the mbarrier, and the threads."""
    for cta, address, threads in mbarrier_addresses(op, convergent, pointer):
        yield cta, mbarrier_at(convergent, cta, address, threads), threads


def mbarrier_at(
    convergent: ConvergentThreads, cta: Cta, address: int, threads: np.ndarray
) -> MBarrier:
    """Return the mbarrier of a CTA at an address; check that the threads may use it."""
    rows = cta.shared.rows(np.full(len(threads), address), MBARRIER_BYTES)
    cta.shadow.check_read(threads, rows, MBARRIER_BYTES, convergent.cta.reporter(convergent))
    if address not in mbarriers_of(cta):
        report_misuse(
            convergent, f"uses an mbarrier at {address:#x}{cta.label}, where none was initialised"
        )
    return mbarriers_of(cta)[address]


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
    if abs(barrier.tx_count) > _MAX_TX_COUNT:
        report_misuse(
            convergent,
            f"makes a phase of an mbarrier wait for {barrier.tx_count} bytes; at most {_MAX_TX_COUNT} "
            "are possible",
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
        counted = min(arrivals, barrier.pending)
        barrier.pending -= counted
        arrivals -= counted
        complete_phase_if_done(convergent, barrier)


def complete_phase_if_done(convergent: ConvergentThreads, barrier: MBarrier) -> None:
    """Begin the next phase of the mbarrier if nothing is pending."""
    if barrier.pending == 0 and barrier.tx_count < 0:
        bytes_ = barrier.transactions
        report_misuse(
            convergent,
            f"leaves an mbarrier whose {barrier.count} arrivals of this phase have all come with "
            f"{-barrier.tx_count} bytes that no expect_tx announced: {bytes_.arrived} arrived, where "
            f"{bytes_.text(convergent.cta.kernel.locations)}; mbarrier.arrive.expect_tx (or "
            "mbarrier.expect_tx) must name all bytes that bulk copies write",
        )
    barrier.complete_if_done(convergent.cta.clocks)


# -- ops -------------------------------------------------------------------------------------------


def _number(convergent: ConvergentThreads, value: Any, quantity: str) -> int:
    numbers = convergent.check_value(value)
    if (numbers != numbers[0]).any():
        report_misuse(convergent, f"has a {quantity} that threads disagree on")
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
        for cta, address, _ in mbarriers_written(op, convergent, pointer):
            mbarriers_of(cta)[address] = MBarrier(
                arrivals, arrivals, nothing, nothing, (nothing, nothing)
            )

    return predicate_step(op, step) if len(op.operand_types) > 2 else step


@executes("nvvm.mbarrier.inval")
def _invalidate(op: Op) -> Any:
    def step(convergent: ConvergentThreads, pointer: Any) -> None:
        for cta, address, _ in mbarriers_written(op, convergent, pointer):
            if mbarriers_of(cta).pop(address, None) is None:
                report_misuse(
                    convergent,
                    f"invalidates an mbarrier at {address:#x}, where none was initialised",
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

    return predicate_step(op, step) if has_predicate else step


@executes("nvvm.mbarrier.expect_tx", "nvvm.mbarrier.complete_tx")
def _transaction(op: Op) -> Any:
    sign = 1 if op.name.endswith("expect_tx") else -1

    def step(convergent: ConvergentThreads, pointer: Any, count: Any) -> None:
        number = _number(convergent, count, "number of bytes")
        for _, barrier, threads in mbarriers_used(op, convergent, pointer):
            add_tx_count(convergent, barrier, sign * number * len(threads))

    return step


def _mbarriers_tested(op: Op, convergent: ConvergentThreads, pointer: Any) -> list[_Use]:
    """Return the mbarriers that threads test."""
    return [
        (barrier, _rows_of(convergent, threads))
        for _, barrier, threads in mbarriers_used(op, convergent, pointer)
    ]


def _rows_of(convergent: ConvergentThreads, threads: np.ndarray) -> np.ndarray:
    """Return bool[threads], which of the convergent threads are in `threads`."""
    if len(threads) == convergent.lanes.count:
        return np.ones(len(threads), bool)
    return np.isin(convergent.threads, threads)


def _is_complete(barrier: MBarrier, phases: np.ndarray, by_parity: bool) -> np.ndarray:
    """Return whether the phase that each thread tests is complete."""
    if by_parity:
        return (phases & 1) != barrier.phase & 1
    return phases < barrier.phase


def _test(
    convergent: ConvergentThreads,
    tested: list[_Use],
    phases: np.ndarray,
    by_parity: bool,
) -> np.ndarray:
    """Return whether each thread's phase is complete; threads that observe this acquire its clocks."""
    observed = np.zeros(convergent.lanes.count, bool)
    for barrier, rows in tested:
        complete = _is_complete(barrier, phases[rows], by_parity)
        observed[rows] = complete
        if complete.any():
            convergent.cta.clocks.acquire(convergent.threads[rows][complete], *barrier.passed)
        else:
            barrier.failed_tests += 1
            if barrier.failed_tests > _MAX_TESTS:
                lacks = barrier.lacks(convergent.cta.kernel.locations)
                report_misuse(
                    convergent,
                    f"tested a phase {_MAX_TESTS} times that no arrival completes: it lacks {lacks}",
                )
    return observed


@executes("nvvm.mbarrier.test.wait")
def _test_wait(op: Op) -> Any:
    by_parity = str(op.operand_types[1]) == "i32"

    def step(convergent: ConvergentThreads, pointer: Any, phase: Any) -> np.ndarray:
        tested = _mbarriers_tested(op, convergent, pointer)
        observed = _test(
            convergent, tested, convergent.broadcast(convergent.check_value(phase)), by_parity
        )
        # Other threads run before the next test.
        convergent.wait(lambda: True, "its next test of an mbarrier")
        return observed

    return step


@executes("nvvm.mbarrier.try_wait", "nvvm.mbarrier.try_wait.parity", waits=True)
def _try_wait(op: Op) -> Any:
    by_parity = str(op.operand_types[1]) == "i32"
    has_result = bool(op.result_types)

    def step(
        convergent: ConvergentThreads, pointer: Any, phase: Any, *ticks: Any
    ) -> np.ndarray | None:
        phases = convergent.broadcast(convergent.check_value(phase))
        tested = _mbarriers_tested(op, convergent, pointer)
        observed = _test(convergent, tested, phases, by_parity)
        if observed.all():
            return observed if has_result else None
        masks = [convergent.lanes.where(rows) for _, rows in tested]
        if len(masks) > 1 and not any(
            len(partial_warps(m | ~convergent.lanes.mask)) for m in masks
        ):
            # Warps that wait for different mbarriers wait separately.
            convergent.diverge([(mask, ConvergentThreads.repeat) for mask in masks])
            return None
        barriers = [barrier for barrier, _ in tested]
        before = [barrier.phase for barrier in barriers]
        locations = convergent.cta.kernel.locations
        convergent.wait(
            lambda: before != [barrier.phase for barrier in barriers],
            lambda: (
                f"an mbarrier's phase, which lacks {', '.join(b.lacks(locations) for b in barriers)}"
            ),
            again=True,
        )
        return None

    return step
