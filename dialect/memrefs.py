"""Checks of memref types: memory space, strides, alignment."""

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Type
from ..bindings.mlir import ir
from .caching import cached_in_context

#: Texts of the memory spaces of global and workgroup memory: none, the gpu attribute, or NVVM's number.
_GLOBAL = ("None", "1", "1 : i64", "1 : i32", "#gpu.address_space<global>")
_WORKGROUP = ("3", "3 : i64", "3 : i32", "#gpu.address_space<workgroup>")


def check_global(memref: Type, verb: str) -> None:
    """Check that a memref is in global memory.

    Args:
        memref: the memref type.
        verb: the verb of the message, for example "copies from".

    Raises:
        Invalid: if it is not.
    """
    if str(memref.memory_space) not in _GLOBAL:
        preposition = verb.split()[-1]
        raise Invalid(f"{verb} global memory, not {preposition} memory space {memref.memory_space}")


def is_workgroup(memref: Type) -> bool:
    """Whether a memref is in shared memory (workgroup memory)."""
    return str(memref.memory_space) in _WORKGROUP


@cached_in_context
def strides_of(memref: Type) -> tuple[tuple[int, ...], int]:
    """Return strides and offset of a memref type, in elements; see `is_dynamic` for dynamic ones.

    Raises:
        Invalid: if its layout is not strided.
    """
    try:
        strides, offset = memref.get_strides_and_offset()
    except RuntimeError:
        raise Invalid(
            f"takes memrefs with strides, for example strided<[?, 1], offset: ?>, not {memref}"
        ) from None
    return tuple(strides), offset


def has_identity_layout(memref: Type) -> bool:
    """Return whether a memref's elements follow each other from its first address, rows first."""
    return memref.affine_map == ir.AffineMap.get_identity(memref.rank)


def is_dynamic(number: int) -> bool:
    """Whether a stride or an offset is known at run time only."""
    return number == ir.ShapedType.get_dynamic_stride_or_offset()


def contiguous_dim(memref: Type) -> int:
    """Return the contiguous dimension of a matrix (0 or 1).

    Raises:
        Invalid: if no stride is the constant 1.
    """
    strides, _ = strides_of(memref)
    for dim in (1, 0):
        if strides[dim] == 1:
            return dim
    raise Invalid(
        f"copies from {memref}, in which no dimension has the stride 1; 16-byte accesses need one, "
        "for example strided<[?, 1], offset: ?>"
    )


def check_vectors(memref: Type, vector: int) -> None:
    """Check that accesses of `vector` elements along the contiguous dimension are aligned.

    The host checks dynamic strides and offsets.

    Raises:
        Invalid: if a static stride or offset is not a multiple of `vector`.
    """
    check_multiples(memref, contiguous_dim(memref), vector, "copies from", "a 16-byte access")


def check_multiples(memref: Type, contiguous: int, multiple: int, verb: str, access: str) -> None:
    """Check the offset of a memref, and the strides of its dimensions that are not contiguous.

    Args:
        memref: the memref type.
        contiguous: its contiguous dimension.
        multiple: the number of elements of an access.
        verb, access: words of the message, for example "copies from" and "a 16-byte access".

    Raises:
        Invalid: if a static one is not a multiple of `multiple`.
    """
    strides, offset = strides_of(memref)
    outer_strides = [stride for dim, stride in enumerate(strides) if dim != contiguous]
    for name, number in (("offset", offset), *(("stride", stride) for stride in outer_strides)):
        if not is_dynamic(number) and number % multiple:
            raise Invalid(
                f"{verb} {memref}: the {name} of {number} elements is not a multiple of {multiple}, the "
                f"elements of {access}"
            )
