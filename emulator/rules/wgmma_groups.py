"""wgmma groups: which are committed, and which have been waited for (PTX ISA 9.7.15.7)."""

from __future__ import annotations

import numpy as np

from ..lanes import WARP
from .vector_clocks import NEVER


class WgmmaGroups:
    """The wgmma groups of each warp; groups are numbered from 1.

    Attributes:
        current: int32[warps], the group that is not committed yet.
        done: int32[warps], the last group that the warp has waited for.
        fences: int32[warps], how often the warp has executed `wgmma.fence`.
    """

    def __init__(self, warps: int) -> None:
        self.current = np.ones(warps, np.int32)
        self.done = np.zeros(warps, np.int32)
        self.fences = np.zeros(warps, np.int32)
        # The epoch in which each group was waited for; group 0 means no group.
        self._waited = np.full((warps, 64), NEVER, np.int32)
        self._waited[:, 0] = -1
        # For each instruction with A in registers: the group of its last execution by each warp, and the
        # registers.
        self._a_registers: dict[int, tuple[np.ndarray, dict[int, np.ndarray]]] = {}

    def commit(self, warps: np.ndarray) -> None:
        """`wgmma.commit_group`."""
        self.current[warps] += 1
        if self.current.max() >= self._waited.shape[1]:
            more = np.full_like(self._waited, NEVER)
            self._waited = np.concatenate([self._waited, more], axis=1)

    def note_a(self, op: int, warps: np.ndarray, data: np.ndarray) -> bool:
        """Note the registers of A of an instruction.

        Args:
            op: the number of the instruction.
            warps: the warps that execute it.
            data: the contents of the registers, a row for each thread of these warps.

        Returns:
            Whether the contents have changed while a group that has not been waited for may still read
            them: each execution has the same registers.
        """
        last, contents = self._a_registers.setdefault(op, (np.zeros(len(self.done), np.int32), {}))
        in_flight, rewritten = last[warps] > self.done[warps], False
        for position, warp in enumerate(warps):
            registers = data[position * WARP : (position + 1) * WARP]
            rewritten |= bool(in_flight[position]) and not np.array_equal(contents[warp], registers)
            contents[warp] = registers.copy()
        last[warps] = self.current[warps]
        return rewritten

    def wait(self, warps: np.ndarray, pending: int, epochs: np.ndarray) -> None:
        """`wgmma.wait_group`: wait for all but the last `pending` committed groups.

        Args:
            warps: the warps that execute it.
            pending: number of groups that may stay in flight.
            epochs: int32[warps], the epoch of each warp.
        """
        for warp, epoch in zip(warps, epochs, strict=True):
            done = int(self.current[warp]) - 1 - pending
            if done > self.done[warp]:
                self._waited[warp, self.done[warp] + 1 : done + 1] = epoch
                self.done[warp] = done

    def waited_at(self, warp: int, group: np.ndarray) -> np.ndarray:
        """Return the epoch in which a warp waited for each of some groups; NEVER if it has not."""
        return self._waited[warp, group]
