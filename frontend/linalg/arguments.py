"""What kernels take: tensors and memrefs as their parameters have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ...bindings.irtypes import Value
from ...bindings.mlir import ir
from ...layout.elements import UNIT_BYTES
from ...runtime.arguments import DTYPES
from .access import Access
from .loops import Group
from .unfit import Unfit

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class Argument:
    """An array that a kernel takes.

    Attributes:
        name: that of the kernel's parameter.
        access: the tensor or memref.
        dims: its dimensions in the order of the parameter's; each has the loops that count it up, none
            for an extent of 1.
        is_result: whether the kernel writes it.
        by_tma: whether TMA reads or writes it.
    """

    name: str
    access: Access
    dims: tuple[Group, ...]
    is_result: bool = False
    by_tma: bool = True


def element(value: Value) -> str:
    """Return the element type of a tensor or memref, by its MLIR name."""
    return str(value.type.element_type)


def follows(access: Access) -> list[bool]:
    """Return for each dimension whether the next one's elements fill one of its steps."""
    type_ = access.value.type
    rank = len(access.loops)
    if not isinstance(type_, ir.MemRefType) or access.permutation:
        return [True] * rank
    strides, offset = type_.get_strides_and_offset()
    if offset != 0:
        raise Unfit(f"has an operand of {type_}, whose offset is not 0")
    if strides[-1:] not in ([1], []):
        raise Unfit(f"has an operand of {type_}, which is not contiguous along its last dimension")
    if _is_identity(type_):
        return [True] * rank
    return [
        _DYNAMIC not in (strides[at], strides[at + 1], type_.shape[at + 1])
        and strides[at] == strides[at + 1] * type_.shape[at + 1]
        for at in range(rank - 1)
    ]


def unaligned(arguments: Sequence[Argument]) -> list[tuple[Argument, Group]]:
    """Return the dimensions of which it is not known whether TMA steps along them.

    Raises:
        Unfit: for one that is known not to fit.
    """
    found: list[tuple[Argument, Group]] = []
    for argument in arguments:
        if not argument.by_tma:
            continue
        item = DTYPES[element(argument.access.value)].itemsize
        contiguous = argument.access.loops[-1]
        for group in argument.dims:
            if not group or contiguous in group:
                continue
            elements, is_known = _step(argument.access, group[-1])
            if elements * item % UNIT_BYTES == 0:
                continue
            if is_known:
                loops = " ".join(f"d{loop}" for loop in group)
                raise Unfit(
                    f"has an operand {argument.name} whose neighbours along {loops} are "
                    f"{elements * item} bytes apart; TMA takes multiples of {UNIT_BYTES}"
                )
            found.append((argument, group))
    return found


def _step(access: Access, loop: int) -> tuple[int, bool]:
    """Return a divisor of the elements between neighbours along a loop; whether it is their number."""
    type_, at = access.value.type, access.loops.index(loop)
    if isinstance(type_, ir.MemRefType) and not access.permutation:
        strides, _ = type_.get_strides_and_offset()
        if strides[at] != ir.ShapedType.get_dynamic_stride_or_offset():
            return strides[at], True
        if not _is_identity(type_):
            return 1, False
    extents = list(access.shape[at + 1 :])
    return prod(each for each in extents if each != _DYNAMIC), _DYNAMIC not in extents


def _is_identity(type_: Any) -> bool:
    return type_.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
