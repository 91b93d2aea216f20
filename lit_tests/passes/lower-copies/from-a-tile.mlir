// Copies whose source is a tile: they read shared memory instead of global memory.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

// 16 bytes of each thread, at swizzled addresses of both tiles; the other rounds are at constant distances.
!s = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"64B", "row-major">>
// CHECK-LABEL: func.func @as_it_lies
func.func @as_it_lies() attributes {known_block_size = array<i32: 256, 1, 1>} {
  // CHECK-NOT: llvm.ptr<1>
  // CHECK: arith.shrui
  // CHECK: %[[TO:.*]] = llvm.getelementptr {{.*}} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  // CHECK: arith.shrui
  // CHECK: %[[FROM:.*]] = llvm.getelementptr {{.*}} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  // CHECK: %[[V0:.*]] = llvm.load %[[FROM]] {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-NEXT: llvm.store %[[V0]], %[[TO]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK-NEXT: %[[FROM1:.*]] = llvm.getelementptr %[[FROM]][4096]
  // CHECK-NEXT: %[[TO1:.*]] = llvm.getelementptr %[[TO]][2048]
  // CHECK-NEXT: %[[V1:.*]] = llvm.load %[[FROM1]]
  // CHECK-NEXT: llvm.store %[[V1]], %[[TO1]]
  // CHECK-NOT: llvm.store
  // CHECK: return
  %s = "smem.alloc"() {offset = 0 : i64} : () -> !s
  %t = "smem.alloc"() {offset = 8192 : i64} : () -> !t
  "smem.copy"(%s, %t) : (!s, !t) -> ()
  return
}

// Blocks of 4 lines of 16 bytes: 4 bytes of each of 16 lines of the source. One address is computed; all others follow
// from it by a constant or an XOR.
!m = !smem.tile<tensor<128x64xi8>, #smem.swizzle<"128B", "column-major">>
!k = !smem.tile<tensor<128x64xi8>, #smem.swizzle<"64B", "row-major">>
// CHECK-LABEL: func.func @transposed
func.func @transposed() attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: arith.shrui
  // CHECK: %[[FIRST:.*]] = arith.xori
  // CHECK-NEXT: llvm.getelementptr %{{.*}}[%[[FIRST]]]
  // CHECK-NEXT: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  // CHECK-NEXT: %[[STEP:.*]] = arith.constant 144 : i32
  // CHECK-NEXT: %[[SECOND:.*]] = arith.xori %[[FIRST]], %[[STEP]] : i32
  // CHECK-NEXT: llvm.getelementptr %{{.*}}[%[[SECOND]]]
  // CHECK-NEXT: llvm.load
  // CHECK-NOT: arith.shrui
  // CHECK: arith.constant 1024 : i32
  // CHECK-NEXT: arith.addi %[[FIRST]], %{{.*}} : i32
  // CHECK: nvvm.prmt
  // CHECK: arith.select
  // CHECK-COUNT-4: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  // CHECK: return
  %s = "smem.alloc"() {offset = 0 : i64} : () -> !m
  %t = "smem.alloc"() {offset = 8192 : i64} : () -> !k
  "smem.copy"(%s, %t) {relayout} : (!m, !k) -> ()
  return
}

// f32 is rounded for a tile of tf32 only.
!f = !smem.tile<tensor<64x32xf32>, #smem.swizzle<"128B", "row-major">>
!r = !smem.tile<tensor<64x32xtf32>, #smem.swizzle<"128B", "row-major">>
// CHECK-LABEL: func.func @rounded
func.func @rounded() attributes {known_block_size = array<i32: 512, 1, 1>} {
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-COUNT-4: nvvm.convert.float.to.tf32
  // CHECK-NOT: nvvm.convert.float.to.tf32
  // CHECK: llvm.store
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-NEXT: llvm.store
  // CHECK: return
  %f = "smem.alloc"() {offset = 0 : i64} : () -> !f
  %r = "smem.alloc"() {offset = 8192 : i64} : () -> !r
  %g = "smem.alloc"() {offset = 16384 : i64} : () -> !f
  "smem.copy"(%f, %r) : (!f, !r) -> ()
  "smem.copy"(%f, %g) : (!f, !f) -> ()
  return
}

// Only the first 32 threads have a vector.
!small = !smem.tile<tensor<8x64xi8>, #smem.swizzle<"64B", "row-major">>
// CHECK-LABEL: func.func @guarded
func.func @guarded() attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[LEFT:.*]] = arith.constant 32 : i32
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[LEFT]] : i32
  // CHECK-NEXT: scf.if %[[INSIDE]] {
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3>
  // CHECK: llvm.store
  // CHECK: }
  %s = "smem.alloc"() {offset = 0 : i64} : () -> !small
  %t = "smem.alloc"() {offset = 1024 : i64} : () -> !small
  "smem.copy"(%s, %t) : (!small, !small) -> ()
  return
}

// Source lines of 64 bytes: 16 lanes read from one line, and the other 16 begin with the next line.
!narrow = !smem.tile<tensor<64x64xi8>, #smem.swizzle<"64B", "column-major">>
// CHECK-LABEL: func.func @begins_to_read_elsewhere
func.func @begins_to_read_elsewhere() attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[T:.*]] = arith.index_cast
  // The block, then the group of lanes.
  // CHECK: arith.remui %[[T]], %{{.*}} : i32
  // CHECK: arith.divui %[[T]], %{{.*}} : i32
  // CHECK: %[[GROUP:.*]] = arith.divui %[[T]], %{{.*}} : i32
  // CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : i32
  // CHECK-NEXT: %[[FIRST:.*]] = arith.remui %[[GROUP]], %[[C2]] : i32
  // CHECK: arith.addi %{{.*}}, %[[FIRST]] : i32
  // CHECK: %[[A:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: %[[OTHER:.*]] = arith.xori %[[FIRST]], %{{.*}} : i32
  // CHECK: arith.addi %{{.*}}, %[[OTHER]] : i32
  // CHECK: %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: %[[ODD:.*]] = arith.cmpi ne
  // CHECK-NEXT: arith.select %[[ODD]], %[[B]], %[[A]] : i32
  // CHECK-NEXT: arith.select %[[ODD]], %[[A]], %[[B]] : i32
  // CHECK: nvvm.prmt
  // CHECK: return
  %s = "smem.alloc"() {offset = 0 : i64} : () -> !narrow
  %t = "smem.alloc"() {offset = 4096 : i64} : () -> !smem.tile<tensor<64x64xi8>, #smem.swizzle<"64B", "row-major">>
  "smem.copy"(%s, %t) {relayout} : (!narrow, !smem.tile<tensor<64x64xi8>, #smem.swizzle<"64B", "row-major">>) -> ()
  return
}
