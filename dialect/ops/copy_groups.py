"""Groups of asynchronous copies (`cp.async`, TMA stores): ops that close them, and that wait for them."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ..build import create
from ..builder import builder
from ..effects import Completion, Effects
from ..op import SmemOp
from ..optional_attributes import has_unit_attribute
from ..verifier import verifier


class CopyCommitOp(SmemOp, name="copy_commit"):
    """Closes a group of the copies that the thread has started since its last group; it can be empty."""

    effects = Effects(commits=Completion.CP_ASYNC_GROUP)


class CopyWaitOp(SmemOp, name="copy_wait"):
    """Waits until at most the `pending` latest groups of the thread's asynchronous copies are unfinished
    (`cp.async.wait_group`)."""

    pending: ir.IntegerAttr

    i32 = ("pending",)
    effects = Effects(awaits=Completion.CP_ASYNC_GROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        _check_groups(self)


class TmaCommitOp(SmemOp, name="tma_commit"):
    """Closes a group of the bulk stores that the thread has started since its last group
    (`cp.async.bulk.commit_group`)."""

    effects = Effects(commits=Completion.BULK_GROUP)


class TmaWaitOp(SmemOp, name="tma_wait"):
    """Waits until at most the `pending` latest groups of the thread's bulk stores are unfinished
    (`cp.async.bulk.wait_group`).

    With the unit attribute `read`, it waits only until the tiles have been read, so that they can be
    overwritten; the stored data may not be visible yet.
    """

    pending: ir.IntegerAttr

    i32 = ("pending",)
    effects = Effects(awaits=Completion.BULK_GROUP)

    @property
    def read(self) -> bool:
        """Whether it waits only until the tiles have been read.

        Raises:
            Invalid: if the attribute has a value.
        """
        return has_unit_attribute(self, "read")

    @verifier
    def verify_region_invariants(self) -> None:
        _check_groups(self)
        for name in self.attributes:
            if name not in ("pending", "read") and "." not in name:
                raise Invalid(f"has the attribute {name}; expected pending or read")
        _ = self.read


def _check_groups(wait: Op) -> None:
    """Check the number of pending groups of a wait.

    Raises:
        Invalid: if it is negative.
    """
    pending = wait.pending.value
    if pending < 0:
        raise Invalid(f"has pending = {pending}; expected 0 or more groups")


@builder
def copy_commit() -> None:
    """Build an `smem.copy_commit`: close the group of copies started since the last one.

    Example:
        >>> smem.copy_async(A, a)
        >>> smem.copy_async(B, b)
        >>> smem.copy_commit()  # one group of both
    """
    create(CopyCommitOp)


@builder
def copy_wait(pending: int = 0) -> None:
    """Build an `smem.copy_wait` for all but the latest `pending` groups of copies.

    Example:
        >>> smem.copy_wait(pending=1)  # all groups but the latest
    """
    create(CopyWaitOp, pending=pending)


@builder
def tma_commit() -> None:
    """Build an `smem.tma_commit`: close the group of bulk stores started since the last one.

    Example:
        >>> smem.tma_store(a, A, (0, 0))
        >>> smem.tma_commit()
    """
    create(TmaCommitOp)


@builder
def tma_wait(pending: int = 0, read: bool = False) -> None:
    """Build an `smem.tma_wait` for all but the latest `pending` groups, or until their tiles are read.

    Example:
        >>> smem.tma_wait(read=True)  # the tiles of all stores can be overwritten
    """
    create(TmaWaitOp, pending=pending, read=read)
