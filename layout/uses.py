"""What a program does with a tile, and what each use says of a layout that the tile may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Protocol, TypeVar, cast

from .banks import Access
from .fragment_access import FragmentAccess
from .modes import LayoutError
from .path import Step, follow
from .tensor_box import check_start, share_of, tensor_box
from .tile import TileLayout
from .transfer import CONTIGUITY, Transfer
from .transposition import Relayout


@dataclass(frozen=True)
class Evaluation:
    """What one use says of one layout.

    Attributes:
        accepted: whether the layout can be used so.
        reason: why, or how; or why not.
        in_loop: whether a loop pays for it, with descriptors that are computed at run time.
        turned: whether data has to be transposed for it, which costs instructions.
        conflicts: passes over the banks that an access takes beyond the least.
    """

    accepted: bool
    reason: str
    in_loop: bool = False
    transposed: bool = False
    conflicts: int = 0


class Use(Protocol):
    """Something that a program does with a tile and that its layout must allow."""

    @property
    def what(self) -> str:
        """The use in words, for explanations."""
        ...

    def evaluate(self, layout: TileLayout) -> Evaluation:
        """Whether the tile, having that layout, can be used so."""
        ...


_Evaluate = TypeVar("_Evaluate", bound=Callable[..., Evaluation])


def refusing(evaluate: _Evaluate) -> _Evaluate:
    """Makes the refusal that it means of a `LayoutError` in a use's `evaluate`."""

    @wraps(evaluate)
    def evaluation(self: Any, layout: TileLayout) -> Evaluation:
        try:
            return evaluate(self, layout)
        except LayoutError as error:
            return Evaluation(False, str(error))

    return cast(_Evaluate, evaluation)


@dataclass(frozen=True)
class TransferUse:
    """A tile, or a part of it, filled or read by 16-byte accesses of all threads."""

    what: str
    transfer: Transfer | Relayout
    path: tuple[Step, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> Evaluation:
        subtile = follow(layout, self.path).layout
        return filled(subtile, self.transfer)


@lru_cache(maxsize=1024)
def filled(subtile: TileLayout, transfer: Transfer | Relayout) -> Evaluation:
    """What is said of a tile that is filled so."""
    problem = transfer.problem(subtile)
    if problem:
        return Evaluation(False, problem)
    transposed = isinstance(transfer, Relayout) and transfer.transposes(subtile)
    how = "transposed in registers, " if transposed else ""
    return _served(transfer.plan(subtile).conflicts(subtile), how, transposed)


@dataclass(frozen=True)
class FragmentUse:
    """A tile, or a part of it, that a warpgroup loads into a fragment or stores one to.

    Attributes:
        access: from a layout to how its elements are accessed.
    """

    what: str
    access: Callable[[TileLayout], FragmentAccess]
    path: tuple[Step, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> Evaluation:
        subtile = follow(layout, self.path).layout
        access = self.access(subtile)
        return _served(access.conflicts(subtile), f"{access}, ")


@dataclass(frozen=True)
class BulkUse:
    """A tile, or a part of it, that bulk tensor copies (TMA) fill or read.

    Attributes:
        contiguous: the dimension along which the data in global memory is contiguous.
        blocks: blocks of a cluster that share the copy.
        stores: whether they read the tile.
    """

    what: str
    contiguous: int
    blocks: int = 1
    path: tuple[Step, ...] = ()
    stores: bool = False

    @refusing
    def evaluate(self, layout: TileLayout) -> Evaluation:
        subtile = follow(layout, self.path)
        whole = tensor_box(subtile.layout)
        check_start(subtile)
        box = share_of(subtile.layout, self.blocks).box if self.blocks > 1 else whole
        if box.contiguous != self.contiguous:
            return Evaluation(
                False,
                f"the data in global memory is {CONTIGUITY[self.contiguous]}, but the tile is "
                f"{CONTIGUITY[box.contiguous]}; TMA moves lines as they are",
            )
        copies = f"{len(box.places)} copies" if len(box.places) > 1 else "one copy"
        each = f" in each of {self.blocks} blocks" if self.blocks > 1 else ""
        return Evaluation(True, f"{copies} of {box.shape[0]}x{box.shape[1]}{each}")


def _served(access: Access, how: str, transposed: bool = False) -> Evaluation:
    """What is said of an access that can be."""
    banks = "no bank conflicts"
    if access.conflicts:
        banks = f"bank conflicts: {access.wavefronts} passes where {access.ideal} would do"
    return Evaluation(True, how + banks, transposed=transposed, conflicts=access.conflicts)
