// Blocks of scale factors: 16 bytes of each thread, in the order of global memory.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!m = memref<2x4x32x4x4xf8E8M0FNU, strided<[?, 512, 16, 4, 1]>>
!t = !smem.tile<tensor<256x16xf8E8M0FNU>, #smem.layout<"Swizzle<0,4,3> o ((32,4,2),(4,4)):((16,4,2048),(1,512))">>

// CHECK-LABEL: func.func @rows_of_blocks
func.func @rows_of_blocks(%m: !m) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // CHECK: %[[TO:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  // CHECK: %[[FROM:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK-NEXT: %[[V0:.*]] = llvm.load %[[FROM]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK-NEXT: llvm.store %[[V0]], %[[TO]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // The second round is the second row of blocks.
  // CHECK: llvm.getelementptr %[[FROM]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: llvm.getelementptr %[[TO]][2048]
  // CHECK: llvm.store
  // CHECK-NOT: llvm.store
  // CHECK: return
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}
