"""What ops read, write and order. Each op class declares it once, as `effects`; passes ask the op."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from typing import Any, NamedTuple


class Scope(IntEnum):
    """Threads that execute an op together, or that wait for each other; each scope holds those before."""

    THREAD = 0
    WARP = 1
    WARPGROUP = 2
    BLOCK = 3
    CLUSTER = 4


class Proxy(Enum):
    """The way by which memory is accessed (PTX ISA 8.6, "proxies")."""

    GENERIC = "generic"
    ASYNC = "async"


class Completion(Enum):
    """What tells that an access is over."""

    #: The op itself: it is over when the op is.
    AT_ONCE = "at once"
    #: A wait for the thread's groups of `cp.async`.
    CP_ASYNC_GROUP = "cp.async group"
    #: A wait for the thread's groups of bulk copies.
    BULK_GROUP = "bulk group"
    #: A wait for a phase of an mbarrier.
    MBARRIER = "mbarrier"
    #: A wait for the warpgroup's groups of mma; each mma is one.
    WGMMA_GROUP = "wgmma group"


@dataclass(frozen=True)
class Access:
    """What an op does with the memory behind one of its operands, a tile or a memref.

    Attributes:
        operand: the operand's name.
        writes: whether it writes the memory; else it reads it.
        proxy: by which way.
        completion: what tells that it is over.
    """

    operand: str
    writes: bool
    proxy: Proxy = Proxy.GENERIC
    completion: Completion = Completion.AT_ONCE


def read(
    operand: str, proxy: Proxy = Proxy.GENERIC, completion: Completion = Completion.AT_ONCE
) -> Access:
    """The op reads the memory behind an operand."""
    return Access(operand, False, proxy, completion)


def write(
    operand: str, proxy: Proxy = Proxy.GENERIC, completion: Completion = Completion.AT_ONCE
) -> Access:
    """The op writes the memory behind an operand."""
    return Access(operand, True, proxy, completion)


@dataclass(frozen=True)
class Effects:
    """What an op does beside computing.

    An op that does several of these does them in this order: it awaits, accesses, commits, fences, and
    comes to its barrier.

    Attributes:
        scope: the threads that execute it together: all of them or none.
        accesses: what it does with memory.
        commits: the accesses of which it closes a group, or whose stage it hands on.
        awaits: the accesses that it waits for; all but its `pending` latest groups, if it has that.
        fences: whether it orders the thread's generic accesses before asynchronous ones.
        barrier: the threads that wait for each other in it.
        allocates: whether it keeps bytes of dynamic shared memory, as many as its `shared_bytes` says.
    """

    scope: Scope = Scope.THREAD
    accesses: tuple[Access, ...] = ()
    commits: Completion | None = None
    awaits: Completion | None = None
    fences: bool = False
    barrier: Scope | None = None
    allocates: bool = False

    @cached_property
    def orders(self) -> bool:
        """Whether it puts accesses in order."""
        return bool(self.commits or self.awaits or self.fences or self.barrier)

    @cached_property
    def completion(self) -> Completion:
        """What tells that the op's accesses are over: that of its asynchronous ones, if it has any."""
        found = {access.completion for access in self.accesses} - {Completion.AT_ONCE}
        return found.pop() if found else Completion.AT_ONCE


class Accessed(NamedTuple):
    """A value that an op accesses, and how."""

    value: Any
    access: Access


def accessed(op: Any) -> Iterator[Accessed]:
    """The values that an op view accesses, in the order in which its class declares them; optional
    operands that are not there are left out."""
    for access in op.effects.accesses:
        value = getattr(op, access.operand)
        if value is not None:
            yield Accessed(value, access)
