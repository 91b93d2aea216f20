// Rows whose distance does not fit into 32 bits: the steps between them are SSA values.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
// CHECK-LABEL: func.func @far
// CHECK: %[[STEP:.*]] = arith.constant 68719476736 : i64
// CHECK: llvm.getelementptr %{{.*}}[%[[STEP]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
func.func @far(%m: memref<64x64xbf16, strided<[4294967296, 1]>>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xbf16, strided<[4294967296, 1]>>, !t) -> ()
  return
}
