"""A pipeline that bulk tensor copies fill: warp 0 of each CTA loads, warp 1 reads and writes results.

Each CTA of a cluster loads a subtile of each tile, and multicasts it to all of them. The full mbarrier of
a stage counts the bytes; the empty one counts the cluster's consumers, which arrive at that of every CTA.
The tile is swizzled (128B): its rows are 32 f32.
"""

import numpy as np

STEPS, STAGES, LANES = 5, 2, 32

#: Rows of a tile that one CTA loads.
ROWS = 8

#: Bytes of these rows.
SUBTILE_BYTES = ROWS * LANES * 4

#: What both partitions compute in an iteration: the stage's first row, its mbarriers and phase parity.
_STAGE = """%stage = arith.remui %i, %stages : index
        %slot = arith.muli %stage, %rows : index
        %round = arith.divui %i, %stages : index
        %round32 = arith.index_cast %round : index to i32
        %parity = arith.andi %round32, %one : i32
        %first_row = arith.muli %i, %rows : index
        %stage32 = arith.index_cast %stage : index to i32
        %full = llvm.getelementptr %flags[%stage32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %after = llvm.getelementptr %flags[%stages32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %empty = llvm.getelementptr %after[%stage32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64"""


def data(seed: int, blocks: int) -> np.ndarray:
    """Return the array of all tiles."""
    rows = STEPS * ROWS * blocks
    return np.random.default_rng(seed).standard_normal((rows, LANES)).astype(np.float32)


def text(blocks: int, grid: int) -> str:
    """Return the kernel.

    Args:
        blocks: the CTAs of a cluster.
        grid: the CTAs of the launch; each writes its copy of A to D.
    """
    rows = ROWS * blocks
    cluster = f", known_cluster_size = array<i32: {blocks}, 1, 1>" if blocks > 1 else ""
    mask = " multicast_mask = %everyone" if blocks > 1 else ""
    return f"""
!A = memref<{STEPS * rows}x{LANES}xf32>
!D = memref<{grid}x{STEPS * rows}x{LANES}xf32>
!tiles = memref<{STAGES * rows * LANES}xf32, #gpu.address_space<workgroup>>
gpu.module @kernels {{
  memref.global @tiles : !tiles {{alignment = 1024}}
  llvm.mlir.global internal @flags() {{addr_space = 3 : i32}} : !llvm.array<{2 * STAGES} x i64>
  gpu.func @pipeline(%A: !A {{smem.name = "A"}}, %D: !D {{smem.name = "D"}},
      %map: !llvm.ptr {{smem.tensor_map = {{argument = 0 : i64, box = array<i64: {ROWS}, {LANES}>,
        contiguous = 1 : i64, element = "f32", swizzle = "128B"}}}})
      kernel attributes {{known_block_size = array<i32: {2 * LANES}, 1, 1>{cluster}}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c7 = arith.constant 7 : index
    %lanes = arith.constant {LANES} : index
    %blocks = arith.constant {blocks} : index
    %stages = arith.constant {STAGES} : index
    %steps = arith.constant {STEPS} : index
    %rows = arith.constant {rows} : index
    %part = arith.constant {ROWS} : index
    %row_bytes = arith.constant {LANES * 4} : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %stages32 = arith.constant {STAGES} : i32
    %consumers = arith.constant {blocks} : i32
    %tile_bytes = arith.constant {blocks * SUBTILE_BYTES} : i32
    %everyone = arith.constant {(1 << blocks) - 1} : i16
    %all = arith.constant -1 : i32
    %ticks = arith.constant 10000000 : i32
    %tiles = memref.get_global @tiles : !tiles
    %tiles_at = memref.extract_aligned_pointer_as_index %tiles : !tiles -> index
    %flags = llvm.mlir.addressof @flags : !llvm.ptr<3>
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %rank = gpu.cluster_block_id x
    %lane = arith.remui %thread, %lanes : index
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {{
      scf.for %i = %c0 to %stages step %c1 {{
        {_STAGE}
        nvvm.mbarrier.init %full, %one : !llvm.ptr<3>, i32
        nvvm.mbarrier.init %empty, %consumers : !llvm.ptr<3>, i32
      }}
      nvvm.fence.mbarrier.init
    }}
    nvvm.cluster.arrive {{aligned}} // known
    nvvm.cluster.wait {{aligned}} // known
    %loads = arith.cmpi ult, %thread, %lanes : index
    scf.if %loads {{
      nvvm.prefetch tensormap, %map : !llvm.ptr
      %elected = nvvm.elect.sync -> i1
      scf.if %elected {{
        scf.for %i = %c0 to %steps step %c1 {{
        {_STAGE}
        %before = arith.xori %parity, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %before, %ticks : !llvm.ptr<3>, i32, i32
        nvvm.mbarrier.arrive.expect_tx %full, %tile_bytes : !llvm.ptr<3>, i32
        %mine = arith.muli %rank, %part : index
        %from = arith.addi %first_row, %mine : index
        %row = arith.index_cast %from : index to i32
        %in_pipeline = arith.addi %slot, %mine : index
        %offset = arith.muli %in_pipeline, %row_bytes : index
        %at = arith.addi %tiles_at, %offset : index
        %number = arith.index_cast %at : index to i64
        %local = llvm.inttoptr %number : i64 to !llvm.ptr<3>
        %to = llvm.addrspacecast %local : !llvm.ptr<3> to !llvm.ptr<7>
        nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %full, box[%zero, %row]{mask}
          : !llvm.ptr<7>, !llvm.ptr
        }}
      }}
    }} else {{
      scf.for %i = %c0 to %steps step %c1 {{
        {_STAGE}
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %unit = arith.divui %lane, %c4 : index
        %word = arith.remui %lane, %c4 : index
        scf.for %r = %c0 to %rows step %c1 {{
          %phase = arith.andi %r, %c7 : index
          %swizzled = arith.xori %unit, %phase : index
          %column = arith.muli %swizzled, %c4 : index
          %in_row = arith.addi %column, %word : index
          %row = arith.addi %slot, %r : index
          %before = arith.muli %row, %lanes : index
          %at = arith.addi %before, %in_row : index
          %value = memref.load %tiles[%at] : !tiles
          %to = arith.addi %first_row, %r : index
          memref.store %value, %D[%block, %to, %lane] : !D
        }}
        nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
        nvvm.bar.warp.sync %all : i32
        %sends = arith.cmpi ult, %lane, %blocks : index
        scf.if %sends {{
          %peer = arith.index_cast %lane : index to i32
          %remote = nvvm.mapa %empty, %peer : !llvm.ptr<3> -> !llvm.ptr<7>
          nvvm.mbarrier.arrive %remote {{scope = #nvvm.mem_scope<cluster>}} : !llvm.ptr<7>
        }}
      }}
    }}
    nvvm.cluster.arrive {{aligned}} // leaves
    nvvm.cluster.wait {{aligned}} // leaves
    gpu.return
  }}
}}
"""
