"""The program that the interpreter runs for a function: steps, with numbered integers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from ...dialect.irtypes import Op
from .integers import Integer
from .rectangles import SymbolicRectangle


@dataclass(eq=False)
class Block:
    """The steps of a block, and the integers that its terminator yields.

    Attributes:
        by_op: the ops of the block, each with its steps.
        accesses: whether a step in it, at any depth, accesses tiles, or memory that tiles view.
        synchronizes: whether a step in it accesses tiles or orders accesses, without those of other
            dialects' ops to the memory of tiles.
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
class Let:
    """An integer computed from others."""

    result: int
    compute: Callable[..., Integer]
    operands: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Given:
    """An integer that is the same for all threads.

    Attributes:
        possible: a value that it has in some run; None if it may have any.
        is_bool: whether it is an `i1`.
    """

    result: int
    possible: int | None = None
    is_bool: bool = False


@dataclass(frozen=True, eq=False)
class Copy:
    """A write of a tile by the threads, such as `smem.copy`, `smem.copy_async` or `smem.store`, or of
    memory that tiles view, such as `memref.store`."""

    op: Op
    target: SymbolicRectangle
    asynchronous: bool


@dataclass(frozen=True, eq=False)
class Commit:
    """`smem.copy_commit`."""


@dataclass(eq=False)
class CopyWait:
    """`smem.copy_wait`."""

    pending: int


@dataclass(frozen=True, eq=False)
class Fence:
    """`smem.fence`."""


@dataclass(frozen=True, eq=False)
class Barrier:
    """A barrier of the whole CTA."""


@dataclass(frozen=True, eq=False)
class Mma:
    """`smem.mma`, or another op that reads tiles as an mma."""

    op: Op
    sources: tuple[SymbolicRectangle, ...]


@dataclass(frozen=True, eq=False)
class Define:
    """A write of registers that an mma reads, by the op that defines them."""

    op: Op
    target: SymbolicRectangle


@dataclass(frozen=True, eq=False)
class Load:
    """A read of tiles by the threads' own loads, such as `smem.load` or `smem.copy` of a tile, or of
    memory that tiles view, such as `memref.load`."""

    op: Op
    sources: tuple[SymbolicRectangle, ...]


@dataclass(eq=False)
class Wait:
    """`smem.wait`."""

    pending: int


@dataclass(frozen=True, eq=False)
class Other:
    """An op that may order accesses in an unknown way."""

    op: Op


@dataclass(frozen=True, eq=False)
class If:
    """`scf.if`; a missing `else` is an empty block."""

    op: Op
    condition: int
    branches: tuple[Block, Block]
    results: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class For:
    """`scf.for`."""

    op: Op
    bounds: tuple[int, int, int]
    initial: tuple[int, ...]
    induction: int
    carried: tuple[int, ...]
    body: Block
    results: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Opaque:
    """An op with accesses that are not followed, and the reason."""

    op: Op
    reason: str


Step = (
    Let
    | Given
    | Copy
    | Commit
    | CopyWait
    | Fence
    | Barrier
    | Mma
    | Define
    | Load
    | Wait
    | Other
    | If
    | For
    | Opaque
)


@dataclass(frozen=True, eq=False)
class Program:
    """A function.

    Attributes:
        body: its first block.
        copies, readers: all accesses, at any depth.
        unknown: views of whose memory not everything is known, with the reason.
        modulus: integers that loops carry are widened to residues modulo this.
        bound: up to this they are kept exactly.
        furthest: one more than the largest number of groups that a wait leaves pending.
        multiple: the kernel is called with sizes that are multiples of this.
    """

    body: Block
    copies: tuple[Copy, ...]
    readers: tuple[Mma | Load, ...]
    unknown: dict[Op, str]
    modulus: int
    bound: int
    furthest: int
    multiple: int
