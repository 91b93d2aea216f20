"""Tensors and memrefs, by loops of a contraction."""

from __future__ import annotations

from dataclasses import dataclass

from ...bindings.irtypes import Value


@dataclass(frozen=True)
class Access:
    """A tensor or memref, and the loop of a contraction that indexes each of its dimensions.

    Attributes:
        value: the tensor or memref.
        loops: by dimension of what the kernel reads.
        permutation: the dimensions of the value, in the order of a copy that the kernel reads; empty if
            it reads the value itself.
    """

    value: Value
    loops: tuple[int, ...]
    permutation: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of what the kernel reads."""
        shape = self.value.type.shape
        return tuple(shape[dim] for dim in self.permutation) or tuple(shape)
