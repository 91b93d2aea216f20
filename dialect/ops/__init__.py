"""The ops and their builders; each file defines one op, or a few related ones."""

from .alloc import AllocOp, alloc
from .broadcast import BroadcastOp, broadcast
from .columns import ColumnsOp, columns
from .convert import ConvertOp, convert
from .copy import CopyAsyncOp, CopyOp, copy, copy_async
from .copy_groups import (
    CopyCommitOp,
    CopyWaitOp,
    TmaCommitOp,
    TmaWaitOp,
    copy_commit,
    copy_wait,
    tma_commit,
    tma_wait,
)
from .fence import FenceOp, fence
from .fill import FillOp, fill
from .load import LoadOp, load
from .map import MapOp, map
from .memory import AllocationOp
from .mma import AnyMma, DescriptorMma, MmaOp, MmaSpOp, TileMma, mma, mma_sp
from .mma_desc import MmaDescOp, MmaDescSpOp
from .mma_desc_scaled import MmaDescScaledOp
from .mma_scaled import MmaScaledOp, mma_scaled
from .offset import OffsetOp, offset
from .order import OrderArriveOp, OrderWaitOp, order_arrive, order_wait
from .pipeline import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreatePipelineOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    consumer_release,
    consumer_wait,
    create_pipeline,
    producer_acquire,
    producer_commit,
)
from .reduce import ReduceOp, reduce
from .registers import FromRegistersOp, ToRegistersOp, from_registers, to_registers
from .scale_d import ScaleDOp, scale_d
from .semaphore import SemaphoreArriveOp, semaphore_arrive
from .stage import StageOp, stage
from .store import StoreOp, store
from .subtile import SubtileOp, subtile
from .subview import SubviewOp
from .tensor_memory import TensorMemoryOp, tensor_memory
from .tma import TmaLoadOp, TmaStoreOp, tma_load, tma_store
from .transpose import TransposeOp, transpose
from .view import ViewOp, view
from .wait import WaitOp, wait
from .warp_specialize import (
    ElectOp,
    PartitionOp,
    WarpgroupBarrierOp,
    WarpSpecializeOp,
    elect,
    warp_specialize,
    warpgroup_barrier,
)

__all__ = [
    "AllocOp",
    "AllocationOp",
    "AnyMma",
    "BroadcastOp",
    "ColumnsOp",
    "ConsumerReleaseOp",
    "ConsumerWaitOp",
    "ConvertOp",
    "CopyAsyncOp",
    "CopyCommitOp",
    "CopyOp",
    "CopyWaitOp",
    "CreatePipelineOp",
    "DescriptorMma",
    "ElectOp",
    "FenceOp",
    "FillOp",
    "FromRegistersOp",
    "LoadOp",
    "MapOp",
    "MmaDescOp",
    "MmaDescScaledOp",
    "MmaDescSpOp",
    "MmaOp",
    "MmaScaledOp",
    "MmaSpOp",
    "OffsetOp",
    "OrderArriveOp",
    "OrderWaitOp",
    "PartitionOp",
    "ProducerAcquireOp",
    "ProducerCommitOp",
    "ReduceOp",
    "ScaleDOp",
    "SemaphoreArriveOp",
    "StageOp",
    "StoreOp",
    "SubtileOp",
    "SubviewOp",
    "TensorMemoryOp",
    "TileMma",
    "TmaCommitOp",
    "TmaLoadOp",
    "TmaStoreOp",
    "TmaWaitOp",
    "ToRegistersOp",
    "TransposeOp",
    "ViewOp",
    "WaitOp",
    "WarpSpecializeOp",
    "WarpgroupBarrierOp",
    "alloc",
    "broadcast",
    "columns",
    "consumer_release",
    "consumer_wait",
    "convert",
    "copy",
    "copy_async",
    "copy_commit",
    "copy_wait",
    "create_pipeline",
    "elect",
    "fence",
    "fill",
    "from_registers",
    "load",
    "map",
    "mma",
    "mma_scaled",
    "mma_sp",
    "offset",
    "order_arrive",
    "order_wait",
    "producer_acquire",
    "producer_commit",
    "reduce",
    "scale_d",
    "semaphore_arrive",
    "stage",
    "store",
    "subtile",
    "tensor_memory",
    "tma_commit",
    "tma_load",
    "tma_store",
    "tma_wait",
    "to_registers",
    "transpose",
    "view",
    "wait",
    "warp_specialize",
    "warpgroup_barrier",
]


def __dir__() -> list[str]:
    return __all__
