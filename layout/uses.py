"""Uses of a tile by a program, and their evaluation of a layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Protocol, TypeVar, cast

from .banks import Access
from .fragment_access import FragmentAccess
from .modes import LayoutError
from .path import PathElement, follow
from .tensor_box import check_start, share_of, tensor_box
from .tile import TileLayout
from .transfer import CONTIGUITY, Transfer
from .transposition import Relayout


@dataclass(frozen=True)
class LayoutEvaluation:
    """The evaluation of one layout by one use.

    Attributes:
        accepted: whether the use accepts the layout.
        reason: how the tile is accessed, or why the layout is refused.
        in_loop: whether descriptors are computed at run time, inside the loop.
        transposed: whether data has to be transposed, which costs instructions.
        conflicts: passes over the banks beyond the fewest, of one access.
    """

    accepted: bool
    reason: str
    in_loop: bool = False
    transposed: bool = False
    conflicts: int = 0


class Use(Protocol):
    """A use of a tile that constrains its layout."""

    @property
    def what(self) -> str:
        """The use in words, for explanations."""
        ...

    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        """Evaluate a layout of the tile."""
        ...


_Evaluate = TypeVar("_Evaluate", bound=Callable[..., LayoutEvaluation])


def refusing(evaluate: _Evaluate) -> _Evaluate:
    """Decorate a use's `evaluate`: a `LayoutError` becomes a refusal."""

    @wraps(evaluate)
    def evaluation(self: Any, layout: TileLayout) -> LayoutEvaluation:
        try:
            return evaluate(self, layout)
        except LayoutError as error:
            return LayoutEvaluation(False, str(error))

    return cast(_Evaluate, evaluation)


@dataclass(frozen=True)
class TransferUse:
    """A tile, or a subtile of it, that all threads fill or read in 16-byte accesses.

    Attributes:
        what: the use in words.
        transfer: the copy.
        path: the path to the subtile.

    Example:
        >>> copy = Transfer(element("bf16"), (64, 64), contiguous=0, threads=128)
        >>> use = TransferUse("a copy of a column-major matrix", copy)
        >>> choose(element("bf16"), (64, 64), [use]).picked.layout.cute
        'Swizzle<3,4,3> o (64,64):(1,64)'
    """

    what: str
    transfer: Transfer | Relayout
    path: tuple[PathElement, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        subtile = follow(layout, self.path).layout
        return evaluate_copy(subtile, self.transfer)


@lru_cache(maxsize=1024)
def evaluate_copy(subtile: TileLayout, transfer: Transfer | Relayout) -> LayoutEvaluation:
    """Evaluate the layout of a tile that a copy fills."""
    problem = transfer.problem(subtile)
    if problem:
        return LayoutEvaluation(False, problem)
    transposed = isinstance(transfer, Relayout) and transfer.transposes(subtile)
    how = "transposed in registers, " if transposed else ""
    return _evaluate_access(transfer.plan(subtile).conflicts(subtile), how, transposed)


@dataclass(frozen=True)
class FragmentUse:
    """A tile, or a subtile of it, that a warpgroup loads into a fragment or stores one to.

    Attributes:
        what: the use in words.
        access: the function that returns the access to the elements of a layout.
        path: the path to the subtile.
    """

    what: str
    access: Callable[[TileLayout], FragmentAccess]
    path: tuple[PathElement, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        subtile = follow(layout, self.path).layout
        access = self.access(subtile)
        return _evaluate_access(access.conflicts(subtile), f"{access}, ")


@dataclass(frozen=True)
class BulkUse:
    """A tile, or a subtile of it, that bulk tensor copies (TMA) fill or read.

    Attributes:
        what: the use in words.
        contiguous: the dimension along which the data in global memory is contiguous.
        ctas: CTAs of a cluster that share the copy.
        path: the path to the subtile.
        stores: whether the copies read the tile.
    """

    what: str
    contiguous: int
    ctas: int = 1
    path: tuple[PathElement, ...] = ()
    stores: bool = False

    @refusing
    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        subtile = follow(layout, self.path)
        tile_box = tensor_box(subtile.layout)
        check_start(subtile)
        box = share_of(subtile.layout, self.ctas).box if self.ctas > 1 else tile_box
        if box.contiguous != self.contiguous:
            return LayoutEvaluation(
                False,
                f"the data in global memory is {CONTIGUITY[self.contiguous]}, but the tile is "
                f"{CONTIGUITY[box.contiguous]}; TMA moves lines as they are",
            )
        copies = f"{len(box.places)} copies" if len(box.places) > 1 else "one copy"
        in_each_cta = f" in each of {self.ctas} CTAs" if self.ctas > 1 else ""
        return LayoutEvaluation(True, f"{copies} of {box.shape[0]}x{box.shape[1]}{in_each_cta}")


@dataclass(frozen=True)
class MemoryUse:
    """Existing memory that a tile is laid over.

    Attributes:
        what: the memory in words.
        size: its bytes; None if they are known at run time only.
        alignment: a number that divides the address of its first byte, in bytes; None if it can be
            aligned as the layout needs.
    """

    what: str
    size: int | None
    alignment: int | None

    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        """Accept a layout that fits the memory, and whose swizzle has base offset 0 there."""
        needed = layout.size_bytes
        if self.size is not None and self.size < needed:
            return LayoutEvaluation(
                False, f"the layout needs {needed} bytes, but it has {self.size}"
            )
        if self.alignment is not None and self.alignment % layout.alignment:
            return LayoutEvaluation(
                False,
                f"swizzle {layout.swizzle} begins at multiples of {layout.alignment} bytes, but it "
                f"begins at multiples of {self.alignment}",
            )
        available = "" if self.size is None else f" of {self.size}"
        return LayoutEvaluation(
            True, f"{needed} bytes{available}, at a multiple of {layout.alignment}"
        )


def _evaluate_access(access: Access, how: str, transposed: bool = False) -> LayoutEvaluation:
    """Return the evaluation of a layout from one access of a warp to it.

    Args:
        access: the cost of the access.
        how: the access in words, followed by ", "; "" for a plain 16-byte access.
        transposed: whether the access transposes data.
    """
    banks = "no bank conflicts"
    if access.conflicts:
        banks = f"bank conflicts: {access.wavefronts} passes where {access.ideal} would do"
    return LayoutEvaluation(True, how + banks, transposed=transposed, conflicts=access.conflicts)
