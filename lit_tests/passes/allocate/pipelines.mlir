// Two mbarriers of 8 bytes for each stage of a pipeline. They are live in the whole kernel, because other CTAs arrive
// at them. Tiles that TMA copies do not share bytes, either, and begin at multiples of 128 bytes.

// RUN: smem-opt %s --smem-allocate | FileCheck %s

!m = memref<?x?xbf16, strided<[?, 1]>>
!b128 = !smem.tile<tensor<8x64xbf16>, #smem.swizzle<"128B", "row-major">>
!none = !smem.tile<tensor<9x8xbf16>, #smem.swizzle<"none", "row-major">>
!small = !smem.tile<tensor<8x8xbf16>, #smem.swizzle<"none", "row-major">>

// CHECK: func.func @last
// CHECK-SAME: smem.shared_bytes = 1104 : i32
func.func @last() {
  // CHECK-NEXT: "smem.create_pipeline"() {consumers = 1 : i32, offset = 1024 : i64, producers = 1 : i32, stages = 4 : i32}
  %r = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // CHECK-NEXT: "smem.create_pipeline"() {{.*}}offset = 1088 : i64
  %q = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // CHECK-NEXT: "smem.alloc"() {offset = 0 : i64}
  %t = "smem.alloc"() : () -> !b128
  return
}

// A pipeline without tiles.
// CHECK: func.func @alone
// CHECK-SAME: smem.shared_bytes = 48 : i32
func.func @alone() {
  // CHECK-NEXT: offset = 0 : i64
  %r = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}

// Without TMA the second tile would share the bytes of the first, after the barrier.
// CHECK: func.func @stored
// CHECK-SAME: smem.shared_bytes = 272 : i32
func.func @stored(%m: !m, %n: memref<9x8xbf16>, %o: memref<9x8xbf16>, %i: index) {
  // CHECK: "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<9x8xbf16>
  %t = "smem.alloc"() : () -> !none
  // 144 bytes come before it; the next multiple of 128 is 256.
  // CHECK-NEXT: "smem.alloc"() {offset = 256 : i64} : () -> !smem.tile<tensor<1x8xbf16>
  %u = "smem.alloc"() : () -> !smem.tile<tensor<1x8xbf16>, #smem.swizzle<"none", "row-major">>
  "smem.copy"(%n, %t) : (memref<9x8xbf16>, !none) -> ()
  gpu.barrier
  "smem.tma_store"(%u, %m, %i, %i) : (!smem.tile<tensor<1x8xbf16>, #smem.swizzle<"none", "row-major">>, !m, index, index) -> ()
  return
}

// A subtile that TMA fills, in a partition.
// CHECK: func.func @loaded
// CHECK-SAME: smem.shared_bytes = 400 : i32
!two = !smem.tile<tensor<2x8x8xbf16>, #smem.swizzle<"none", "row-major">>
func.func @loaded(%m: !m, %n: memref<8x8xbf16>, %i: index) {
  // CHECK-NEXT: offset = 384 : i64
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // CHECK-NEXT: "smem.alloc"() {offset = 0 : i64}
  %t = "smem.alloc"() : () -> !two
  // CHECK-NEXT: "smem.alloc"() {offset = 256 : i64}
  %u = "smem.alloc"() : () -> !small
  "smem.elect"() ({
    %s = "smem.stage"(%t, %i) : (!two, index) -> !small
    "smem.tma_load"(%m, %s, %r, %i, %i, %i) : (!m, !small, !smem.pipeline, index, index, index) -> ()
  }) {scope = "cta"} : () -> ()
  gpu.barrier
  "smem.copy"(%n, %u) : (memref<8x8xbf16>, !small) -> ()
  return
}
