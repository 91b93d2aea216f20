"""Checks of warp-wide instructions: which threads of a warp execute them together."""

from __future__ import annotations

import numpy as np

from .cta import ConvergentThreads
from .errors import Stop, ViolationKind
from .lanes import WARP

#: The member mask of a whole warp.
_ALL_LANES = np.uint32(0xFFFFFFFF)


def whole_warps(convergent: ConvergentThreads) -> np.ndarray:
    """Return the warps of the threads; check that whole warps execute the instruction.

    Raises:
        Stop: if only a part of a warp executes it; this is reported.
    """
    if not convergent.lanes.whole_warps:
        convergent.cta.report_at(
            convergent,
            ViolationKind.DIVERGENT,
            f"is executed by {convergent.lanes}, a part of a warp; all threads of a warp must execute it "
            "together",
        )
        raise Stop
    return convergent.lanes.warps


def full_warps(convergent: ConvergentThreads) -> np.ndarray:
    """Return the warps of the threads; check that each has all 32 threads.

    Raises:
        Stop: if a part of a warp executes it, or the last warp of the CTA is partial; this is reported.
    """
    warps = whole_warps(convergent)
    if convergent.lanes.count != len(warps) * WARP:
        count = convergent.cta.threads % WARP
        convergent.cta.report_at(
            convergent,
            ViolationKind.DIVERGENT,
            f"is executed by a warp of {count} threads; it needs all {WARP}, so the CTA's number of "
            f"threads must be a multiple of {WARP}",
        )
        raise Stop
    return warps


def member_lanes(convergent: ConvergentThreads, masks: np.ndarray) -> np.ndarray | None:
    """Return bool[threads, 32]: the lanes of each thread's member mask that execute the instruction with
    it (PTX ISA, `membermask`). A mask may name lanes that have returned, or that the CTA does not have.

    Return None if a named lane is elsewhere and still runs: the threads then wait for it.

    Args:
        convergent: the threads that execute the instruction.
        masks: uint32, each thread's mask.

    Raises:
        Stop: if a mask does not name its own thread, or names a lane that does not execute the
            instruction with the same mask; this is reported.
    """
    cta, threads = convergent.cta, convergent.lanes.threads
    if convergent.lanes.whole_warps and cta.threads % WARP == 0 and (masks == _ALL_LANES).all():
        return np.ones((len(threads), WARP), bool)
    masks = convergent.broadcast(masks)
    named = (masks[:, None] >> np.arange(WARP, dtype=np.uint32) & 1).astype(bool)
    left_out = ~named[np.arange(len(threads)), threads % WARP]
    if left_out.any():
        first = int(np.argmax(left_out))
        _report(
            convergent,
            f"is executed by thread {threads[first]}, lane {threads[first] % WARP} of its warp, which "
            f"its mask {masks[first]:#010x} does not name",
        )
    masks_of_lanes = np.full((-(-cta.threads // WARP), WARP), -1, np.int64)
    masks_of_lanes.reshape(-1)[threads] = masks
    alive = np.zeros(masks_of_lanes.size, bool)
    alive[: cta.threads] = cta.alive
    same = masks_of_lanes[threads // WARP] == masks[:, None]
    missing = named & ~same & alive.reshape(masks_of_lanes.shape)[threads // WARP]
    if missing.any():
        row, lane = (int(index[0]) for index in np.nonzero(missing))
        thread = int(threads[row]) // WARP * WARP + lane
        if _runs(convergent, thread):
            description = f"thread {thread}, which its mask names"
            convergent.wait(lambda: not _runs(convergent, thread), description, again=True)
            return None
        _report(
            convergent,
            f"names lane {lane} in the mask {masks[row]:#010x} of thread {threads[row]}, but thread "
            f"{thread} does not execute it with that mask",
        )
    return named & same


def _runs(convergent: ConvergentThreads, thread: int) -> bool:
    """Whether a thread is at another position, and is not blocked there."""
    return any(
        other.lanes.mask[thread] and other.blocked is None
        for other in convergent.cta.convergent_groups
        if other is not convergent
    )


def _report(convergent: ConvergentThreads, message: str) -> None:
    convergent.cta.report_at(convergent, ViolationKind.DIVERGENT, message)
    raise Stop
