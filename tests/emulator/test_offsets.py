"""`smem.offset` on the emulator: every element of tiles, stages and subtiles, and a kernel that stores by
it."""

import numpy as np
import pytest
from host_kernels import STORES, stores_exact, stores_inputs

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.runtime import run_on_cpu

#: By MLIR element type: the rows and columns of a tile of two stages.
TILES = {
    "bf16": (64, 128),
    "f32": (32, 64),
    "i8": (32, 256),
    "f4E2M1FN": (16, 512),
    "i1": (16, 2048),
}
#: (rows, columns) of a subtile, and where it begins, at run time or not.
SUBTILES = {"tile": None, "atoms": (8, 0), "inside": (3, 16), "element": (1, 1)}


def layouts(element):
    widths = ("128B", "64B", "32B", "none")
    swizzles = [f'#smem.swizzle<"{width}", "row-major">' for width in widths]
    if element == "f32":
        swizzles.append('#smem.swizzle<"128B_ATOM_32B", "column-major">')
    return swizzles if element == "i1" else [*swizzles, '#smem.swizzle<"128B", "column-major">']


CASES = [
    (element, layout, part) for element in TILES for layout in layouts(element) for part in SUBTILES
]


def elements_of(layout):
    """The offset of each element from the start of a tile, in elements."""
    bits = layout.element.bits
    if bits >= 8:
        return layout.offsets() // (bits // 8)
    return layout.offsets() * 8 // bits + layout.linear() % (8 // bits)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("element, layout, part", CASES)
def test_each_element_is_where_the_layout_says(element, layout, part, static):
    rows, columns = TILES[element]
    begin = SUBTILES[part] or (0, 0)
    height, width = rows - begin[0], columns - begin[1]
    tile = f"!smem.tile<tensor<2x{rows}x{columns}x{element}>, {layout}>"
    with new_context():
        tile_layout = mlir_smem.layout_of(ir.Type.parse(tile))
        inner = tile_layout.stage(1).layout
        cut = inner.slice(begin, (height, width)).layout
        stage_type, part_type = (
            mlir_smem.dialect.types.with_layout(ir.Type.parse(text), part_layout)
            for text, part_layout in (
                (f"!smem.tile<tensor<{rows}x{columns}x{element}>, #smem.auto>", inner),
                (f"!smem.tile<tensor<{height}x{width}x{element}>, #smem.auto>", cut),
            )
        )
    size = tile_layout.size_bytes
    memory = f"memref<{size}xi8, #gpu.address_space<workgroup>>"
    taken = "array<i64: -9223372036854775808, -9223372036854775808>"
    known = (
        f"static_offsets = {taken}, multiple_of = array<i64: {begin[0] or 64}, {begin[1] or 64}>"
    )
    starts, start_types = "%t, %row, %column", f"{stage_type}, index, index"
    auto = f"!smem.tile<tensor<{height}x{width}x{element}>, #smem.auto>"
    if static:
        known = f"static_offsets = array<i64: {begin[0]}, {begin[1]}>"
        starts, start_types, auto = "%t", str(stage_type), str(part_type)
    text = f"""
gpu.module @kernels {{
  gpu.func @kernel(%I: memref<3xi32> {{smem.name = "I"}},
                   %O: memref<{height}x{width}xi32> {{smem.name = "O"}})
      workgroup(%bytes: {memory}) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %height = arith.constant {height} : index
    %width = arith.constant {width} : index
    %thread = gpu.thread_id x
    %n0 = memref.load %I[%c0] : memref<3xi32>
    %n1 = memref.load %I[%c1] : memref<3xi32>
    %n2 = memref.load %I[%c2] : memref<3xi32>
    %stage = arith.index_cast %n0 : i32 to index
    %row = arith.index_cast %n1 : i32 to index
    %column = arith.index_cast %n2 : i32 to index
    %a = "smem.view"(%bytes) : ({memory}) -> {tile}
    %t = "smem.stage"(%a, %stage) : ({tile}, index) -> {stage_type}
    %p = "smem.subtile"({starts}) {{{known}}} : ({start_types}) -> {auto}
    scf.for %r = %c0 to %height step %c1 {{
      scf.for %c = %thread to %width step %c128 {{
        %o = "smem.offset"(%p, %r, %c) : ({auto}, index, index) -> index
        %n = arith.index_cast %o : index to i32
        memref.store %n, %O[%r, %c] : memref<{height}x{width}xi32>
      }}
    }}
    gpu.return
  }}
}}
"""
    inputs = {"I": np.array([1, *begin], np.int32)}
    # sm_90 has no swizzle of units of 32 bytes.
    lowered = mlir_smem.compile(text, emit="nvvm", arch="sm_100a" if "ATOM" in layout else "sm_90a")
    offsets = run_on_cpu(lowered, "kernel", inputs, ["O"], (1, 1, 1))["O"]
    expected = elements_of(tile_layout)[1, begin[0] :, begin[1] :]
    assert (offsets == expected).all()


def test_a_host_stores_and_reads_registers():
    inputs = stores_inputs()
    lowered = mlir_smem.compile(STORES, emit="nvvm")
    output = run_on_cpu(lowered, "kernel", inputs, ["O"], (1, 1, 1))["O"]
    assert (output == stores_exact(inputs)).all()
