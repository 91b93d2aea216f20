"""`smem.view`: a tile over workgroup memory that the host compiler has allocated."""

from collections.abc import Sequence

from ...layout.swizzle import PHASE_BIT
from ..arguments import ElementType, Layout, Memref
from ..bindings import ext, ir
from ..build import create, i64
from ..builder import builder
from ..diagnostics import Invalid, verifier
from ..elements import element_of
from ..irtypes import Type, Value
from ..memrefs import is_workgroup, strides_of
from ..types import TileType, allocation_layout_of, layout_of, tile
from .memory import AllocationOp


class ViewOp(AllocationOp, name="view"):
    """Views `memref`, a contiguous memref in workgroup memory, as `tile`. The layout of the tile is
    given by its type.

    The optional attribute `alignment` asserts the alignment of the first element of the memref, in
    bytes. By default it is the alignment at which the swizzle of the layout has base offset 0. With
    less, at least 128 bytes, base offsets are computed at run time. A layout without swizzle needs at
    least 16 bytes.

    `smem-allocate` aligns buffers that the kernel or its module declares: workgroup buffers,
    `memref.global`, `memref.alloca`. For other memory, such as a function argument or dynamic shared
    memory (which `mlir_smem.compile` aligns to 1024 bytes), the asserted alignment becomes an
    `llvm.intr.assume`, which the emulator checks.
    """

    memref: ext.Operand[ir.MemRefType]
    tile: ext.Result[TileType]

    i64 = ("alignment",)

    @property
    def alignment(self) -> int:
        """The asserted alignment of the memref's first element, in bytes.

        Raises:
            Invalid: if the attribute is not a number.
        """
        if "alignment" in self.attributes:
            given = self.attributes["alignment"].maybe_downcast()
            if not isinstance(given, ir.IntegerAttr):
                raise Invalid(f"takes alignment as a number of bytes, not {given}")
            return int(given.value)
        layout = layout_of(self.tile.type)
        assert layout is not None
        return layout.alignment

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.memref.type, self.tile.type
        layout = allocation_layout_of(result)
        if layout is None:
            raise Invalid("needs a layout: smem-assign-layouts assigns none to existing memory")
        if not is_workgroup(source):
            raise Invalid(
                f"views memory in workgroup space (#gpu.address_space<workgroup>), not {source}"
            )
        if str(source.element_type) != "i8" and element_of(source.element_type) != layout.element:
            raise Invalid(
                f"views elements of {source.element_type} as {layout.element}; expected the same "
                "type, or bytes (i8)"
            )
        if not _is_contiguous(source):
            raise Invalid(f"views contiguous memory only, not {source}")
        if source.has_static_shape:
            size = _bytes(source)
            if size < layout.size_bytes:
                raise Invalid(f"needs {layout.size_bytes} bytes, but {source} has {size}")
        alignment = self.alignment
        least = 16 if layout.alignment == 16 else 1 << PHASE_BIT
        if alignment < least or alignment & (alignment - 1):
            raise Invalid(
                f"has alignment {alignment}; a tile with swizzle {layout.swizzle} can begin at "
                f"multiples of {least} bytes (a power of two)"
            )


@builder
def view(
    memref: Memref,
    shape: Sequence[int],
    element: ElementType,
    layout: Layout,
    alignment: int | None = None,
) -> Value:
    """Build an `smem.view`: a tile (rows, columns) or (stages, rows, columns) over `memref`.

    Args:
        memref: contiguous memory of the workgroup.
        shape: (rows, columns), or (stages, rows, columns), in elements.
        element: the MLIR element type.
        layout: a layout attribute.
        alignment: the alignment of the first element, in bytes; None for that of the layout's swizzle.

    Example:
        >>> type_ = ir.Type.parse("memref<64x64xbf16, #gpu.address_space<workgroup>>")
        >>> memory = memref.get_global(type_, "shared")
        >>> print(smem.view(memory, (64, 64), bf16, attributes.swizzle("128B")).type)
        !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
    """
    asserted = None if alignment is None else i64(alignment)
    return create(ViewOp, [memref], [tile(shape, element, layout)], alignment=asserted).result


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
