"""`smem.view`: a tile over workgroup memory that the host compiler has allocated."""

from collections.abc import Sequence
from math import prod

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext, ir
from ...layout.elements import UNIT_BYTES
from ...layout.swizzle import PHASE_BIT
from ..arguments import ElementType, Layout, Memref
from ..attributes import auto
from ..build import create, i64
from ..builder import builder
from ..elements import element_of
from ..memrefs import is_workgroup, strides_of
from ..types import TileType, allocation_layout_of, layout_of, shape_of, tile, tile_element
from ..verifier import verifier
from .memory import AllocationOp


class ViewOp(AllocationOp, name="view"):
    """Views `memref`, a contiguous memref in workgroup memory, as `tile`. The type of the tile gives the
    layout, or has `#smem.auto`, which `smem-assign-layouts` replaces.

    The optional attribute `alignment` asserts the alignment of the first element of the memref, in
    bytes. By default it is the alignment at which the swizzle of the layout has base offset 0. With
    less, at least 128 bytes, base offsets are computed at run time. A layout without swizzle needs at
    least 16 bytes.

    A chosen layout fits the bytes of the memref, if their number is static, and its swizzle has base
    offset 0: the pattern of a swizzle of 32, 64 or 128 bytes begins at multiples of 256, 512 or 1024
    bytes, so `alignment` bounds the choice. Without `alignment`, the memref must be of memory that the
    kernel or its module declares, at a constant offset.

    `smem-allocate` aligns buffers that the kernel or its module declares: workgroup buffers,
    `memref.global`, `memref.alloca`. For other memory, such as a function argument or dynamic shared
    memory (which `mlir_smem.compile` aligns to 1024 bytes), the asserted alignment becomes an
    `llvm.intr.assume`, which the emulator checks.
    """

    memref: ext.Operand[ir.MemRefType]
    tile: ext.Result[TileType]

    i64 = ("alignment",)

    @property
    def asserted_alignment(self) -> int | None:
        """The attribute `alignment`, in bytes; None if it is absent.

        Raises:
            Invalid: if the attribute is not a number.
        """
        if "alignment" not in self.attributes:
            return None
        attribute = self.attributes["alignment"].maybe_downcast()
        if not isinstance(attribute, ir.IntegerAttr):
            raise Invalid(f"takes alignment as a number of bytes, not {attribute}")
        return int(attribute.value)

    @property
    def alignment(self) -> int:
        """The asserted alignment of the memref's first element, in bytes.

        Raises:
            Invalid: if the attribute is not a number, or the tile has neither it nor a layout.
        """
        asserted = self.asserted_alignment
        if asserted is not None:
            return asserted
        layout = layout_of(self.tile.type)
        if layout is None:
            raise Invalid("has no layout; run smem-assign-layouts before")
        return layout.alignment

    @property
    def memref_bytes(self) -> int | None:
        """The bytes of the memref; None if they are known at run time only."""
        type_ = self.memref.type
        return _bytes(type_) if type_.has_static_shape else None

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.memref.type, self.tile.type
        layout, element = allocation_layout_of(result), tile_element(result)
        if not is_workgroup(source):
            raise Invalid(
                f"views memory in workgroup space (#gpu.address_space<workgroup>), not {source}"
            )
        if str(source.element_type) != "i8" and element_of(source.element_type) != element:
            raise Invalid(
                f"views elements of {source.element_type} as {element}; expected the same "
                "type, or bytes (i8)"
            )
        if not _is_contiguous(source):
            raise Invalid(f"views contiguous memory only, not {source}")
        needed_bytes = (
            layout.size_bytes if layout else -(-prod(shape_of(result)) * element.bits // 8)
        )
        size = self.memref_bytes
        if size is not None and size < needed_bytes:
            raise Invalid(f"needs {needed_bytes} bytes, but {source} has {size}")
        alignment = self.alignment if layout else self.asserted_alignment
        swizzled = layout is not None and layout.alignment > UNIT_BYTES
        least_alignment = 1 << PHASE_BIT if swizzled else UNIT_BYTES
        if alignment is not None and (alignment < least_alignment or alignment & (alignment - 1)):
            subject = f"a tile with swizzle {layout.swizzle}" if layout else "a tile"
            raise Invalid(
                f"has alignment {alignment}; {subject} can begin at multiples of {least_alignment} "
                "bytes (a power of two)"
            )


@builder
def view(
    memref: Memref,
    shape: Sequence[int],
    element: ElementType,
    layout: Layout | None = None,
    alignment: int | None = None,
) -> Value:
    """Build an `smem.view`: a tile (rows, columns) or (stages, rows, columns) over `memref`.

    Args:
        memref: a contiguous memref in workgroup memory.
        shape: (rows, columns), or (stages, rows, columns), in elements.
        element: the MLIR element type.
        layout: a layout attribute; `#smem.auto` by default.
        alignment: the asserted alignment of the memref's first element, in bytes; None asserts none.

    Example:
        >>> type_ = ir.Type.parse("memref<64x64xbf16, #gpu.address_space<workgroup>>")
        >>> memory = memref.get_global(type_, "shared")
        >>> print(smem.view(memory, (64, 64), bf16, attributes.swizzle("128B")).type)
        !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
    """
    asserted = None if alignment is None else i64(alignment)
    result = tile(shape, element, layout or auto())
    return create(ViewOp, [memref], [result], alignment=asserted).result


def _is_contiguous(memref: Type) -> bool:
    """Whether a memref is row-major without gaps."""
    if memref.affine_map == ir.AffineMap.get_identity(memref.rank):
        return True
    expected = 1
    strides, _ = strides_of(memref)
    for extent, stride in zip(reversed(memref.shape), reversed(strides), strict=True):
        if stride != expected:
            return False
        expected *= extent
    return True


def _bytes(memref: Type) -> int:
    count = element_of(memref.element_type).bits if str(memref.element_type) != "i8" else 8
    for extent in memref.shape:
        count *= extent
    return count // 8
