"""Shadow memory of tensor memory: the last accesses of each cell, and the checks against them.

`tcgen05.mma`, `cp`, `ld` and `st` are asynchronous (PTX ISA 9.7.16.6). A thread knows that an mma or a
cp is complete once it has observed the mbarrier of its commit. It knows that an ld or st is complete
once it has synchronised with the warp after its wait. This holds for the thread's own tcgen05
instructions from its next `tcgen05.fence::after_thread_sync` on. Only the last ld of each cell is kept,
so a reported violation is certain, but one can be missed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...bindings.diagnostics import format_location
from ..cta import ConvergentThreads, Cta
from ..errors import ViolationKind
from ..lanes import WARP
from ..rules.vector_clocks import NEVER
from .cells import TensorMemoryCells
from .tcgen05_clocks import tcgen05_clocks_of


def _never() -> np.ndarray:
    return np.full(WARP, NEVER, np.int32)


@dataclass
class _Transfer:
    """A `tcgen05.ld` or `tcgen05.st`.

    Attributes:
        name: "ld" or "st".
        op: the number of the instruction.
        warp: the warp that executes it.
        waited: int32[32], the epoch of each thread of the warp in which it waited for it.
        fenced: int32[32], the epoch of its `fence::before_thread_sync` after that.
    """

    name: str
    op: int
    warp: int
    waited: np.ndarray = field(default_factory=_never)
    fenced: np.ndarray = field(default_factory=_never)


@dataclass(frozen=True)
class _MmaOrCp:
    """A `tcgen05.mma` or a `tcgen05.cp`.

    Attributes:
        name: "mma" or "cp".
        op: the number of the instruction.
        thread: the thread that issued it, by its number in the cluster.
        epoch: of that thread.
        column: of the thread's commits in `VectorClocks`.
        commit: the epoch of the commit that tracks it.
        shape: address and extents of D; mma of the same shape are executed in order. Empty if the cells
            are not those of D.
    """

    name: str
    op: int
    thread: int
    epoch: int
    column: int
    commit: int
    shape: tuple[int, ...]


class TensorMemoryShadow:
    """The access history of each cell: arrays of the numbers of instructions; 0 if there is none.

    Attributes:
        written: whether the cell has been written.
        mma_writes, st_writes: the last mma or cp, and the last st, that writes it.
        ld_reads, mma_reads: the last ld that reads it, and the last mma that reads it as A or scale
            factors.
    """

    def __init__(self, cta: Cta, shape: tuple[int, int]) -> None:
        self._cta, self._clocks, self._tcgen05_clocks = (
            cta,
            cta.clocks,
            tcgen05_clocks_of(cta.cluster),
        )
        self.written = np.zeros(shape, bool)
        self.mma_writes, self.st_writes, self.ld_reads, self.mma_reads = (
            np.zeros(shape, np.int32) for _ in range(4)
        )
        self._issued: list[_MmaOrCp] = []
        # The number of the last mma of each thread.
        self._last_mma: dict[int, int] = {}
        self._transfers: list[_Transfer] = []
        # Transfers without a wait, or without a fence after it.
        self._open: list[_Transfer] = []

    # -- waits and fences --------------------------------------------------------------------------

    def wait(self, warps: np.ndarray, name: str) -> None:
        """`tcgen05.wait::ld` or `::st` of some warps."""
        for transfer in self._open:
            if transfer.name == name and transfer.warp in warps and transfer.waited[0] == NEVER:
                transfer.waited = self._clocks.epoch[self._threads(transfer.warp)].copy()

    def fence_before(self, threads: np.ndarray) -> None:
        """`tcgen05.fence::before_thread_sync` of some threads of the CTA."""
        for transfer in self._open:
            threads_of_warp = threads[(threads // WARP == transfer.warp)]
            if transfer.waited[0] != NEVER:
                waited = threads_of_warp[transfer.fenced[threads_of_warp % WARP] == NEVER]
                transfer.fenced[waited % WARP] = self._clocks.epoch[self._cta.first_thread + waited]
        self._open = [t for t in self._open if (t.fenced == NEVER).any()]

    def _threads(self, warp: int) -> np.ndarray:
        """Return the threads of a warp, by their numbers in the cluster."""
        return self._cta.first_thread + warp * WARP + np.arange(WARP)

    # -- accesses ----------------------------------------------------------------------------------

    def load(self, convergent: ConvergentThreads, warp: int, cells: TensorMemoryCells) -> None:
        """Check and note an ld of a warp."""
        self._check_written(convergent, cells)
        self._check_complete(convergent, self._threads(warp), cells, "reads", {"mma", "st"})
        self.ld_reads[cells.lanes, cells.columns] = self._new_transfer(convergent, "ld", warp)

    def store(self, convergent: ConvergentThreads, warp: int, cells: TensorMemoryCells) -> None:
        """Check and note an st of a warp."""
        self._check_complete(convergent, self._threads(warp), cells, "writes", {"mma", "st", "ld"})
        self._overwrite(cells)
        self.st_writes[cells.lanes, cells.columns] = self._new_transfer(convergent, "st", warp)

    def mma(
        self,
        convergent: ConvergentThreads,
        thread: int,
        cells: TensorMemoryCells,
        reads: bool,
        shape: tuple[int, ...],
    ) -> None:
        """Check and note the accesses of an mma to its D.

        Args:
            convergent: the threads that issue it.
            thread: the one of them, by its number in the cluster.
            cells: of D.
            reads: whether D is added.
            shape: address and extents of D.
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

    def mma_operand(
        self, convergent: ConvergentThreads, thread: int, cells: TensorMemoryCells
    ) -> None:
        """Check and note the reads of an mma of its A or scale factors."""
        self._check_written(convergent, cells)
        self._check_complete(
            convergent, np.array([thread]), cells, "reads", {"mma", "st"}, ("mma", ())
        )
        self.mma_reads[cells.lanes, cells.columns] = self._new_mma_or_cp(
            convergent, "mma", thread, ()
        )

    def cp(self, convergent: ConvergentThreads, thread: int, cells: TensorMemoryCells) -> None:
        """Check and note the writes of a cp."""
        names = {"mma", "st", "ld"}
        self._check_complete(convergent, np.array([thread]), cells, "writes", names, ("cp", ()))
        self._overwrite(cells)
        self.mma_writes[cells.lanes, cells.columns] = self._new_mma_or_cp(
            convergent, "cp", thread, ()
        )

    def _new_mma_or_cp(
        self, convergent: ConvergentThreads, name: str, thread: int, shape: tuple[int, ...]
    ) -> int:
        """Return the number of a new mma or cp."""
        column = self._tcgen05_clocks.column(thread)
        epoch, commit = int(self._clocks.epoch[thread]), int(self._clocks.epoch[column])
        issued = _MmaOrCp(name, convergent.current.number, thread, epoch, column, commit, shape)
        self._issued.append(issued)
        if name == "mma":
            self._last_mma[thread] = len(self._issued)
        return len(self._issued)

    def check_free(self, convergent: ConvergentThreads, cells: TensorMemoryCells) -> None:
        """Check that threads may free cells. Freeing is synchronous, so it needs no fence."""
        self._check_complete(
            convergent, convergent.threads, cells, "frees", {"mma", "st", "ld"}, None, False
        )

    def reset(self, columns: slice) -> None:
        """Clear the history of columns that are allocated."""
        for array in (self.written, self.mma_writes, self.st_writes, self.ld_reads, self.mma_reads):
            array[:, columns] = 0

    def _new_transfer(self, convergent: ConvergentThreads, name: str, warp: int) -> int:
        """Return the number of a new transfer."""
        transfer = _Transfer(name, convergent.current.number, warp)
        self._transfers.append(transfer)
        self._open.append(transfer)
        return len(self._transfers)

    def _overwrite(self, cells: TensorMemoryCells) -> None:
        index = cells.lanes, cells.columns
        self.written[index] = True
        for array in (self.mma_writes, self.st_writes, self.ld_reads, self.mma_reads):
            array[index] = 0

    # -- rules -------------------------------------------------------------------------------------

    def _check_written(self, convergent: ConvergentThreads, cells: TensorMemoryCells) -> None:
        if not self.written[cells.lanes, cells.columns].all():
            self._cta.report_at(
                convergent,
                ViolationKind.UNINITIALISED,
                f"reads {cells} of tensor memory{self._cta.label}, some of which nothing has written",
            )

    def _check_complete(
        self,
        convergent: ConvergentThreads,
        threads: np.ndarray,
        cells: TensorMemoryCells,
        verb: str,
        names: set[str],
        mma_or_cp: tuple[str, tuple[int, ...]] | None = None,
        fenced: bool = True,
    ) -> None:
        """Check that earlier accesses to cells are complete for threads that access them now.

        Args:
            convergent: the threads that execute the instruction.
            threads: those of them that access the cells, by their numbers in the cluster.
            cells: the cells.
            verb: the verb of messages, such as "reads".
            names: the instructions that must be complete.
            mma_or_cp: name and shape (see `_MmaOrCp`) if an mma or a cp accesses them.
            fenced: whether `tcgen05.fence` is needed next to the synchronisation.
        """
        index = cells.lanes, cells.columns
        for array, access in ((self.mma_writes, "write"), (self.mma_reads, "read")):
            if access == "read" and "ld" not in names:
                continue  # two reads need no order
            for number in _numbers(array[index]):
                issued = self._issued[number - 1]
                missing = self._missing_after_mma(issued, threads, fenced)
                if missing and not (
                    mma_or_cp and self._is_pipelined(number, access, int(threads[0]), *mma_or_cp)
                ):
                    where = format_location(self._cta.kernel.locations[issued.op])
                    earlier = f"the tcgen05.{issued.name} at {where} may still {access}"
                    self._report(convergent, verb, cells, earlier, missing)
        for name, array in (("st", self.st_writes), ("ld", self.ld_reads)):
            for number in _numbers(array[index]) if name in names else ():
                transfer = self._transfers[number - 1]
                missing = self._missing_after_transfer(transfer, threads, fenced)
                if missing:
                    where = format_location(self._cta.kernel.locations[transfer.op])
                    access = "read" if name == "ld" else "write"
                    earlier = (
                        f"the tcgen05.{name} of warp {transfer.warp} at {where} may still {access}"
                    )
                    self._report(convergent, verb, cells, earlier, missing)

    def _report(
        self,
        convergent: ConvergentThreads,
        verb: str,
        cells: TensorMemoryCells,
        earlier: str,
        missing: str,
    ) -> None:
        kind = (
            ViolationKind.OVERWRITTEN
            if earlier.endswith("read")
            else ViolationKind.TENSOR_MEMORY_IN_FLIGHT
        )
        self._cta.report_at(
            convergent,
            kind,
            f"{verb} {cells} of tensor memory{self._cta.label}, which {earlier}: {missing}",
        )

    def _is_pipelined(
        self, number: int, access: str, thread: int, name: str, shape: tuple[int, ...]
    ) -> bool:
        """Whether an mma or a cp executes after an earlier one by the implicit pipeline (9.7.16.6.2):
        both are of one thread, or the later thread has synchronised with the earlier.

        An mma executes after an mma of the same shape, and after every cp. A cp executes after the
        reads of an mma, and so after a cp before that mma. The ISA does not list the latter; main loops
        of CUTLASS
        rely on it: they copy the scale factors of the next K block over those of the last.

        Args:
            number: of the earlier instruction.
            access: its access to the cells, "write" or "read".
            thread: the thread that issues the later one, by its number in the cluster.
            name, shape: of the later instruction.
        """
        issued, after = self._issued[number - 1], self._tcgen05_clocks.after
        if issued.thread != thread and issued.epoch > after[thread, issued.thread]:
            return False
        if name == "mma":
            return issued.name == "cp" or issued.shape == shape
        return access == "read" or (issued.name == "cp" and number < self._last_mma.get(thread, 0))

    def _missing_after_mma(self, issued: _MmaOrCp, threads: np.ndarray, fenced: bool) -> str | None:
        """Describe the synchronisation that is missing between an mma or a cp and an access; None if
        none."""
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
        """Describe the synchronisation that is missing between an ld or st and an access; None if
        none."""
        if transfer.waited[0] == NEVER:
            return f"tcgen05.wait::{transfer.name} is missing after it"
        of_warp = self._threads(transfer.warp)
        if np.isin(threads, of_warp).all():
            return None
        # The wait is of the whole warp, so synchronising with any of its threads is enough.
        seen = self._clocks.seen[threads][:, of_warp]
        if not (transfer.waited <= seen).any(axis=1).all():
            barrier = self._cta.shadow.describe_barrier(threads)
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
    """Return the numbers of the instructions in an array of cells."""
    if of_cells.min() == of_cells.max():
        of_cells = of_cells[:1, :1]  # usually, one instruction accessed them all
    numbers = np.unique(of_cells)
    return numbers[numbers > 0]
