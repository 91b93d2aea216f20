"""The ops, one idea a file, with a function that builds each."""

from .alloc import AllocOp, alloc
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
from .mma import MmaOp, MmaSpOp, mma, mma_sp
from .part import part_of, starts_of
from .scale_d import ScaleDOp, scale_d
from .stage import StageOp, stage
from .store import StoreOp, store
from .subtile import SubtileOp, subtile
from .view import ViewOp, view
from .wait import WaitOp, wait
from .wgmma import WgmmaOp, WgmmaSpOp

__all__ = [
    "AllocOp",
    "ConvertOp",
    "CopyAsyncOp",
    "CopyCommitOp",
    "CopyOp",
    "CopyWaitOp",
    "FenceOp",
    "FillOp",
    "LoadOp",
    "MapOp",
    "MmaOp",
    "MmaSpOp",
    "ScaleDOp",
    "StageOp",
    "StoreOp",
    "SubtileOp",
    "ViewOp",
    "WaitOp",
    "WgmmaOp",
    "WgmmaSpOp",
    "YieldOp",
    "alloc",
    "convert",
    "copy",
    "copy_async",
    "copy_commit",
    "copy_wait",
    "fence",
    "fill",
    "load",
    "map",
    "mma",
    "mma_sp",
    "part_of",
    "scale_d",
    "stage",
    "starts_of",
    "store",
    "subtile",
    "view",
    "wait",
]
