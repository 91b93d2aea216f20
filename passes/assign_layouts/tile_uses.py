"""The uses of a tile, as the choice of its layout needs them."""

from collections.abc import Iterator
from typing import Any

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Op, Value
from ...dialect.op import operand_names
from ...dialect.ops import AllocationOp, SubviewOp
from ...dialect.types import TileType, layout_of, shape_of, tile_element
from ...dialect.uses import OtherEnd, Path
from ...ir.cluster import ctas_along
from ...ir.errors import OpError
from ...ir.kernel import function_of, threads_of
from ...ir.subtiles import INSTEAD_OF_TILES, chain_of, subtile_from
from ...layout import PathElement, Swizzle, choose
from ...layout.arch import Arch
from ...layout.uses import Use
from .view_memory import memory_uses

#: Threads for which bank conflicts of a copy are predicted if the size of the CTA is unknown.
_USUAL_THREADS = 128


def uses_of(allocation: AllocationOp, max_swizzle: Swizzle, arch: Arch) -> list[Use]:
    """Return the uses of the tile of an alloc or view, and of its subtiles.

    Args:
        allocation: the alloc or view.
        max_swizzle: the widest swizzle that other tiles, which it is copied from or to, can get.
        arch: the architecture; it supports the element types of every mma.

    Raises:
        OpError: if an op uses the tile from which no layout follows.
    """
    return _Uses(allocation, max_swizzle, arch).all()


class _Uses:
    """The uses of the tile of an allocation; uses with the same requirement are one.

    A copy from or to a tile without a layout requires what the other uses of that tile allow. With
    `deep=False`, such copies are not followed.
    """

    def __init__(
        self, allocation: AllocationOp, max_swizzle: Swizzle, arch: Arch, deep: bool = True
    ) -> None:
        self.arch = arch
        self._allocation, self._max_swizzle, self._deep = allocation, max_swizzle, deep

    def all(self) -> list[Use]:
        """Return the uses of the allocation's tile; for a view, its memory is one."""
        tile_uses = self._of(self._allocation.tile, ()).values()
        return [*memory_uses(self._allocation), *tile_uses]

    def _of(self, value: Value, path: Path) -> dict[Any, Use]:
        """Return the uses of the subtile at the end of a path, by what they require."""
        # Subtiles of subtiles are followed without recursion: there may be thousands.
        stack: list[tuple[Iterator[Any], Path, dict[Any, Use]]] = [
            (iter(list(value.uses)), path, {})
        ]
        while True:
            uses, path, by_requirement = stack[-1]
            subtile = None
            for tile_use in uses:
                op = tile_use.owner
                if isinstance(op, SubviewOp):
                    subtile = op
                    break
                if (use := self._use(op, tile_use.operand_number, path)) is not None:
                    by_requirement[_requirement(use)] = use
            if subtile is not None:
                starts = subtile.starts
                sizes = None if len(starts) == 1 else shape_of(subtile.result.type)
                stack.append(
                    (iter(list(subtile.result.uses)), (*path, PathElement(starts, sizes)), {})
                )
                continue
            stack.pop()
            if not stack:
                return by_requirement
            uses, path, outer = stack[-1]
            stack[-1] = uses, path, {**by_requirement, **outer}

    def _use(self, op: Op, operand: int, path: Path) -> Use | None:
        """Return what an op requires of the layout of its operand; None if it requires nothing.

        Raises:
            OpError: if the op is not one that takes tiles.
        """
        if not hasattr(op, "use_of"):
            where = f"'{op.operation.name}' at {format_location(op.location)}"
            if _forwards(op):
                raise OpError(self._allocation, f"is forwarded by {where}; {INSTEAD_OF_TILES}")
            raise OpError(
                self._allocation,
                f"is used by {where}, from which no layout follows; take its stages and subtiles where "
                "they are copied or multiplied",
            )
        try:
            return op.use_of(operand_names(type(op))[operand], path, self)
        except Invalid as error:
            raise OpError(op, str(error)) from None

    # Methods that the ops call; see `dialect.uses.Chooser`.

    def threads(self, op: Op) -> int:
        """Return the number of threads of the CTA that executes an op."""
        return threads_of(function_of(op)) or _USUAL_THREADS

    def ctas_along(self, op: Op, dim: str | None) -> int:
        """Return the number of CTAs of the cluster along a dimension."""
        return ctas_along(op, dim)

    def other_end(self, op: Op, tile: Value) -> OtherEnd | None:
        """Return what is known of the tile at the other end of a copy."""
        allocation, _ = chain_of(tile, op)
        if layout_of(allocation.tile.type) is not None:
            return OtherEnd(subtile_from(tile, op).slice.layout)
        return OtherEnd(None, self._directions(allocation)) if self._deep else None

    def _directions(self, allocation: AllocationOp) -> list[int]:
        """Return the dimensions (0 for rows) along which a tile without a layout can be contiguous.

        Copies from and to other tiles without a layout are not considered.
        """
        type_ = allocation.tile.type
        uses = _Uses(allocation, self._max_swizzle, self.arch, deep=False).all()
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


def _requirement(use: Use) -> tuple[Any, ...]:
    """Return what a use requires: all fields but `what`, which names the user."""
    return type(use), *(value for name, value in vars(use).items() if name != "what")


def _forwards(op: Op) -> bool:
    """Return whether an op of another dialect forwards the tile that it takes.

    It may return the tile or, if it is a terminator, pass it to another block or op.
    """
    operation = op.operation
    terminates = len(operation.successors) or operation.name.endswith((".yield", ".condition"))
    return bool(terminates) or any(
        isinstance(result.type, TileType) for result in operation.results
    )
