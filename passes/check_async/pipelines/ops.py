"""The ops of a function: those of blocks, what they access, whether they are followed, and the pipelines that
they take."""

from typing import Any

from ....dialect.effects import Accessed
from ....dialect.op import SmemOp
from ....dialect.ops import ElectOp, WarpSpecializeOp
from ....dialect.smem import Smem
from ....ir.barriers import is_block_barrier
from ....ir.walk import holds, walk
from ..declared import accessed_tiles, has_effect
from .spots import BEGINS, ENDS, Turning, turning_of

#: Ops that say which threads execute what is in them.
_DIVISIONS = (ElectOp, WarpSpecializeOp)


class Ops:
    """Looks ops up, each thing once: loops are followed several times."""

    def __init__(self) -> None:
        self._followed: dict[Any, bool] = {}
        self._turnings: dict[Any, list[Turning]] = {}
        self._blocks: dict[Any, list[Any]] = {}
        self._tiles: dict[Any, list[Accessed]] = {}
        self._effective = tuple(op for op in Smem.operations if op in _DIVISIONS or has_effect(op))

    def of(self, block: Any) -> list[Any]:
        """The ops of a block, those of the dialect as views."""
        if block not in self._blocks:
            views = block.operations
            self._blocks[block] = [op if isinstance(op, SmemOp) else op.operation for op in views]
        return self._blocks[block]

    def within(self, op: Any) -> list[Any]:
        """The ops of the only block of an op's only region."""
        return self.of(op.regions[0].blocks[0])

    def tiles(self, op: Any) -> list[Accessed]:
        """The tiles that an op accesses, and how."""
        if op not in self._tiles:
            self._tiles[op] = accessed_tiles(op)
        return self._tiles[op]

    def is_followed(self, op: Any) -> bool:
        """Whether an op, or one within it, accesses memory, orders accesses or divides threads."""
        if not len(op.regions):
            return isinstance(op, self._effective) or is_block_barrier(op)
        if op not in self._followed:
            followed = holds(op, *self._effective) or any(map(is_block_barrier, walk(op)))
            self._followed[op] = followed
        return self._followed[op]

    def turnings(self, op: Any) -> list[Turning]:
        """The sides of pipelines that are taken by an op, or within it."""
        if not len(op.regions):
            return [turning_of(op)] if isinstance(op, (*BEGINS, *ENDS)) else []
        if op not in self._turnings:
            found = walk(op, *BEGINS, *ENDS)
            self._turnings[op] = list({turning_of(inner): None for inner in found})
        return self._turnings[op]
