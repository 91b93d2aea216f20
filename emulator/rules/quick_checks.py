"""Quick checks of accesses to shared memory: they tell of most that they violate no rule.

They look at the bytes between the first and the last that are accessed, at the latest access of several,
or at units of 16 bytes, and so may fail to tell; the complete checks of `shadow` then decide, and report.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..lanes import WARP
from ..memory import take_rows
from .history import NO_THREAD, History
from .vector_clocks import NEVER

#: Bytes of the unit in which the tensor core reads shared memory.
UNIT = 16


class QuickChecks(History):
    """The history of shared memory, with the quick checks."""

    def may_read_units(self, threads: slice, units: np.ndarray) -> bool:
        """Return whether the async proxy may read units of 16 bytes, for all of some threads."""
        written, copying, writer, epoch = (
            take_rows(of_bytes, UNIT, units)
            for of_bytes in (self.written, self.copying, self.writer, self.write_epoch)
        )
        if not written.all() or np.count_nonzero(copying):
            return False
        first = writer[0, 0]
        if (writer == first).all():
            return bool(epoch.max() <= self._clocks.proxied[threads, first].min())
        proxied = self._clocks.proxied[threads].min(axis=0)
        return bool((epoch <= proxied[writer]).all())

    def may_read(self, threads: np.ndarray, rows: np.ndarray, size: int) -> bool:
        """Return whether threads may read rows of `size` bytes, one each or all the same one."""
        written, copying, writer, epoch = (
            take_rows(of_bytes, size, rows)
            for of_bytes in (self.written, self.copying, self.writer, self.write_epoch)
        )
        if not written.all() or np.count_nonzero(copying):
            return False
        first = writer[:, :1]
        if np.count_nonzero(writer != first):
            return False
        late = epoch.max(axis=1) > self._clocks.seen[threads, first[:, 0]]
        return not np.count_nonzero(late)

    def may_write_in_bulk(self, thread: int, rows: np.ndarray, size: int) -> bool:
        """Return whether a bulk copy of a thread may write rows of `size` bytes."""
        first, last = int(rows.min()), int(rows.max())
        if last - first >= 2 * len(rows) or not _are_distinct(rows, first, last):
            return False
        span = slice(first * size, (last + 1) * size)
        if self._is_in_flight(np.array([thread]), lambda of_bytes: of_bytes[span]):
            return False
        seen, proxied = self._clocks.seen[thread], self._clocks.proxied[thread]
        # Threads need a proxy fence after their accesses, but mbarriers and bulk copies do not.
        fenced = seen.copy()
        fenced[: self._clocks.threads] = np.minimum(seen, proxied)[: self._clocks.threads]
        writer = self.writer[span]
        if (writer == writer[0]).all():
            writer = writer[:1]
        if (self.written[span] & (self.write_epoch[span] > fenced[writer])).any():
            return False
        reader, epoch = self.reader[span], self.read_epoch[span]
        if (reader == NO_THREAD).all():
            return True
        latest = np.where(self.read_in_bulk[span], seen[reader], fenced[reader])
        return not ((reader != NO_THREAD) & (epoch > latest)).any()

    def may_write(self, threads: np.ndarray, rows: np.ndarray, size: int) -> bool:
        """Return whether threads may write rows of `size` bytes, one each or all by one thread."""
        first, last = int(rows.min()), int(rows.max())
        if len(threads) != len(rows) or not _are_distinct(rows, first, last):
            return False

        def take(of_bytes: np.ndarray) -> np.ndarray:
            return take_rows(of_bytes, size, rows)

        if self._is_in_flight(threads, take):
            return False
        # Mostly the bytes of a row have one history: its first byte then tells of all.
        seen = self._clocks.seen
        writer = take(self.writer)
        if np.count_nonzero(writer != writer[:, :1]):
            return False
        late = take(self.write_epoch).max(axis=1) > seen[threads, writer[:, 0]]
        if np.count_nonzero(late) and np.count_nonzero(late & take(self.written).any(axis=1)):
            return False
        reader = take(self.reader)
        if np.count_nonzero(reader != reader[:, :1]):
            return False
        reader = reader[:, 0]
        late = take(self.read_epoch).max(axis=1) > seen[threads, reader]
        return not np.count_nonzero(late & (reader != NO_THREAD))

    def _is_in_flight(self, threads: np.ndarray, take: Callable[[np.ndarray], np.ndarray]) -> bool:
        """Return whether wgmma, bulk copies or tcgen05 may still read bytes, or `cp.async` may still
        write some, as far as threads know; `take` selects the bytes of an array with one for each."""
        if self.tcgen05_reads is not None or np.count_nonzero(take(self.copying)):
            return True
        if self._bulk_readers and np.count_nonzero(take(self.bulk_reads)):
            return True
        first = self._threads.start
        for warpgroup in self._wgmma_readers:
            # Groups complete in order: the last tells of all.
            group = take(self.wgmma_reads[warpgroup]).max()
            for warp in range(warpgroup * 4, warpgroup * 4 + 4) if group else ():
                waited = self._groups.waited_at(warp, group)
                if (
                    waited == NEVER
                    or (waited > self._clocks.seen[threads, first + warp * WARP]).any()
                ):
                    return True
        return False


def is_one_row(rows: np.ndarray) -> bool:
    """Return whether all rows are the same: often all threads read one, such as an mbarrier."""
    return rows[0] == rows[-1] and bool((rows == rows[0]).all())


def _are_distinct(rows: np.ndarray, first: int, last: int) -> bool:
    """Return whether rows from a first to a last are distinct."""
    if last - first > 64 * len(rows):
        return len(np.unique(rows)) == len(rows)
    marked = np.zeros(last - first + 1, bool)
    marked[rows - first] = True
    return int(np.count_nonzero(marked)) == len(rows)
