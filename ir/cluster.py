"""The cluster of blocks that a kernel is launched in."""

from dataclasses import dataclass
from typing import Any

from ..dialect.bindings import ir
from ..dialect.ops import TmaLoadOp
from ..dialect.ops.pipeline import pipeline_of
from ..dialect.ops.tma import CLUSTER_DIMS
from . import emit
from .errors import OpError
from .i32 import I32
from .kernel import extents_of, function_of, returns_of

#: Blocks that a cluster can have on every GPU of the architecture (CUDA programming guide, "thread
#: block clusters").
MAX_BLOCKS = 8

#: The attribute of a gpu.func, and what it becomes.
_ATTRIBUTES = ("known_cluster_size", "gpu.known_cluster_size", "nvvm.cluster_dim")


def cluster_size(function: Any) -> tuple[int, int, int]:
    """Blocks of a function's clusters along x, y and z; (1, 1, 1) if nothing is said.

    Raises:
        OpError: if the attribute is not of that form, or no GPU runs such a cluster.
    """
    x, y, z = extents_of(function, *_ATTRIBUTES) or (1, 1, 1)
    if min(x, y, z) < 1 or x * y * z > MAX_BLOCKS:
        raise OpError(
            function, f"has clusters of {x}x{y}x{z} blocks; expected 1 to {MAX_BLOCKS} blocks"
        )
    return x, y, z


def check_clusters(product: Any) -> None:
    """Checks that the clusters around a product of pairs of blocks are made of pairs.

    Raises:
        OpError: if they are not.
    """
    size = cluster_size(function_of(product))
    if size[0] % 2:
        raise OpError(
            product,
            f"has pair, but the kernel has clusters of {'x'.join(map(str, size))} blocks; expected an "
            "even number along x: known_cluster_size = array<i32: 2, 1, 1>",
        )


def blocks_along(load: Any, dim: str | None) -> int:
    """How many blocks share an `smem.tma_load` whose `multicast` is `dim`.

    Raises:
        OpError: if the kernel has no clusters along it, or clusters that pipelines do not know.
    """
    if dim is None:
        return 1
    size = cluster_size(function_of(load))
    count = size[CLUSTER_DIMS.index(dim)]
    if count == 1:
        raise OpError(
            load,
            f'has multicast = "{dim}", but the kernel has clusters of {"x".join(map(str, size))} '
            "blocks; set known_cluster_size = array<i32: x, y, z> on it",
        )
    if size[2] != 1:
        raise OpError(
            load,
            f"is in a kernel with clusters of {'x'.join(map(str, size))} blocks; blocks share loads "
            "in clusters along x and y",
        )
    return count


@dataclass(frozen=True)
class Peers:
    """The blocks that share loads with a block, itself among them.

    Attributes:
        x, y: blocks of the cluster along x and y.
        shared: the dimensions along which loads are shared.
    """

    x: int
    y: int
    shared: frozenset[str]

    @property
    def count(self) -> int:
        """How many they are: the block's row of the cluster, its column, or both."""
        along = {"x": self.x, "y": self.y}
        return 1 + sum(along[dim] - 1 for dim in self.shared)

    def rank(self, which: I32) -> I32:
        """The rank in the cluster of one of them, by its number from 0 to `count`."""
        if self.shared == {"x"}:
            return which + block_rank("y") * self.x if self.y > 1 else which
        if self.shared == {"y"}:
            return which * self.x + block_rank("x") if self.x > 1 else which
        # The row's blocks come first, then those of the column but the row's own.
        x, y = block_rank("x"), block_rank("y")
        in_row = emit.compare("ult", which.value, self.x)
        further = I32(emit.binary("subi", which.value, self.x))
        skipped = I32(emit.select(emit.compare("uge", further.value, y.value), 1, 0))
        row, column = which + y * self.x, (further + skipped) * self.x + x
        return I32(emit.select(in_row, row.value, column.value))


def block_rank(dim: str) -> I32:
    """The block's index in its cluster along x or y."""
    return I32(emit.value(f"nvvm.read.ptx.sreg.cluster.ctaid.{dim}", (), emit.i32()))


def peers_of(pipeline: Any) -> Peers:
    """The blocks that share loads of a pipeline.

    Raises:
        OpError: if loads are shared along what the kernel has no clusters along.
    """
    shared = set()
    for use in pipeline.pipeline.uses:
        op = use.owner
        if isinstance(op, TmaLoadOp) and (dim := op.multicast) is not None:
            blocks_along(op, dim)
            shared.add(dim)
    x, y, _ = cluster_size(function_of(pipeline))
    return Peers(x, y, frozenset(shared))


def cluster_barrier() -> None:
    """Emits a barrier of all threads of the cluster."""
    for name in ("nvvm.cluster.arrive", "nvvm.cluster.wait"):
        emit.op(name, aligned=ir.UnitAttr.get())


def wait_at_end(function: Any) -> None:
    """No block may exit while others may send to its shared memory."""
    for op in returns_of(function):
        before = op.operation.block.operations
        previous = before[len(before) - 2].operation if len(before) > 1 else None
        if previous is None or previous.name != "nvvm.cluster.wait":
            with ir.InsertionPoint(op), op.location:
                cluster_barrier()


def multicast_mask(load: Any, dim: str) -> Any:
    """The mask of the blocks that get what a block loads (i16)."""
    peers = peers_of(pipeline_of(load))
    if dim == "x":
        row, other = (1 << peers.x) - 1, block_rank("y") * peers.x if peers.y > 1 else None
    else:
        row, other = sum(1 << i * peers.x for i in range(peers.y)), block_rank("x")
        other = other if peers.x > 1 else None
    mask = emit.constant(row, emit.i32())
    if other is not None:
        mask = emit.binary("shli", mask, other.value)
    return emit.value("arith.trunci", (mask,), ir.IntegerType.get_signless(16))
