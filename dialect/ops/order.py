"""`smem.order_wait`, `smem.order_arrive`: the warpgroups of a partition take turns."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op
from ..build import create
from ..builder import builder
from ..effects import Effects, Scope
from ..op import SmemOp
from ..verifier import verifier
from .warp_specialize import ElectOp, PartitionOp


class OrderWaitOp(SmemOp, name="order_wait"):
    """Waits for the turn of the warpgroup.

    The warpgroups of an `smem.partition` take turns in the order of their indices, and after the last one
    comes the first one again. A turn ends with the next `smem.order_arrive` of the block. Within a turn a
    warpgroup does not wait for others: no wait for a pipeline, no barrier of several warpgroups, no loop,
    and no branch but `smem.elect`. All warpgroups of the partition take as many turns. The order says
    nothing about memory; it decides whose mma run first, so that one warpgroup computes in registers or
    stores while the mma of another one run.
    """

    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        _check_warpgroups(self)


class OrderArriveOp(SmemOp, name="order_arrive"):
    """Ends the turn of the warpgroup that `smem.order_wait` of its block began: the next one's begins."""

    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        _check_warpgroups(self)


def _check_warpgroups(op: Op) -> None:
    """Check that whole warpgroups of a partition execute an op.

    Raises:
        Invalid: if they do not.
    """
    outer = op.operation.parent
    while outer is not None and outer.operation.name != PartitionOp.OPERATION_NAME:
        if outer.operation.name == ElectOp.OPERATION_NAME:
            raise Invalid("is in an smem.elect; all threads of a warpgroup execute it")
        outer = outer.operation.parent
    if outer is None:
        raise Invalid("is in no smem.partition, whose warpgroups take turns")


@builder
def order_wait() -> None:
    """Build an `smem.order_wait`.

    Example:
        >>> smem.warp_specialize((2, None, lambda _: (smem.order_wait(), smem.order_arrive())))
    """
    create(OrderWaitOp)


@builder
def order_arrive() -> None:
    """Build an `smem.order_arrive`.

    Example:
        >>> smem.warp_specialize((2, None, lambda _: (smem.order_wait(), smem.order_arrive())))
    """
    create(OrderArriveOp)
