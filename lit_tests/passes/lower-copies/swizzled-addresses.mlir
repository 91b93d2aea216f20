// The swizzle XORs bits 4 and up of a vector's byte offset with bits 7 and up: 3, 2 or 1 bits for a width of 128, 64
// or 32 bytes. Without a swizzle, nothing is computed.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!m = memref<16x64xbf16>
!b128 = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b64 = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"64B", "row-major">>
!b32 = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"32B", "row-major">>
!none = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"none", "row-major">>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @swizzle_128B
  gpu.func @swizzle_128B(%m: !m) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @__smem_dynamic : !llvm.ptr<3>
    // CHECK: %[[SIZE:.*]] = arith.constant 2 : i32
    // CHECK-NEXT: %[[OFFSET:.*]] = arith.muli %{{.*}}, %[[SIZE]] : i32
    // CHECK-NEXT: %[[BY:.*]] = arith.constant 3 : i32
    // CHECK-NEXT: %[[LINE:.*]] = arith.shrui %[[OFFSET]], %[[BY]] : i32
    // CHECK-NEXT: %[[MASK:.*]] = arith.constant 112 : i32
    // CHECK-NEXT: %[[PHASE:.*]] = arith.andi %[[LINE]], %[[MASK]] : i32
    // CHECK-NEXT: %[[SWIZZLED:.*]] = arith.xori %[[OFFSET]], %[[PHASE]] : i32
    // CHECK-NEXT: llvm.getelementptr %[[BASE]][%[[SWIZZLED]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !b128
    "smem.copy"(%m, %t) : (!m, !b128) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @swizzle_64B
  gpu.func @swizzle_64B(%m: !m) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[LINE:.*]] = arith.shrui %[[OFFSET:.*]], %{{.*}} : i32
    // CHECK-NEXT: %[[MASK:.*]] = arith.constant 48 : i32
    // CHECK-NEXT: %[[PHASE:.*]] = arith.andi %[[LINE]], %[[MASK]] : i32
    // CHECK-NEXT: arith.xori %[[OFFSET]], %[[PHASE]] : i32
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !b64
    "smem.copy"(%m, %t) : (!m, !b64) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @swizzle_32B
  gpu.func @swizzle_32B(%m: !m) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[LINE:.*]] = arith.shrui %[[OFFSET:.*]], %{{.*}} : i32
    // CHECK-NEXT: %[[MASK:.*]] = arith.constant 16 : i32
    // CHECK-NEXT: %[[PHASE:.*]] = arith.andi %[[LINE]], %[[MASK]] : i32
    // CHECK-NEXT: arith.xori %[[OFFSET]], %[[PHASE]] : i32
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !b32
    "smem.copy"(%m, %t) : (!m, !b32) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_swizzle
  // CHECK-NOT: arith.xori
  // CHECK: gpu.return
  gpu.func @no_swizzle(%m: !m) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !none
    "smem.copy"(%m, %t) : (!m, !none) -> ()
    gpu.return
  }
}
