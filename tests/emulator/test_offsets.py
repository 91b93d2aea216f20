"""`smem.offset` on the emulator: every element of tiles, stages and subtiles, and a kernel that stores by
it."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem
from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir
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
    found = [f'#smem.swizzle<"{width}", "row-major">' for width in widths]
    return found if element == "i1" else [*found, '#smem.swizzle<"128B", "column-major">']


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
        found = mlir_smem.layout_of(ir.Type.parse(tile))
        inner = found.stage(1).layout
        cut = inner.slice(begin, (height, width)).layout
        stage_type, part_type = (
            mlir_smem.dialect.types.with_layout(ir.Type.parse(text), of)
            for text, of in (
                (f"!smem.tile<tensor<{rows}x{columns}x{element}>, #smem.auto>", inner),
                (f"!smem.tile<tensor<{height}x{width}x{element}>, #smem.auto>", cut),
            )
        )
    size = found.size_bytes
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
    given = {"I": np.array([1, *begin], np.int32)}
    lowered = mlir_smem.compile(text, emit="nvvm")
    result = run_on_cpu(lowered, "kernel", given, ["O"], (1, 1, 1))["O"]
    expected = elements_of(found)[1, begin[0] :, begin[1] :]
    assert (result == expected).all()


#: A kernel of a host: its own memory and loads, 16 bytes of swizzled stores, an epilogue on vectors.
HOST = """
!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!m = memref<64x64xbf16, strided<[64, 1]>>
gpu.module @kernels {
  memref.global "private" @bytes : !w
  gpu.func @kernel(%A: !m {smem.name = "A"}, %Bt: !m {smem.name = "Bt"},
                   %O: memref<128x32xf32> {smem.name = "O"})
      workgroup(%first: !w) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    %second = memref.get_global @bytes : !w
    %a = "smem.view"(%first) : (!w) -> !a
    %b = "smem.view"(%second) : (!w) -> !a
    %thread = gpu.thread_id x
    scf.for %i = %thread to %c512 step %c128 {
      %line = arith.divui %i, %c8 : index
      %unit = arith.remui %i, %c8 : index
      %along = arith.muli %unit, %c8 : index
      %v = vector.load %A[%line, %along] : !m, vector<8xbf16>
      %o = "smem.offset"(%a, %line, %along) {vector = array<i64: 1, 8>} : (!a, index, index) -> index
      vector.store %v, %first[%o] : !w, vector<8xbf16>
      %w = vector.load %Bt[%line, %along] : !m, vector<8xbf16>
      %p = "smem.offset"(%b, %along, %line) {vector = array<i64: 8, 1>} : (!a, index, index) -> index
      vector.store %w, %second[%p] : !w, vector<8xbf16>
    }
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %b) : (!a, !a) -> !d
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    %r = "smem.to_registers"(%e) : (!c) -> vector<32xf32>
    %s = arith.addf %r, %r : vector<32xf32>
    vector.store %s, %O[%thread, %c0] : memref<128x32xf32>, vector<32xf32>
    gpu.return
  }
}
"""


def test_a_host_stores_and_reads_registers():
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, (64, 64)).astype(ml_dtypes.bfloat16) for _ in range(2))
    given = {"A": a, "Bt": np.ascontiguousarray(b.T)}
    lowered = mlir_smem.compile(HOST, emit="nvvm")
    found = run_on_cpu(lowered, "kernel", given, ["O"], (1, 1, 1))["O"]
    row, column = np.moveaxis(mlir_smem.layout.accumulator_coordinates(64, 64), -1, 0)
    assert (found == (2 * a.astype(np.float32) @ b.astype(np.float32))[row, column]).all()
