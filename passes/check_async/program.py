"""A function as the interpreter sees it: steps, with integers numbered."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .integers import Integer
from .regions import Place


@dataclass(eq=False)
class Block:
    """Steps, and the integers that its terminator hands on.

    Attributes:
        accesses: whether anything in it, however deep, accesses tiles, or memory that tiles show.
        synchronizes: whether anything in it accesses tiles or orders accesses; ops of other dialects
            that access the memory of tiles do not count.
    """

    steps: list[Any] = field(default_factory=list)
    yields: tuple[int, ...] = ()
    accesses: bool = False
    synchronizes: bool = False


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
        is_truth: whether it is a truth value.
    """

    result: int
    possible: int | None = None
    is_truth: bool = False


@dataclass(frozen=True, eq=False)
class Copy:
    """A write of a tile by the threads, such as `smem.copy`, `smem.copy_async` or `smem.store`, or of
    memory that tiles show, such as `memref.store`."""

    op: Any
    place: Place
    asynchronous: bool


@dataclass(frozen=True, eq=False)
class Commit:
    """`smem.copy_commit`."""


@dataclass(frozen=True, eq=False)
class CopyWait:
    """`smem.copy_wait`."""

    pending: int


@dataclass(frozen=True, eq=False)
class Fence:
    """`smem.fence`."""


@dataclass(frozen=True, eq=False)
class Barrier:
    """A barrier of the whole block."""


@dataclass(frozen=True, eq=False)
class Mma:
    """`smem.mma` and its like."""

    op: Any
    places: tuple[Place, ...]


@dataclass(frozen=True, eq=False)
class Define:
    """A write of registers that an mma reads, by the op that defines them."""

    op: Any
    place: Place


@dataclass(frozen=True, eq=False)
class Load:
    """A read of tiles by the threads' own loads, such as `smem.load` or `smem.copy` of a tile, or of
    memory that tiles show, such as `memref.load`."""

    op: Any
    places: tuple[Place, ...]


@dataclass(frozen=True, eq=False)
class Wait:
    """`smem.wait`."""

    pending: int


@dataclass(frozen=True, eq=False)
class Other:
    """An op that may order accesses in a way that we do not know."""

    op: Any


@dataclass(frozen=True, eq=False)
class If:
    """`scf.if`; an `else` that is not there is an empty block."""

    op: Any
    condition: int
    branches: tuple[Block, Block]
    results: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class For:
    """`scf.for`."""

    op: Any
    bounds: tuple[int, int, int]
    initial: tuple[int, ...]
    induction: int
    carried: tuple[int, ...]
    body: Block
    results: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Opaque:
    """An op with accesses that we do not follow, and why not."""

    op: Any
    reason: str


@dataclass(frozen=True, eq=False)
class Program:
    """A function.

    Attributes:
        body: its first block.
        unknown: views of whose memory not everything is known, with the reason.
        copies, readers: all accesses, wherever they are.
        modulus: what rests of the loops' integers are kept by.
        bound: up to where they are kept exactly.
        furthest: one more than the largest number of groups that a wait leaves pending.
        multiple: what sizes are promised to be multiples of.
    """

    body: Block
    copies: tuple[Copy, ...]
    readers: tuple[Mma | Load, ...]
    unknown: dict[Any, str]
    modulus: int
    bound: int
    furthest: int
    multiple: int
