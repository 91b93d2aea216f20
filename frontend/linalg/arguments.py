"""Tensors and memrefs as parameters of a GEMM kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ...bindings.irtypes import Value
from ...bindings.mlir import ir
from ...dialect.memrefs import has_identity_layout
from ...layout.elements import UNIT_BYTES
from ...runtime.arguments import DTYPES
from .contraction import ArrayAccess
from .gemm_dims import Group

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class Argument:
    """An array that a kernel takes.

    Attributes:
        name: that of the kernel's parameter.
        access: the tensor or memref.
        dims: the parameter's dimensions, in order: the loops of each; none for an extent of 1.
        is_result: whether the kernel writes it.
        by_tma: whether TMA reads or writes it.
    """

    name: str
    access: ArrayAccess
    dims: tuple[Group, ...]
    is_result: bool = False
    by_tma: bool = True


def element_type(value: Value) -> str:
    """Return the element type of a tensor or memref, by its MLIR name."""
    return str(value.type.element_type)


def collapsible_dims(access: ArrayAccess) -> list[bool]:
    """Return for each dimension `d` whether `stride[d] == stride[d + 1] * extent[d + 1]`."""
    type_ = access.value.type
    rank = len(access.loops)
    if not isinstance(type_, ir.MemRefType) or access.is_copy:
        return [dim != rank - access.row - 1 for dim in range(rank)]
    strides, _ = type_.get_strides_and_offset()
    if has_identity_layout(type_):
        return [True] * rank
    return [
        _DYNAMIC not in (strides[dim], strides[dim + 1], type_.shape[dim + 1])
        and strides[dim] == strides[dim + 1] * type_.shape[dim + 1]
        for dim in range(rank - 1)
    ]


def copy_of_strided(access: ArrayAccess) -> ArrayAccess:
    """Return an access to a copy in the place of one to a memref that no kernel takes.

    A kernel takes those that have the offset 0, and are contiguous along their last dimension.
    """
    type_ = access.value.type
    if not isinstance(type_, ir.MemRefType) or access.is_copy:
        return access
    strides, offset = type_.get_strides_and_offset()
    if offset == 0 and strides[-1:] in ([1], []):
        return access
    return replace(access, permutation=tuple(range(len(access.loops))))


def unaligned_dims(arguments: Sequence[Argument], known: bool) -> list[tuple[Argument, Group]]:
    """Return the dimensions whose stride in bytes may be no multiple of 16, as TMA requires.

    Args:
        arguments: the kernel's arguments.
        known: whether to return those that certainly are none, or the others.
    """
    dims: list[tuple[Argument, Group]] = []
    for argument in arguments:
        if not argument.by_tma:
            continue
        element_bytes = DTYPES[element_type(argument.access.value)].itemsize
        contiguous = argument.access.loops[-1]
        for group in argument.dims:
            if not group or contiguous in group:
                continue
            elements, is_known = _step(argument.access, group[-1])
            if elements * element_bytes % UNIT_BYTES and is_known == known:
                dims.append((argument, group))
    return dims


def _step(access: ArrayAccess, loop: int) -> tuple[int, bool]:
    """Return a divisor of the stride of a loop, in elements, and whether it is the stride."""
    type_, dim = access.value.type, access.loops.index(loop)
    if access.row and dim < len(access.loops) - access.row:
        return UNIT_BYTES, False
    if isinstance(type_, ir.MemRefType) and not access.is_copy:
        strides, _ = type_.get_strides_and_offset()
        if strides[dim] != ir.ShapedType.get_dynamic_stride_or_offset():
            return strides[dim], True
        if not has_identity_layout(type_):
            return 1, False
    extents = list(access.shape[dim + 1 :])
    return prod(extent for extent in extents if extent != _DYNAMIC), _DYNAMIC not in extents
