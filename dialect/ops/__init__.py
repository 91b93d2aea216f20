"""The ops, one idea a file, with a function that builds each."""

from .alloc import AllocOp, alloc
from .columns import ColumnsOp, columns
from .convert import ConvertOp, convert
from .copy import (
    CopyAsyncOp,
    CopyCommitOp,
    CopyOp,
    CopyWaitOp,
    copy,
    copy_async,
    copy_commit,
    copy_wait,
)
from .fence import FenceOp, fence
from .fill import FillOp, fill
from .load import LoadOp, load
from .map import MapOp, YieldOp, map
from .memory import RootOp
from .mma import AnyMma, DescriptorMma, MmaOp, MmaSpOp, TileMma, mma, mma_sp
from .mma_scaled import MmaScaledOp, mma_scaled
from .part import PartOp
from .ring import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    RingOp,
    consumer_release,
    consumer_wait,
    producer_acquire,
    producer_commit,
    ring,
)
from .roles import (
    ElectOp,
    RoleOp,
    RolesOp,
    WarpgroupBarrierOp,
    elect,
    roles,
    warpgroup_barrier,
)
from .scale_d import ScaleDOp, scale_d
from .stage import StageOp, stage
from .store import StoreOp, store
from .subtile import SubtileOp, subtile
from .tcgen05_scaled import Tcgen05ScaledOp
from .tensor_memory import TensorMemoryOp, tensor_memory
from .tma import (
    TmaCommitOp,
    TmaLoadOp,
    TmaStoreOp,
    TmaWaitOp,
    tma_commit,
    tma_load,
    tma_store,
    tma_wait,
)
from .view import ViewOp, view
from .wait import WaitOp, wait
from .wgmma import WgmmaOp, WgmmaSpOp

__all__ = [
    "AllocOp",
    "AnyMma",
    "ColumnsOp",
    "ConsumerReleaseOp",
    "ConsumerWaitOp",
    "ConvertOp",
    "CopyAsyncOp",
    "CopyCommitOp",
    "CopyOp",
    "CopyWaitOp",
    "DescriptorMma",
    "ElectOp",
    "FenceOp",
    "FillOp",
    "LoadOp",
    "MapOp",
    "MmaOp",
    "MmaScaledOp",
    "MmaSpOp",
    "PartOp",
    "ProducerAcquireOp",
    "ProducerCommitOp",
    "RingOp",
    "RoleOp",
    "RolesOp",
    "RootOp",
    "ScaleDOp",
    "StageOp",
    "StoreOp",
    "SubtileOp",
    "Tcgen05ScaledOp",
    "TensorMemoryOp",
    "TileMma",
    "TmaCommitOp",
    "TmaLoadOp",
    "TmaStoreOp",
    "TmaWaitOp",
    "ViewOp",
    "WaitOp",
    "WarpgroupBarrierOp",
    "WgmmaOp",
    "WgmmaSpOp",
    "YieldOp",
    "alloc",
    "columns",
    "consumer_release",
    "consumer_wait",
    "convert",
    "copy",
    "copy_async",
    "copy_commit",
    "copy_wait",
    "elect",
    "fence",
    "fill",
    "load",
    "map",
    "mma",
    "mma_scaled",
    "mma_sp",
    "producer_acquire",
    "producer_commit",
    "ring",
    "roles",
    "scale_d",
    "stage",
    "store",
    "subtile",
    "tensor_memory",
    "tma_commit",
    "tma_load",
    "tma_store",
    "tma_wait",
    "view",
    "wait",
    "warpgroup_barrier",
]
