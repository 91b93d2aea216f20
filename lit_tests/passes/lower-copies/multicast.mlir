// CTAs of a cluster that load the same tile together: each loads its share with a multicast to all of them, and
// expects the bytes of the whole tile. The box of the tensor map is that of a share.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!m = memref<?x?xbf16, strided<[?, 1]>>
!tile = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!wide = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>

gpu.module @kernels {
  // Lines are divided: 64 of 128 rows, of 128 bytes.
  // CHECK-LABEL: gpu.func @along_x
  // CHECK-SAME: box = array<i64: 64, 64>
  gpu.func @along_x(%m: !m, %step: index, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !tile
    // CHECK: %[[BYTES:.*]] = arith.constant 16384 : i32
    // CHECK-NEXT: nvvm.mbarrier.expect_tx %[[FULL:.*]], %[[BYTES]] : !llvm.ptr<3>, i32
    // CHECK: %[[ROW:.*]] = arith.index_cast %arg2 : index to i32
    // CHECK: %[[COLUMN:.*]] = arith.index_cast %arg3 : index to i32
    // CHECK: %[[X:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    // CHECK: %[[FIRST:.*]] = arith.muli %[[X]], %c64_i32{{.*}} : i32
    // CHECK: %[[UNITS:.*]] = arith.muli %[[FIRST]], %c8_i32{{.*}} : i32
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[UNITS]], %c16_i32{{.*}} : i32
    // CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]]
    // CHECK: %[[BOTH:.*]] = arith.constant 3 : i32
    // CHECK-NEXT: %[[MASK:.*]] = arith.trunci %[[BOTH]] : i32 to i16
    // CHECK: %[[OWN:.*]] = arith.addi %[[ROW]], %[[FIRST]] : i32
    // CHECK: %[[TO:.*]] = llvm.addrspacecast %[[AT]] : !llvm.ptr<3> to !llvm.ptr<7>
    // CHECK-NEXT: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TO]], %{{.*}}, %[[FULL]], box[%[[COLUMN]], %[[OWN]]] multicast_mask = %[[MASK]] : !llvm.ptr<7>, !llvm.ptr
    "smem.tma_load"(%m, %t, %r, %step, %i, %j) {multicast = "x"} : (!m, !tile, !smem.pipeline, index, index, index) -> ()
    gpu.return
  }

  // In a cluster of 2 x 4, x is the fastest dimension: the CTAs of a column have every second rank.
  // CHECK-LABEL: gpu.func @along_y
  // CHECK-SAME: box = array<i64: 32, 64>
  gpu.func @along_y(%m: !m, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 4, 1>} {
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !tile
    // CHECK: %[[Y:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.y : i32
    // CHECK: arith.muli %[[Y]], %c32_i32{{.*}} : i32
    // CHECK: %[[X:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    // CHECK: %[[COLUMN:.*]] = arith.constant 85 : i32
    // CHECK-NEXT: %[[SHIFTED:.*]] = arith.shli %[[COLUMN]], %[[X]] : i32
    // CHECK-NEXT: %[[MASK:.*]] = arith.trunci %[[SHIFTED]] : i32 to i16
    // CHECK: l2_cache_hint = %{{.*}}
    "smem.tma_load"(%m, %t, %r, %i, %i, %j) {multicast = "y", cache = "evict_last"} : (!m, !tile, !smem.pipeline, index, index, index) -> ()
    gpu.return
  }

  // The rows of a cluster of 4 x 2. Two loads of a pipeline may multicast along different dimensions.
  // CHECK-LABEL: gpu.func @both
  // CHECK-SAME: box = array<i64: 32, 64>
  // CHECK-SAME: box = array<i64: 64, 64>
  gpu.func @both(%m: !m, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 4, 2, 1>} {
    %r = "smem.create_pipeline"() {offset = 32768 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !tile
    %u = "smem.alloc"() {offset = 16384 : i64} : () -> !tile
    // CHECK: %[[Y:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.y : i32
    // CHECK: %[[ABOVE:.*]] = arith.muli %[[Y]], %c4_i32{{.*}} : i32
    // CHECK: %[[ROW:.*]] = arith.constant 15 : i32
    // CHECK-NEXT: arith.shli %[[ROW]], %[[ABOVE]] : i32
    // CHECK: multicast_mask
    "smem.tma_load"(%m, %t, %r, %i, %i, %j) {multicast = "x"} : (!m, !tile, !smem.pipeline, index, index, index) -> ()
    // CHECK: %[[X:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    // CHECK: %[[COLUMN:.*]] = arith.constant 17 : i32
    // CHECK-NEXT: arith.shli %[[COLUMN]], %[[X]] : i32
    // CHECK: multicast_mask
    "smem.tma_load"(%m, %u, %r, %i, %i, %j) {multicast = "y"} : (!m, !tile, !smem.pipeline, index, index, index) -> ()
    gpu.return
  }

  // A tile of two boxes, one for each CTA: the columns are divided, so each CTA issues one copy.
  // CHECK-LABEL: gpu.func @columns
  // CHECK-SAME: box = array<i64: 64, 64>
  gpu.func @columns(%m: !m, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !wide
    // CHECK: nvvm.mbarrier.expect_tx
    // CHECK: %[[ROW:.*]] = arith.index_cast %arg1 : index to i32
    // CHECK: %[[COLUMN:.*]] = arith.index_cast %arg2 : index to i32
    // CHECK: %[[X:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    // CHECK: %[[FIRST:.*]] = arith.muli %[[X]], %c64_i32{{.*}} : i32
    // CHECK: %[[OWN:.*]] = arith.addi %[[COLUMN]], %[[FIRST]] : i32
    // CHECK: box[%[[OWN]], %[[ROW]]]
    // CHECK-NOT: nvvm.cp.async.bulk
    // CHECK: gpu.return
    "smem.tma_load"(%m, %t, %r, %i, %i, %j) {multicast = "x"} : (!m, !wide, !smem.pipeline, index, index, index) -> ()
    gpu.return
  }
}

// For b1, the share is 1024 columns: 128 bytes of the matrix.
!i8 = memref<?x?xi8, strided<[?, 1]>>
!bits = !smem.tile<tensor<64x2048xi1>, #smem.swizzle<"128B", "row-major">>

gpu.module @bits {
  // CHECK-LABEL: gpu.func @bits
  gpu.func @bits(%m: !i8, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !bits
    // CHECK: nvvm.mbarrier.expect_tx
    // CHECK: %[[COLUMN:.*]] = arith.index_cast %arg2 : index to i32
    // CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c1024_i32{{.*}} : i32
    // CHECK: %[[BYTES:.*]] = arith.divui %[[FIRST]], %c8_i32{{.*}} : i32
    // CHECK-NEXT: %[[OWN:.*]] = arith.addi %[[COLUMN]], %[[BYTES]] : i32
    // CHECK: box[%[[OWN]], %{{.*}}]
    "smem.tma_load"(%m, %t, %r, %i, %i, %j) {multicast = "x"} : (!i8, !bits, !smem.pipeline, index, index, index) -> ()
    gpu.return
  }
}
