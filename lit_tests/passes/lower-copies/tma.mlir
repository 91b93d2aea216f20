// One instruction copies one box; its tensor map is a parameter after the kernel's own. The first coordinate is that
// of the contiguous dimension.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!m = memref<?x?xbf16, strided<[?, 1]>>
!stages = !smem.tile<tensor<4x128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!rows = !smem.tile<tensor<258x64xbf16>, #smem.layout<"(258,64):(64,1)">>
!stage = !smem.tile<tensor<128x64xbf16>, #smem.auto>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @a_stage
  // CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 0 : i64, box = array<i64: 128, 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}})
  gpu.func @a_stage(%m: !m, %step: index, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // One thread prefetches the map.
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32{{.*}} : i32
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK-NEXT: nvvm.prefetch tensormap, %[[MAP]] : !llvm.ptr
    // CHECK-NEXT: }
    %r = "smem.create_pipeline"() {offset = 65536 : i64, stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !stages
    %slot = "smem.producer_acquire"(%r, %step) : (!smem.pipeline, index) -> index
    %s = "smem.stage"(%t, %slot) : (!stages, index) -> !stage
    // expect_tx comes before the copy, at the full mbarrier of the stage.
    // CHECK: nvvm.mbarrier.try_wait.parity
    // CHECK-NEXT: %[[SLOT:.*]] = arith.index_castui %{{.*}} : i32 to index
    // CHECK: %[[FULLS:.*]] = llvm.getelementptr %{{.*}}[65536]
    // CHECK: %[[FULL:.*]] = llvm.getelementptr %[[FULLS]][%{{.*}}]
    // CHECK-NEXT: %[[BYTES:.*]] = arith.constant 16384 : i32
    // CHECK-NEXT: nvvm.mbarrier.expect_tx %[[FULL]], %[[BYTES]] : !llvm.ptr<3>, i32
    // CHECK-NEXT: %[[ROW:.*]] = arith.index_cast %arg2 : index to i32
    // CHECK-NEXT: %[[COLUMN:.*]] = arith.index_cast %arg3 : index to i32
    // CHECK: %[[I:.*]] = arith.index_cast %[[SLOT]] : index to i32
    // CHECK: %[[UNITS:.*]] = arith.muli %[[I]], %c1024_i32{{.*}} : i32
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[UNITS]], %c16_i32{{.*}} : i32
    // CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    // CHECK: %[[TO:.*]] = llvm.addrspacecast %[[AT]] : !llvm.ptr<3> to !llvm.ptr<7>
    // CHECK-NEXT: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TO]], %[[MAP]], %[[FULL]], box[%[[COLUMN]], %[[ROW]]] : !llvm.ptr<7>, !llvm.ptr
    // CHECK-NEXT: gpu.return
    "smem.tma_load"(%m, %s, %r, %step, %i, %j) : (!m, !stage, !smem.pipeline, index, index, index) -> ()
    gpu.return
  }
}

// Boxes have 256 elements along a dimension at most, and lines no longer than the swizzle: 512 x 128 are four.
!wide = !smem.tile<tensor<512x128xbf16>, #smem.swizzle<"128B", "row-major">>

