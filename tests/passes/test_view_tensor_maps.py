"""Tensor maps of nvgpu that fill a tile: the type of its layout fits, that of another layout does not."""

import pytest

import mlir_smem
from mlir_smem.bindings import ir, passmanager
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.layout import tensor_map

LAYOUTS = {
    "swizzled rows": ("64x64xf16", '#smem.swizzle<"128B", "row-major">'),
    "rows of two boxes": ("64x128xf16", '#smem.swizzle<"128B", "row-major">'),
    "narrow swizzle": ("64x64xf16", '#smem.swizzle<"64B", "row-major">'),
    "columns": ("64x64xbf16", '#smem.swizzle<"32B", "column-major">'),
    "no swizzle": ("64x8xf16", '#smem.layout<"(64,8):(8,1)">'),
    "stages": ("2x64x64xf32", '#smem.swizzle<"128B", "row-major">'),
    "bytes": ("64x64xi8", '#smem.swizzle<"64B", "row-major">'),
}


def map_type_of(name):
    """Upstream's type of the map that fills a tile of the layout."""
    tile, layout = LAYOUTS[name]
    with mlir_smem.register(ir.Context()), ir.Location.unknown():
        tile_layout = mlir_smem.layout_of(ir.Type.parse(f"!smem.tile<tensor<{tile}>, {layout}>"))
    return tensor_map(
        tile_layout.stage(0).layout if len(tile_layout.shape) == 3 else tile_layout
    ).nvgpu_type()


def allocate(name, map_type):
    """Run smem-allocate on a kernel that fills the memory of a tile by a map."""
    tile, layout = LAYOUTS[name]
    *box, element = map_type.partition("memref<")[2].partition(",")[0].split("x")
    text = f"""
!t = !smem.tile<tensor<{tile}>, {layout}>
!w = memref<64x{"x".join(box)}x{element}, 3>
!part = memref<{"x".join(box)}x{element}, strided<[{box[1]}, 1], offset: ?>, 3>
!map = {map_type}
!bar = !nvgpu.mbarrier.group<memorySpace = 3, num_barriers = 1>
memref.global "private" @memory : !w
func.func @f(%map: !map, %i: index) {{
  %bar = nvgpu.mbarrier.create -> !bar
  %memory = memref.get_global @memory : !w
  %t = "smem.view"(%memory) : (!w) -> !t
  %part = memref.subview %memory[%i, 0, 0] [1, {", ".join(box)}] [1, 1, 1] : !w to !part
  nvgpu.tma.async.load %map[%i, %i], %bar[%i] to %part : !map, !bar -> !part
  return
}}"""
    with mlir_smem.register(ir.Context()):
        module = parse_module(text)
        pm = passmanager.PassManager("builtin.module")
        mlir_smem.add_passes(pm, "smem-allocate")
        pm.run(module.operation)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_map_of_the_layout_fits(name):
    allocate(name, map_type_of(name))


@pytest.mark.parametrize(
    "name, other",
    [
        ("swizzled rows", "narrow swizzle"),
        ("narrow swizzle", "swizzled rows"),
        ("no swizzle", "swizzled rows"),
        ("rows of two boxes", "no swizzle"),
    ],
)
def test_the_map_of_another_layout_does_not(name, other):
    with pytest.raises(ir.MLIRError) as error:
        allocate(name, map_type_of(other))
    assert f"expected {map_type_of(name)}" in str(error.value)
