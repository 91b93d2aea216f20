"""Reductions across warps: which warps take part, and the shared memory by which they exchange."""

from dataclasses import dataclass

from ..bindings.irtypes import Type
from ..dialect.ops import ReduceOp
from ..dialect.types import shape_of, tensor_of
from ..layout.fragments import WARPS
from .named_barriers import groups_of


@dataclass(frozen=True)
class Exchange:
    """The exchange of partial results between the warps of a reduction.

    Each group of adjacent warpgroups has one result. Its parts are the partial results: of each
    warpgroup along rows, of each warp along columns.

    Attributes:
        first: the first warpgroup that executes the op.
        groups: the number of groups.
        warpgroups: of each group.
        parts: of each group.
    """

    first: int
    groups: int
    warpgroups: int
    parts: int

    def shared_bytes(self, slice_: Type) -> int:
        """Return the bytes of all parts, of which each is a slice of a type."""
        element_bytes = tensor_of(slice_).element_type.width // 8
        return self.groups * self.parts * shape_of(slice_)[0] * element_bytes


def exchange_of(op: ReduceOp) -> Exchange | None:
    """Return the exchange of an `smem.reduce`; None if no warp needs the elements of another.

    Raises:
        OpError: if the warpgroups that execute it do not form whole groups.
    """
    size, along_columns = op.warpgroups, op.axis.value == 0
    if size == 1 and not along_columns:
        return None
    parts = size * (WARPS if along_columns else 1)
    return Exchange(*groups_of(op), parts)
