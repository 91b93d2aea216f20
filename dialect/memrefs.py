"""Memrefs as copies, views and stores see them: memory space, strides, alignment."""

from typing import Any

from .bindings import ir
from .caching import cached_in_context
from .diagnostics import Invalid

#: How global and workgroup memory are spelled: no space at all, upstream's attribute, or NVVM's number.
_GLOBAL = ("None", "1", "1 : i64", "1 : i32", "#gpu.address_space<global>")
_WORKGROUP = ("3", "3 : i64", "3 : i32", "#gpu.address_space<workgroup>")


def check_global(memref: Any, does: str) -> None:
    """Checks that a memref is in global memory.

    Raises:
        Invalid: if it is not; `does` says what is done with it, for example "copies from".
    """
    if str(memref.memory_space) not in _GLOBAL:
        preposition = does.split()[-1]
        raise Invalid(f"{does} global memory, not {preposition} memory space {memref.memory_space}")


def is_workgroup(memref: Any) -> bool:
    """Whether a memref is in the block's shared memory."""
    return str(memref.memory_space) in _WORKGROUP


@cached_in_context
def strides_of(memref: Any) -> tuple[tuple[int, ...], int]:
    """Strides and offset of a memref type, in elements; see `is_dynamic` for those not known.

    Raises:
        Invalid: if its layout is no list of strides.
    """
    try:
        strides, offset = memref.get_strides_and_offset()
    except RuntimeError:
        raise Invalid(
            f"takes memrefs with strides, for example strided<[?, 1], offset: ?>, not {memref}"
        ) from None
    return tuple(strides), offset


def is_dynamic(number: int) -> bool:
    """Whether a stride or an offset is known at run time only."""
    return number == ir.ShapedType.get_dynamic_stride_or_offset()


def contiguous_dim(memref: Any) -> int:
    """The dimension of a matrix along which neighbours are adjacent.

    Raises:
        Invalid: if none is known to be.
    """
    strides, _ = strides_of(memref)
    for dim in (1, 0):
        if strides[dim] == 1:
            return dim
    raise Invalid(
        f"copies from {memref}, in which no dimension has the stride 1; 16-byte accesses need one, "
        "for example strided<[?, 1], offset: ?>"
    )


def check_vectors(memref: Any, vector: int) -> None:
    """Checks that accesses of `vector` elements along the contiguous dimension are aligned.

    Strides and offsets that are known at run time only are the host's to check.

    Raises:
        Invalid: if one that the type says is no multiple of `vector`.
    """
    check_multiples(memref, contiguous_dim(memref), vector, "copies from", "a 16-byte access")


def check_multiples(memref: Any, contiguous: int, of: int, does: str, access: str) -> None:
    """Checks the offset of a matrix, and the stride of the dimension that is not contiguous.

    Raises:
        Invalid: if one that the type says is no multiple of `of`, the elements of `access`.
    """
    strides, offset = strides_of(memref)
    for name, number in {"offset": offset, "stride": strides[1 - contiguous]}.items():
        if not is_dynamic(number) and number % of:
            raise Invalid(
                f"{does} {memref}: the {name} of {number} elements is no multiple of {of}, the "
                f"elements of {access}"
            )
