"""Groups of asynchronous instructions: which are committed, and which have been waited for."""

from __future__ import annotations

import numpy as np

from ..lanes import WARP
from .vector_clocks import NEVER


class WgmmaGroups:
    """The `wgmma` groups of each warp; groups count from 1.

    Attributes:
        current: int32[warps], the group that instructions join until it is committed.
        done: int32[warps], the last group that the warp has waited for.
        fences: int32[warps], how often the warp has executed `wgmma.fence`.
    """

    def __init__(self, warps: int) -> None:
        self.current = np.ones(warps, np.int32)
        self.done = np.zeros(warps, np.int32)
        self.fences = np.zeros(warps, np.int32)
        # When each group was waited for; group 0 stands for none.
        self._waited = np.full((warps, 64), NEVER, np.int32)
        self._waited[:, 0] = -1
        # For each instruction with A in registers: the group in which a warp last gave it what.
        self._a_registers: dict[int, tuple[np.ndarray, dict[int, np.ndarray]]] = {}

    def commit(self, warps: np.ndarray) -> None:
        """`wgmma.commit_group`."""
        self.current[warps] += 1
        if self.current.max() >= self._waited.shape[1]:
            more = np.full_like(self._waited, NEVER)
            self._waited = np.concatenate([self._waited, more], axis=1)

    def note_a(self, op: int, warps: np.ndarray, data: np.ndarray) -> bool:
        """Gives registers of A to an instruction.

        Args:
            op: its number.
            warps: the warps that execute it.
            data: what the registers hold, a row for each thread of these warps.

        Returns:
            Whether a group that is not waited for may still read what they held before: the same
            registers are written each time.
        """
        last, held = self._a_registers.setdefault(op, (np.zeros(len(self.done), np.int32), {}))
        flying, rewritten = last[warps] > self.done[warps], False
        for at, warp in enumerate(warps):
            mine = data[at * WARP : (at + 1) * WARP]
            rewritten |= bool(flying[at]) and not np.array_equal(held[warp], mine)
            held[warp] = mine.copy()
        last[warps] = self.current[warps]
        return rewritten

    def wait(self, warps: np.ndarray, pending: int, epochs: np.ndarray) -> None:
        """`wgmma.wait_group`: all but the last `pending` committed groups are complete.

        Args:
            warps: the warps that execute it.
            pending: how many groups may go on.
            epochs: each of those warps' epoch.
        """
        for warp, epoch in zip(warps, epochs, strict=True):
            done = int(self.current[warp]) - 1 - pending
            if done > self.done[warp]:
                self._waited[warp, self.done[warp] + 1 : done + 1] = epoch
                self.done[warp] = done

    def waited_at(self, warp: int, group: np.ndarray) -> np.ndarray:
        """The epoch at which a warp waited for each of some groups; NEVER if it has not."""
        return self._waited[warp, group]
