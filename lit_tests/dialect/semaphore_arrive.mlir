// Semaphores with static and dynamic extents, strides and offsets, and in a named memory space.

// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK-LABEL: func.func @static
func.func @static(%s: memref<4xi32>) -> i1 {
  %c3 = arith.constant 3 : index
  // CHECK: "smem.semaphore_arrive"(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<4xi32>, index, index) -> i1
  %last = "smem.semaphore_arrive"(%s, %c3, %c3) : (memref<4xi32>, index, index) -> i1
  return %last : i1
}

!strided = memref<?xi32, strided<[?], offset: ?>, #gpu.address_space<global>>

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%s: !strided, %i: index, %n: index) -> i1 {
  // CHECK: "smem.semaphore_arrive"(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<?xi32, strided<[?], offset: ?>, #gpu.address_space<global>>, index, index) -> i1
  %last = "smem.semaphore_arrive"(%s, %i, %n) : (!strided, index, index) -> i1
  return %last : i1
}
