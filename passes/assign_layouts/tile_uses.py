"""What a program does with a tile, as the choice of its layout sees it."""

from collections.abc import Iterator
from typing import Any

from ...dialect.diagnostics import Invalid, format_location
from ...dialect.op import operand_names
from ...dialect.ops import SubviewOp
from ...dialect.types import TileType, layout_of, shape_of, tile_element
from ...dialect.uses import OtherEnd, Path
from ...ir.cluster import blocks_along
from ...ir.errors import OpError
from ...ir.kernel import function_of, threads_of
from ...ir.subtiles import INSTEAD_OF_TILES, chain_of, subtile_from
from ...layout import Step, Swizzle, choose
from ...layout.arch import Arch
from ...layout.uses import Use

#: Threads that a copy's bank conflicts are predicted for where the block's size is not known.
_USUAL_THREADS = 128


def uses_of(allocation: Any, max_swizzle: Swizzle, arch: Arch) -> list[Use]:
    """What is done with the tile of an alloc or view, and with its parts.

    Args:
        root: the alloc or view.
        max_swizzle: the widest swizzle that other tiles, which it is copied from or to, can get.
        arch: the architecture, which multiplies the types of every mma.

    Raises:
        OpError: if something is done with it of which no layout follows.
    """
    return list(_Uses(allocation, max_swizzle, arch).of(allocation.tile, ()).values())


class _Uses:
    """The uses of a root's tile, which its users say; those that ask the same of a layout are one.

    Copies from and to tiles whose layouts are open ask for what the other uses of these allow: `deep` is
    false where just these others are wanted.
    """

    def __init__(
        self, allocation: Any, max_swizzle: Swizzle, arch: Arch, deep: bool = True
    ) -> None:
        self.arch = arch
        self._allocation, self._max_swizzle, self._deep = allocation, max_swizzle, deep

    def of(self, value: Any, path: Path) -> dict[Any, Use]:
        """The uses of the part that is at the end of a path, by what they ask whoever asks it."""
        # Parts of parts are followed without recursion: there may be thousands.
        open_: list[tuple[Iterator[Any], Path, dict[Any, Use]]] = [
            (iter(list(value.uses)), path, {})
        ]
        while True:
            uses, path, found = open_[-1]
            subtile = None
            for each in uses:
                op = each.owner
                if isinstance(op, SubviewOp):
                    subtile = op
                    break
                if (use := self._use(op, each.operand_number, path)) is not None:
                    found[_asked(use)] = use
            if subtile is not None:
                starts = subtile.starts
                sizes = None if len(starts) == 1 else shape_of(subtile.result.type)
                open_.append((iter(list(subtile.result.uses)), (*path, Step(starts, sizes)), {}))
                continue
            open_.pop()
            if not open_:
                return found
            uses, path, before = open_[-1]
            open_[-1] = uses, path, {**found, **before}

    def _use(self, op: Any, operand: int, path: Path) -> Use | None:
        """What an op asks of the layout of a tile that it takes.

        Raises:
            OpError: if it says nothing of tiles.
        """
        if not hasattr(op, "use_of"):
            where = f"'{op.operation.name}' at {format_location(op.location)}"
            if _hands_on(op):
                raise OpError(self._allocation, f"is handed on by {where}; {INSTEAD_OF_TILES}")
            raise OpError(
                self._allocation,
                f"is used by {where}, of which no layout follows; take its stages and subtiles where "
                "they are copied or multiplied",
            )
        try:
            return op.use_of(operand_names(type(op))[operand], path, self)
        except Invalid as error:
            raise OpError(op, str(error)) from None

    # What ops ask; see `dialect.uses.Chooser`.

    def threads(self, op: Any) -> int:
        """Threads of the block that executes an op."""
        return threads_of(function_of(op)) or _USUAL_THREADS

    def blocks_along(self, op: Any, dim: str | None) -> int:
        """Blocks of the cluster along a dimension around an op."""
        return blocks_along(op, dim)

    def other_end(self, op: Any, tile: Any) -> OtherEnd | None:
        """What is known of a tile at the other end of a copy."""
        allocation, _ = chain_of(tile, op)
        if layout_of(allocation.tile.type) is not None:
            return OtherEnd(subtile_from(tile, op).slice.layout)
        return OtherEnd(None, self._directions(allocation)) if self._deep else None

    def _directions(self, allocation: Any) -> list[int]:
        """The dimensions (0 for rows) along which a tile without a layout can be contiguous, as far as
        its uses other than copies from and to such tiles say."""
        type_ = allocation.tile.type
        other = _Uses(allocation, self._max_swizzle, self.arch, deep=False)
        uses = list(other.of(allocation.tile, ()).values())
        return [
            dim
            for dim in (0, 1)
            if choose(
                tile_element(type_),
                shape_of(type_),
                uses,
                self._max_swizzle,
                dim,
                exhaustive=False,
                swizzles=self.arch.swizzles,
            ).picked
        ]


def _asked(use: Use) -> tuple[Any, ...]:
    """What a use asks, whoever asks it: its fields but `what`, which says who."""
    return type(use), *(value for name, value in vars(use).items() if name != "what")


def _hands_on(op: Any) -> bool:
    """Whether an op of another dialect that takes a tile gives one to others: as a result, or, if it is a
    terminator, to where it leads."""
    operation = op.operation
    ends = len(operation.successors) or operation.name.endswith((".yield", ".condition"))
    return bool(ends) or any(isinstance(result.type, TileType) for result in operation.results)