gpu.module @boxes {
  // CHECK-LABEL: gpu.func @several
  // CHECK-SAME: box = array<i64: 256, 64>
  // CHECK-NOT: smem.tensor_map
  gpu.func @several(%m: !m, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = "smem.create_pipeline"() {offset = 131072 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !wide
    // CHECK: arith.constant 131072 : i32
    // CHECK-NEXT: nvvm.mbarrier.expect_tx
    // CHECK-NOT: nvvm.mbarrier.expect_tx
    // CHECK: %[[ROW:.*]] = arith.index_cast %arg1 : index to i32
    // CHECK: %[[COLUMN:.*]] = arith.index_cast %arg2 : index to i32
    // CHECK: %[[T:.*]] = llvm.mlir.addressof
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%[[COLUMN]], %[[ROW]]]
    // CHECK: llvm.getelementptr %[[T]][32768]
    // CHECK: %[[LOW:.*]] = arith.addi %[[ROW]], %c256_i32{{.*}} : i32
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%[[COLUMN]], %[[LOW]]]
    // CHECK: llvm.getelementptr %[[T]][65536]
    // CHECK: %[[RIGHT:.*]] = arith.addi %[[COLUMN]], %c64_i32{{.*}} : i32
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%[[RIGHT]], %[[ROW]]]
    // CHECK: llvm.getelementptr %[[T]][98304]
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
    // CHECK-NOT: nvvm.cp.async.bulk
    // CHECK: gpu.return
    "smem.tma_load"(%m, %t, %r, %i, %i, %j) : (!m, !wide, !smem.pipeline, index, index, index) -> ()
    gpu.return
  }
}

// Rows of a column-major matrix in a batch of matrices. A buffer of the function comes after its parameters.
//
!batch = memref<4x?x?xbf16, strided<[?, 1, ?]>>
!columns = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "column-major">>
!buffer = memref<4xf32, #gpu.address_space<workgroup>>

gpu.module @batches {
  // CHECK-LABEL: gpu.func @rank_3
  // CHECK-SAME: (%arg0: f32, %arg1: memref<4x?x?xbf16, strided<[?, 1, ?]>>, %arg2: index, %arg3: index, %arg4: index, %[[MAP:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 1 : i64, box = array<i64: 1, 64, 128>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}})
  // CHECK-SAME: workgroup(%[[BUFFER:[a-z0-9]+]] : memref<4xf32, #gpu.address_space<workgroup>>)
  gpu.func @rank_3(%x: f32, %m: !batch, %b: index, %i: index, %j: index) workgroup(%w : !buffer) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !columns
    // CHECK: nvvm.mbarrier.expect_tx
    // CHECK-NEXT: %[[B:.*]] = arith.index_cast %arg2 : index to i32
    // CHECK-NEXT: %[[ROW:.*]] = arith.index_cast %arg3 : index to i32
    // CHECK-NEXT: %[[COLUMN:.*]] = arith.index_cast %arg4 : index to i32
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[ROW]], %[[COLUMN]], %[[B]]] : !llvm.ptr<7>, !llvm.ptr
    "smem.tma_load"(%m, %t, %r, %b, %b, %i, %j) : (!batch, !columns, !smem.pipeline, index, index, index, index) -> ()
    // CHECK: memref.store %arg0, %[[BUFFER]]
    memref.store %x, %w[%i] : !buffer
    gpu.return
  }
}

// The element type of a map is that of the tile, also where the matrix holds f32 for tf32. b1 is copied as bytes, so
// coordinates in i8 are an eighth. Copies with equal maps share one; another function has its own.
!f32 = memref<?x?xf32, strided<[?, 1]>>
!i8 = memref<?x?xi8, strided<[?, 1]>>
!tf32 = !smem.tile<tensor<64x32xtf32>, #smem.swizzle<"128B", "row-major">>
!bits = !smem.tile<tensor<64x2048xi1>, #smem.swizzle<"128B", "row-major">>
!bytes = !smem.tile<tensor<64x128xui8>, #smem.swizzle<"128B", "row-major">>

