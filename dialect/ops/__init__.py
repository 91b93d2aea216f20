"""The ops, one idea a file, with a function that builds each."""

from .alloc import AllocOp, alloc
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
from .mma import MmaOp, mma
from .part import part_of, starts_of
from .stage import StageOp, stage
from .store import StoreOp, store
from .subtile import SubtileOp, subtile
from .view import ViewOp, view
from .wait import WaitOp, wait
from .wgmma import WgmmaOp

__all__ = [
    "AllocOp",
    "CopyAsyncOp",
    "CopyCommitOp",
    "CopyOp",
    "CopyWaitOp",
    "FenceOp",
    "FillOp",
    "MmaOp",
    "StageOp",
    "StoreOp",
    "SubtileOp",
    "ViewOp",
    "WaitOp",
    "WgmmaOp",
    "alloc",
    "copy",
    "copy_async",
    "copy_commit",
    "copy_wait",
    "fence",
    "fill",
    "mma",
    "part_of",
    "stage",
    "starts_of",
    "store",
    "subtile",
    "view",
    "wait",
]
