"""Memory effects and synchronization of ops: each op class declares them as `effects`."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from typing import NamedTuple

from ..bindings.irtypes import Op, Value


class Scope(IntEnum):
    """Threads that execute an op together or wait for each other; each scope contains the previous
    ones."""

    THREAD = 0
    WARP = 1
    WARPGROUP = 2
    CTA = 3
    CLUSTER = 4


class Proxy(Enum):
    """The proxy through which memory is accessed (PTX ISA 8.6, "proxies")."""

    GENERIC = "generic"
    ASYNC = "async"


class Completion(Enum):
    """The event that completes an access."""

    #: The op itself: the access is complete when the op is.
    AT_ONCE = "at once"
    #: A wait for the thread's groups of `cp.async`.
    CP_ASYNC_GROUP = "cp.async group"
    #: A wait for the thread's groups of bulk copies.
    BULK_GROUP = "bulk group"
    #: A wait for a phase of an mbarrier.
    MBARRIER = "mbarrier"
    #: A wait for the warpgroup's mma groups; each mma is one group.
    WGMMA_GROUP = "wgmma group"


@dataclass(frozen=True)
class Access:
    """The access of an op to the memory of one operand, a tile or a memref.

    Attributes:
        operand: the operand's name.
        writes: whether the access is a write; else it is a read.
        proxy: the proxy.
        completion: the event that completes the access.
    """

    operand: str
    writes: bool
    proxy: Proxy = Proxy.GENERIC
    completion: Completion = Completion.AT_ONCE


def read(
    operand: str, proxy: Proxy = Proxy.GENERIC, completion: Completion = Completion.AT_ONCE
) -> Access:
    """Return a read of the memory of an operand."""
    return Access(operand, False, proxy, completion)


def write(
    operand: str, proxy: Proxy = Proxy.GENERIC, completion: Completion = Completion.AT_ONCE
) -> Access:
    """Return a write of the memory of an operand."""
    return Access(operand, True, proxy, completion)


@dataclass(frozen=True)
class Effects:
    """Memory accesses and synchronization of an op.

    An op with several of these performs them in this order: wait, accesses, commit, fence, barrier.

    Attributes:
        scope: the threads that execute the op together: all of them or none.
        accesses: the memory accesses.
        commits: the completion of the accesses that it commits: it closes their group, or arrives on the
            mbarrier of their stage.
        awaits: the completion of the accesses that it waits for; all but the `pending` latest groups if
            the op has that attribute.
        fences: whether it orders the thread's generic accesses before async-proxy accesses.
        barrier: the threads that wait for each other at the op.
        allocates: whether it allocates dynamic shared memory, `shared_bytes` bytes.
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
        """Whether the op orders accesses."""
        return bool(self.commits or self.awaits or self.fences or self.barrier)

    @cached_property
    def completion(self) -> Completion:
        """The event that completes the op's accesses; that of the asynchronous ones if there are any."""
        asynchronous = {access.completion for access in self.accesses} - {Completion.AT_ONCE}
        return asynchronous.pop() if asynchronous else Completion.AT_ONCE


class Accessed(NamedTuple):
    """A value whose memory an op accesses, and the access."""

    value: Value
    access: Access


def declared_accesses(op: Op) -> Iterator[Accessed]:
    """Yield the values whose memory an op view accesses, in the order of its `effects`; absent optional
    operands are skipped."""
    for access in op.effects.accesses:
        value = getattr(op, access.operand)
        if value is not None:
            yield Accessed(value, access)
