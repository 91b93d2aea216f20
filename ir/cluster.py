"""The thread block clusters of a kernel."""

from dataclasses import dataclass

from ..bindings.irtypes import Op, Value
from ..bindings.mlir import ir
from ..dialect.ops import TmaLoadOp
from ..dialect.ops.pipeline import pipeline_of
from ..dialect.ops.tma import CLUSTER_DIMS
from . import emit
from .errors import OpError
from .i32 import I32
from .kernel import extents_of, function_of, returns_of

#: CTAs that a cluster can have on Hopper and Blackwell. More than 8 are not portable, and a launch must
#: allow them (CUDA programming guide, "thread block clusters").
MAX_BLOCKS = 16

#: The attribute of a gpu.func for the cluster size, and its forms after lowering.
_ATTRIBUTES = ("known_cluster_size", "gpu.known_cluster_size", "nvvm.cluster_dim")


def cluster_size(function: Op) -> tuple[int, int, int]:
    """Return the CTAs of a kernel's clusters along x, y and z; (1, 1, 1) without the attribute.

    Raises:
        OpError: if the attribute is malformed, or no GPU runs such a cluster.
    """
    x, y, z = extents_of(function, *_ATTRIBUTES) or (1, 1, 1)
    if min(x, y, z) < 1 or x * y * z > MAX_BLOCKS:
        raise OpError(
            function, f"has clusters of {x}x{y}x{z} CTAs; expected 1 to {MAX_BLOCKS} CTAs"
        )
    return x, y, z


def check_clusters(mma: Op) -> None:
    """Check that the kernel of an mma with `pair` has clusters of CTA pairs.

    Raises:
        OpError: if it has not.
    """
    size = cluster_size(function_of(mma))
    if size[0] % 2:
        raise OpError(
            mma,
            f"has pair, but the kernel has clusters of {'x'.join(map(str, size))} CTAs; expected an "
            "even number along x: known_cluster_size = array<i32: 2, 1, 1>",
        )


def ctas_along(load: Op, dim: str | None) -> int:
    """Return the number of CTAs that share an `smem.tma_load` with `multicast = dim`; 1 for None.

    Raises:
        OpError: if the kernel has no clusters along the dimension, or has clusters along z.
    """
    if dim is None:
        return 1
    size = cluster_size(function_of(load))
    count = size[CLUSTER_DIMS.index(dim)]
    if count == 1:
        raise OpError(
            load,
            f'has multicast = "{dim}", but the kernel has clusters of {"x".join(map(str, size))} '
            "CTAs; set known_cluster_size = array<i32: x, y, z> on it",
        )
    if size[2] != 1:
        raise OpError(
            load,
            f"is in a kernel with clusters of {'x'.join(map(str, size))} CTAs; CTAs share loads "
            "in clusters along x and y",
        )
    return count


@dataclass(frozen=True)
class Peers:
    """The CTAs of a cluster that share loads with a CTA, itself included.

    Attributes:
        x, y: CTAs of the cluster along x and y.
        shared: the dimensions along which loads are shared.
    """

    x: int
    y: int
    shared: frozenset[str]

    @property
    def count(self) -> int:
        """Their number: the CTA's row of the cluster, its column, or both."""
        along = {"x": self.x, "y": self.y}
        return 1 + sum(along[dim] - 1 for dim in self.shared)

    def rank(self, number: I32) -> I32:
        """Return the rank in the cluster of one of them, by its number from 0 to `count` - 1."""
        if self.shared == {"x"}:
            return number + cta_rank("y") * self.x if self.y > 1 else number
        if self.shared == {"y"}:
            return number * self.x + cta_rank("x") if self.x > 1 else number
        # First the CTAs of the row, then those of the column except for the one in the row.
        x, y = cta_rank("x"), cta_rank("y")
        in_row = emit.compare("ult", number.value, self.x)
        in_column = I32(emit.binary("subi", number.value, self.x))
        skipped = I32(emit.select(emit.compare("uge", in_column.value, y.value), 1, 0))
        row, column = number + y * self.x, (in_column + skipped) * self.x + x
        return I32(emit.select(in_row, row.value, column.value))


def cta_rank(dim: str) -> I32:
    """Return the CTA's index in its cluster along x or y."""
    return I32(emit.value(f"nvvm.read.ptx.sreg.cluster.ctaid.{dim}", (), emit.i32()))


def peers_of(pipeline: Op) -> Peers:
    """Return the CTAs that share loads of a pipeline.

    Raises:
        OpError: if loads are shared along a dimension along which the kernel has no clusters.
    """
    shared = set()
    for use in pipeline.pipeline.uses:
        op = use.owner
        if isinstance(op, TmaLoadOp) and (dim := op.multicast) is not None:
            ctas_along(op, dim)
            shared.add(dim)
    x, y, _ = cluster_size(function_of(pipeline))
    return Peers(x, y, frozenset(shared))


def cluster_barrier() -> None:
    """Emit a barrier of all threads of the cluster."""
    for name in ("nvvm.cluster.arrive", "nvvm.cluster.wait"):
        emit.op(name, aligned=ir.UnitAttr.get())


def wait_at_end(function: Op) -> None:
    """Emit a cluster barrier at the end: a CTA must not exit while others can write its shared memory."""
    for op in returns_of(function):
        ops = op.operation.block.operations
        previous = ops[len(ops) - 2].operation if len(ops) > 1 else None
        if previous is None or previous.name != "nvvm.cluster.wait":
            with ir.InsertionPoint(op), op.location:
                cluster_barrier()


def multicast_mask(load: Op, dim: str) -> Value:
    """Return the mask of the CTAs to which a CTA's load is multicast (i16)."""
    peers = peers_of(pipeline_of(load))
    if dim == "x":
        bits, shift = (1 << peers.x) - 1, cta_rank("y") * peers.x if peers.y > 1 else None
    else:
        bits, shift = sum(1 << i * peers.x for i in range(peers.y)), cta_rank("x")
        shift = shift if peers.x > 1 else None
    mask = emit.constant(bits, emit.i32())
    if shift is not None:
        mask = emit.binary("shli", mask, shift.value)
    return emit.value("arith.trunci", (mask,), ir.IntegerType.get_signless(16))
