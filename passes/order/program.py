"""The step program of a function: accesses, synchronization and control flow, with numbered integers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ...bindings.irtypes import Op
from .integers import Integer
from .rectangles import SymbolicRectangle


@dataclass(eq=False)
class StepBlock:
    """The steps of a block, and the integers that its terminator yields.

    Attributes:
        by_op: the ops of the block, each with its steps.
        accesses: whether a step in it, at any depth, accesses tiles, or memory that tiles view.
        synchronizes: whether a step in it, at any depth, accesses tiles or orders accesses; accesses by
            ops of other dialects do not count.
    """

    by_op: list[tuple[Op, list["Step"]]] = field(default_factory=list)
    yields: tuple[int, ...] = ()
    accesses: bool = False
    synchronizes: bool = False

    @cached_property
    def steps(self) -> list["Step"]:
        """The steps, in their order."""
        return [step for _, steps in self.by_op for step in steps]


@dataclass(frozen=True, eq=False)
class ComputedInteger:
    """An integer computed from others."""

    result: int
    compute: Callable[..., Integer]
    operands: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LaunchInteger:
    """An integer that the launch decides: it is the same for all threads.

    Attributes:
        possible: a value that it has in some run; None if it may have any.
        is_bool: whether it is an `i1`.
    """

    result: int
    possible: int | None = None
    is_bool: bool = False


class Elected(NamedTuple):
    """The threads that an `smem.elect` selects: one of each warpgroup, or of the CTA.

    Attributes:
        scope: "warpgroup" or "cta".
        warp: the index of their warp.
    """

    scope: str
    warp: int


@dataclass(frozen=True, eq=False)
class MemoryWrite:
    """A write of a tile by threads, such as `smem.copy`, `smem.copy_async` or `smem.store`, or of
    memory that tiles view, such as `memref.store`; or a bulk copy to an array in global memory.

    Attributes:
        asynchronous: whether it completes by a group of copies.
        threads: those that start a bulk copy; None for other writes.
    """

    op: Op
    target: SymbolicRectangle
    asynchronous: bool
    threads: Elected | None = None


@dataclass(frozen=True, eq=False)
class CopyCommit:
    """`smem.copy_commit`."""


@dataclass(eq=False)
class CopyWait:
    """`smem.copy_wait`."""

    pending: int


@dataclass(frozen=True, eq=False)
class Fence:
    """`smem.fence`."""


@dataclass(frozen=True, eq=False)
class CtaBarrier:
    """A barrier of the whole CTA."""


@dataclass(frozen=True, eq=False)
class MmaRead:
    """`smem.mma`, or another op that reads tiles as an mma."""

    op: Op
    sources: tuple[SymbolicRectangle, ...]


@dataclass(frozen=True, eq=False)
class BulkRead:
    """A read of tiles by a bulk copy to global memory, such as `smem.tma_store`.

    Attributes:
        threads: those that start it.
    """

    op: Op
    sources: tuple[SymbolicRectangle, ...]
    threads: Elected


@dataclass(frozen=True, eq=False)
class BulkCommit:
    """`smem.tma_commit`.

    Attributes:
        threads: those that execute it; None if all do.
    """

    threads: Elected | None


@dataclass(eq=False)
class BulkWait:
    """`smem.tma_wait`.

    Attributes:
        threads: those that execute it; None if all do.
        of_reads: whether it waits only until tiles have been read.
    """

    pending: int
    threads: Elected | None
    of_reads: bool


@dataclass(frozen=True, eq=False)
class KernelEnd:
    """The end of a kernel: bulk stores must have read their tiles.

    Attributes:
        op: the function.
        sources: all tiles that they read.
    """

    op: Op
    sources: tuple[SymbolicRectangle, ...]


@dataclass(frozen=True, eq=False)
class RegisterWrite:
    """A write of registers that an mma reads."""

    op: Op
    target: SymbolicRectangle


@dataclass(frozen=True, eq=False)
class ThreadRead:
    """A read of tiles by threads, such as `smem.load` or `smem.copy` of a tile, or of memory that tiles
    view, such as `memref.load`."""

    op: Op
    sources: tuple[SymbolicRectangle, ...]


@dataclass(eq=False)
class MmaWait:
    """`smem.wait`."""

    pending: int


@dataclass(frozen=True, eq=False)
class UnknownEffects:
    """An op with unknown effects: it may order accesses."""

    op: Op


@dataclass(frozen=True, eq=False)
class ElectRegion:
    """`smem.elect`."""

    op: Op
    body: StepBlock


@dataclass(frozen=True, eq=False)
class IfRegion:
    """`scf.if`; a missing `else` is an empty block."""

    op: Op
    condition: int
    branches: tuple[StepBlock, StepBlock]
    results: tuple[int, ...]


#: Loops whose iterations are followed.
LOOPS = ("scf.for", "scf.while")


@dataclass(frozen=True, eq=False)
class ForRegion:
    """`scf.for`."""

    op: Op
    bounds: tuple[int, int, int]
    initial: tuple[int, ...]
    induction: int
    carried: tuple[int, ...]
    body: StepBlock
    results: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class WhileRegion:
    """`scf.while`: `before`, which yields what it forwards, a condition, and `after`."""

    op: Op
    initial: tuple[int, ...]
    carried: tuple[int, ...]
    before: StepBlock
    condition: int
    forwarded: tuple[int, ...]
    after: StepBlock
    results: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Opaque:
    """An op with accesses that are not followed, and the reason."""

    op: Op
    reason: str


Step = (
    ComputedInteger
    | LaunchInteger
    | MemoryWrite
    | CopyCommit
    | CopyWait
    | Fence
    | CtaBarrier
    | MmaRead
    | RegisterWrite
    | ThreadRead
    | MmaWait
    | BulkRead
    | BulkCommit
    | BulkWait
    | KernelEnd
    | UnknownEffects
    | ElectRegion
    | IfRegion
    | ForRegion
    | WhileRegion
    | Opaque
)


@dataclass(frozen=True, eq=False)
class StepProgram:
    """The step program of a function.

    Attributes:
        body: its first block.
        copies, readers: all writes and reads, at any depth.
        unknown: views of whose memory not everything is known, with the reason.
        relevant: the integers on which bytes of tiles, branches and loops depend.
        modulus: integers that loops carry are widened to residues modulo this.
        bound: up to this they are exact.
        furthest: one more than the largest number of groups that a wait leaves pending.
        multiple: the kernel is called with sizes that are multiples of this.
    """

    body: StepBlock
    copies: tuple[MemoryWrite, ...]
    readers: tuple[MmaRead | ThreadRead | BulkRead, ...]
    unknown: dict[Op, str]
    relevant: frozenset[int]
    modulus: int
    bound: int
    furthest: int
    multiple: int
