"""What is known of each cell of tensor memory: who wrote it, and who may still access it.

`tcgen05.mma`, `cp`, `ld` and `st` are asynchronous (PTX ISA 9.7.16.6). An mma or a cp is complete for
those who have seen the mbarrier that it was committed to, and the others for those who have seen the
wait of their warp; what a thread has seen counts for its own instructions from its next
`tcgen05.fence::after_thread_sync` on. Of several loads of a cell the last is remembered, so that a
finding is certain, but one may be missed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...dialect.diagnostics import format_location
from ..errors import ViolationKind
from ..lanes import WARP
from ..rules.vector_clocks import NEVER
from .tcgen05_clocks import of_cluster

if TYPE_CHECKING:
    from ..convergent import ConvergentThreads
    from ..cta import Cta
    from .tensor_memory import Cells


def _never() -> np.ndarray:
    return np.full(WARP, NEVER, np.int32)


@dataclass
class _Transfer:
    """A `tcgen05.ld` or `tcgen05.st`.

    Attributes:
        name: "ld" or "st".
        op: the instruction's number.
        warp: who executes it.
        waited: int32[32], the epochs of the warp's threads in which they have waited for it.
        fenced: int32[32], the epochs in which they have executed `fence::before_thread_sync` since.
    """

    name: str
    op: int
    warp: int
    waited: np.ndarray = field(default_factory=_never)
    fenced: np.ndarray = field(default_factory=_never)


@dataclass(frozen=True)
class _MmaOrCp:
    """A `tcgen05.mma`, or a `tcgen05.cp`.

    Attributes:
        name: "mma" or "cp".
        op: the instruction's number.
        thread: who issued it, by its number in the cluster.
        epoch: that thread's.
        column: of the thread's commits in `VectorClocks`.
        commit: which of its commits tracks it.
        shape: D's address and extents; those of one shape are executed in their order. Nothing if it is
            not D's cells that it accesses.
    """

    name: str
    op: int
    thread: int
    epoch: int
    column: int
    commit: int
    shape: tuple[int, ...]


class TensorMemoryShadow:
    """The history of each cell, as arrays of its instructions' numbers; 0 where there is none.

    Attributes:
        written: whether anything was written.
        multiplied, stored, loaded, taken: the last mma or cp and the last st that write it since, the
            last ld that reads it, and the last mma that does as its A or its scale factors.
    """

    def __init__(self, cta: Cta, shape: tuple[int, int]) -> None:
        self._cta, self._clocks, self._tcgen05_clocks = cta, cta.clocks, of_cluster(cta.cluster)
        self.written = np.zeros(shape, bool)
        self.mma_writes, self.st_writes, self.ld_reads, self.mma_reads = (
            np.zeros(shape, np.int32) for _ in range(4)
        )
        self._issued: list[_MmaOrCp] = []
        # For each thread, the number of its last mma.
        self._last_mma: dict[int, int] = {}
        self._transfers: list[_Transfer] = []
        # Those that have not been waited for, or not been passed on by a fence.
        self._open: list[_Transfer] = []

    # -- what threads do ---------------------------------------------------------------------------

    def wait(self, warps: np.ndarray, name: str) -> None:
        """`tcgen05.wait` for the ld, or the st, of some warps."""
        for transfer in self._open:
            if transfer.name == name and transfer.warp in warps and transfer.waited[0] == NEVER:
                transfer.waited = self._clocks.epoch[self._threads(transfer.warp)].copy()

    def fence_before(self, threads: np.ndarray) -> None:
        """`tcgen05.fence::before_thread_sync` of some threads of the CTA."""
        for transfer in self._open:
            mine = threads[(threads // WARP == transfer.warp)]
            if transfer.waited[0] != NEVER:
                at = mine[transfer.fenced[mine % WARP] == NEVER]
                transfer.fenced[at % WARP] = self._clocks.epoch[self._cta.first_thread + at]
        self._open = [t for t in self._open if (t.fenced == NEVER).any()]

    def _threads(self, warp: int) -> np.ndarray:
        """The threads of a warp by their numbers in the cluster."""
        return self._cta.first_thread + warp * WARP + np.arange(WARP)

    # -- accesses ----------------------------------------------------------------------------------

    def load(self, convergent: ConvergentThreads, warp: int, cells: Cells) -> None:
        """A warp reads cells."""
        self._check_written(convergent, cells)
        self._check_complete(convergent, self._threads(warp), cells, "reads", {"mma", "st"})
        self.ld_reads[cells.lanes, cells.columns] = self._new_transfer(convergent, "ld", warp)

    def store(self, convergent: ConvergentThreads, warp: int, cells: Cells) -> None:
        """A warp writes cells."""
        self._check_complete(convergent, self._threads(warp), cells, "writes", {"mma", "st", "ld"})
        self._overwrite(cells)
        self.st_writes[cells.lanes, cells.columns] = self._new_transfer(convergent, "st", warp)

    def mma(
        self,
        convergent: ConvergentThreads,
        thread: int,
        cells: Cells,
        reads: bool,
        shape: tuple[int, ...],
    ) -> None:
        """A thread makes an mma write cells, and read them before if it adds to them.

        Args:
            convergent: who issues it.
            thread: which of its threads, by the number in the cluster.
            cells: where D is.
            reads: whether it adds to D.
            shape: D's address and extents.
        """
        if reads:
            self._check_written(convergent, cells)
        self._check_complete(
            convergent, np.array([thread]), cells, "writes", {"mma", "st", "ld"}, ("mma", shape)
        )
        self._overwrite(cells)
        self.mma_writes[cells.lanes, cells.columns] = self._new_mma_or_cp(
            convergent, "mma", thread, shape
        )

    def mma_operand(self, convergent: ConvergentThreads, thread: int, cells: Cells) -> None:
        """A thread makes an mma read cells as its A, or its scale factors."""
        self._check_written(convergent, cells)
        self._check_complete(
            convergent, np.array([thread]), cells, "reads", {"mma", "st"}, ("mma", ())
        )
        self.mma_reads[cells.lanes, cells.columns] = self._new_mma_or_cp(
            convergent, "mma", thread, ()
        )

    def cp(self, convergent: ConvergentThreads, thread: int, cells: Cells) -> None:
        """A thread makes a cp write cells."""
        names = {"mma", "st", "ld"}
        self._check_complete(convergent, np.array([thread]), cells, "writes", names, ("cp", ()))
        self._overwrite(cells)
        self.mma_writes[cells.lanes, cells.columns] = self._new_mma_or_cp(
            convergent, "cp", thread, ()
        )

    def _new_mma_or_cp(
        self, convergent: ConvergentThreads, name: str, thread: int, shape: tuple[int, ...]
    ) -> int:
        """The number of a new mma or cp."""
        column = self._tcgen05_clocks.column(thread)
        epoch, commit = int(self._clocks.epoch[thread]), int(self._clocks.epoch[column])
        issued = _MmaOrCp(name, convergent.current.number, thread, epoch, column, commit, shape)
        self._issued.append(issued)
        if name == "mma":
            self._last_mma[thread] = len(self._issued)
        return len(self._issued)

    def check_free(self, convergent: ConvergentThreads, cells: Cells) -> None:
        """Checks that threads may free cells. Freeing is not asynchronous, so that it needs no fence."""
        self._check_complete(
            convergent, convergent.threads, cells, "frees", {"mma", "st", "ld"}, None, False
        )

    def reset(self, columns: slice) -> None:
        """Columns are allocated: what they hold is nobody's."""
        for array in (self.written, self.mma_writes, self.st_writes, self.ld_reads, self.mma_reads):
            array[:, columns] = 0

    def _new_transfer(self, convergent: ConvergentThreads, name: str, warp: int) -> int:
        """The number of a new transfer."""
        transfer = _Transfer(name, convergent.current.number, warp)
        self._transfers.append(transfer)
        self._open.append(transfer)
        return len(self._transfers)

    def _overwrite(self, cells: Cells) -> None:
        at = cells.lanes, cells.columns
        self.written[at] = True
        for array in (self.mma_writes, self.st_writes, self.ld_reads, self.mma_reads):
            array[at] = 0

    # -- rules -------------------------------------------------------------------------------------

    def _check_written(self, convergent: ConvergentThreads, cells: Cells) -> None:
        if not self.written[cells.lanes, cells.columns].all():
            self._cta.report_at(
                convergent,
                ViolationKind.UNINITIALISED,
                f"reads {cells} of tensor memory{self._cta.label}, of which nothing has written some",
            )

    def _check_complete(
        self,
        convergent: ConvergentThreads,
        threads: np.ndarray,
        cells: Cells,
        does: str,
        names: set[str],
        by: tuple[str, tuple[int, ...]] | None = None,
        fenced: bool = True,
    ) -> None:
        """Checks that what accesses cells is complete, for threads that access them now.

        Args:
            convergent: who executes the instruction.
            threads: which of its threads, by their numbers in the cluster.
            cells: what they access.
            does: how.
            names: the instructions that it must be ordered after.
            by: the name and the shape (`_MmaOrCp`) of an mma or a cp that accesses them.
            fenced: whether `tcgen05.fence` is needed where threads synchronise.
        """
        at = cells.lanes, cells.columns
        for array, verb in ((self.mma_writes, "write"), (self.mma_reads, "read")):
            if verb == "read" and "ld" not in names:
                continue  # two may read
            for number in _numbers(array[at]):
                issued = self._issued[number - 1]
                missing = self._missing_after_mma(issued, threads, fenced)
                if missing and not (by and self._is_pipelined(number, verb, int(threads[0]), *by)):
                    where = format_location(self._cta.program.locations[issued.op])
                    what = f"the tcgen05.{issued.name} at {where} may still {verb}"
                    self._report(convergent, does, cells, what, missing)
        for name, array in (("st", self.st_writes), ("ld", self.ld_reads)):
            for number in _numbers(array[at]) if name in names else ():
                transfer = self._transfers[number - 1]
                missing = self._missing_after_transfer(transfer, threads, fenced)
                if missing:
                    where = format_location(self._cta.program.locations[transfer.op])
                    verb = "read" if name == "ld" else "write"
                    what = f"the tcgen05.{name} of warp {transfer.warp} at {where} may still {verb}"
                    self._report(convergent, does, cells, what, missing)

    def _report(
        self, convergent: ConvergentThreads, does: str, cells: Cells, what: str, missing: str
    ) -> None:
        kind = (
            ViolationKind.OVERWRITTEN if what.endswith("read") else ViolationKind.TENSOR_IN_FLIGHT
        )
        self._cta.report_at(
            convergent,
            kind,
            f"{does} {cells} of tensor memory{self._cta.label}, which {what}: {missing}",
        )

    def _is_pipelined(
        self, number: int, verb: str, thread: int, name: str, shape: tuple[int, ...]
    ) -> bool:
        """Whether an mma or a cp comes after another in a pipeline (9.7.16.6.2): of the same thread, or
        one that was told of it.

        An mma does after one of the same shape, and after every cp. That a cp comes after what an mma
        reads, and so after the cp that it comes after, is not among the ISA's pairs; the main loops of
        CUTLASS rely on it, which write the next step's scale factors over those of the last.

        Args:
            number: the earlier one's.
            verb: what it does with the cells, "write" or "read".
            thread: who issues the later one, by the number in the cluster.
            name, shape: the later one's.
        """
        issued, after = self._issued[number - 1], self._tcgen05_clocks.after
        if issued.thread != thread and issued.epoch > after[thread, issued.thread]:
            return False
        if name == "mma":
            return issued.name == "cp" or issued.shape == shape
        return verb == "read" or (issued.name == "cp" and number < self._last_mma.get(thread, 0))

    def _missing_after_mma(self, issued: _MmaOrCp, threads: np.ndarray, fenced: bool) -> str | None:
        """What is missing between an mma and an access of threads; None if nothing is."""
        seen = self._clocks.seen[threads, issued.column].min()
        after = self._tcgen05_clocks.after[threads, issued.column].min()
        if issued.commit <= (after if fenced else seen):
            return None
        if issued.commit == self._clocks.epoch[issued.column]:
            return "tcgen05.commit, and a wait for its mbarrier, are missing before it"
        if issued.commit > seen:
            return "a wait for the mbarrier of its tcgen05.commit is missing before it"
        return "tcgen05.fence::after_thread_sync is missing after the wait for its mbarrier"

    def _missing_after_transfer(
        self, transfer: _Transfer, threads: np.ndarray, fenced: bool
    ) -> str | None:
        """What is missing between an ld or st and an access of threads; None if nothing is."""
        if transfer.waited[0] == NEVER:
            return f"tcgen05.wait::{transfer.name} is missing after it"
        of_warp = self._threads(transfer.warp)
        if np.isin(threads, of_warp).all():
            return None
        # A warp waits as a whole, so that each of its threads can tell the others.
        seen = self._clocks.seen[threads][:, of_warp]
        if not (transfer.waited <= seen).any(axis=1).all():
            barrier = self._cta.shadow.barrier(threads)
            return f"{barrier} is missing between its tcgen05.wait and this"
        if not fenced:
            return None
        if not (transfer.fenced <= seen).any(axis=1).all():
            return "tcgen05.fence::before_thread_sync is missing between its tcgen05.wait and the barrier"
        if (
            not (transfer.fenced <= self._tcgen05_clocks.after[threads][:, of_warp])
            .any(axis=1)
            .all()
        ):
            return "tcgen05.fence::after_thread_sync is missing after the barrier"
        return None


def _numbers(of_cells: np.ndarray) -> np.ndarray:
    """The instructions that cells name."""
    if of_cells.min() == of_cells.max():
        of_cells = of_cells[:1, :1]  # most often one instruction wrote them all
    found = np.unique(of_cells)
    return found[found > 0]