gpu.module @elements {
  // CHECK-LABEL: gpu.func @tf32_and_bits
  // CHECK-SAME: %[[TF32:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 32>, contiguous = 1 : i64, element = "tf32", swizzle = "128B"}}
  // CHECK-SAME: %[[BITS:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 1 : i64, box = array<i64: 64, 128>, contiguous = 1 : i64, element = "i8", swizzle = "128B"}})
  gpu.func @tf32_and_bits(%m: !f32, %n: !i8, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: nvvm.prefetch tensormap, %[[TF32]]
    // CHECK-NEXT: nvvm.prefetch tensormap, %[[BITS]]
    %r = "smem.create_pipeline"() {offset = 32768 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !tf32
    %u = "smem.alloc"() {offset = 8192 : i64} : () -> !bits
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[TF32]]
    "smem.tma_load"(%m, %t, %r, %i, %i, %j) : (!f32, !tf32, !smem.pipeline, index, index, index) -> ()
    // CHECK: nvvm.mbarrier.expect_tx
    // CHECK: %[[BYTE:.*]] = arith.index_cast %arg3 : index to i32
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[BITS]], %{{.*}}, box[%[[BYTE]], %{{.*}}]
    // CHECK: llvm.getelementptr %{{.*}}[8192]
    // CHECK: %[[FURTHER:.*]] = arith.addi %[[BYTE]], %c128_i32{{.*}} : i32
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[BITS]], %{{.*}}, box[%[[FURTHER]], %{{.*}}]
    "smem.tma_load"(%n, %u, %r, %i, %i, %j) : (!i8, !bits, !smem.pipeline, index, index, index) -> ()
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[TF32]]
    "smem.tma_store"(%t, %m, %i, %j) : (!tf32, !f32, index, index) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @unsigned
  // CHECK-SAME: %arg0: memref<?x?xi8, strided<[?, 1]>> {smem.name = "A"}, %arg1: index, %arg2: !llvm.ptr {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 128>, contiguous = 1 : i64, element = "ui8", swizzle = "128B"}})
  gpu.func @unsigned(%n: !i8 {smem.name = "A"}, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !bytes
    "smem.tma_store"(%t, %n, %i, %i) : (!bytes, !i8, index, index) -> ()
    gpu.return
  }
}

// A store reads shared memory of its own CTA. Bulk groups are those of a thread. If the size of the CTA is not known,
// no thread prefetches the map.
gpu.module @stores {
  // CHECK-LABEL: gpu.func @store
  // CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr
  gpu.func @store(%m: !m, %i: index, %j: index) kernel {
    // CHECK-NOT: nvvm.prefetch
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !wide
    // CHECK: %[[T:.*]] = llvm.mlir.addressof
    // CHECK: %[[POLICY:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l" : () -> i64
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %[[T]], box[%{{.*}}, %{{.*}}] l2_cache_hint = %[[POLICY]] : !llvm.ptr, <3>
    // CHECK-COUNT-3: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]]
    "smem.tma_store"(%t, %m, %i, %j) {cache = "evict_last"} : (!wide, !m, index, index) -> ()
    // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
    "smem.tma_commit"() : () -> ()
    // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 1 {read}
    "smem.tma_wait"() {pending = 1 : i32, read} : () -> ()
    // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0
    "smem.tma_wait"() {pending = 0 : i32} : () -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @hints
  gpu.func @hints(%m: !m, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = "smem.create_pipeline"() {offset = 131072 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !wide
    // CHECK: %[[FIRST:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;"
    // CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}] l2_cache_hint = %[[FIRST]] : !llvm.ptr<7>, !llvm.ptr
    "smem.tma_load"(%m, %t, %r, %i, %i, %j) {cache = "evict_first"} : (!m, !wide, !smem.pipeline, index, index, index) -> ()
    // CHECK: %[[NORMAL:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_normal.b64 $0, 1.0;"
    // CHECK: l2_cache_hint = %[[NORMAL]]
    "smem.tma_store"(%t, %m, %i, %j) {cache = "evict_normal"} : (!wide, !m, index, index) -> ()
    gpu.return
  }

  // A box has 256 rows at most: the largest divisor of 258 is 129.
  // CHECK-LABEL: gpu.func @two_boxes
  // CHECK-SAME: box = array<i64: 129, 64>
  gpu.func @two_boxes(%m: !m, %step: index, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = "smem.create_pipeline"() {offset = 65536 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !rows
    "smem.tma_load"(%m, %t, %r, %step, %i, %j) : (!m, !rows, !smem.pipeline, index, index, index) -> ()
    gpu.return
  }
}
