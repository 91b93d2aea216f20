// The barrier of the warpgroup, an atomic between fences in its first thread, and a barrier that gives all
// of its threads the result.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

// CHECK-LABEL: gpu.func @arrive
// CHECK-DAG: %[[COUNT:.*]] = arith.index_cast %arg2 : index to i32
// CHECK-DAG: %[[LIMIT:.*]] = arith.subi %[[COUNT]], %{{.*}} : i32
// CHECK-DAG: nvvm.barrier id = %[[BARRIER:.*]] number_of_threads = %{{.*}}
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: %[[ANY:.*]] = scf.if %[[FIRST]] -> (i1) {
// CHECK: llvm.fence syncscope("device") acq_rel
// CHECK-NEXT: %[[OLD:.*]] = llvm.atomicrmw uinc_wrap %{{.*}}, %[[LIMIT]] syncscope("device") monotonic : !llvm.ptr<1>, i32
// CHECK-NEXT: llvm.fence syncscope("device") acq_rel
// CHECK-NEXT: %[[IS_LAST:.*]] = arith.cmpi eq, %[[OLD]], %[[LIMIT]] : i32
// CHECK-NEXT: scf.yield %[[IS_LAST]] : i1
// CHECK: } else {
// CHECK: %[[LAST:.*]] = llvm.inline_asm has_side_effects "barrier.cta.red.or.pred $0, $1, 128, $2;", "=b,r,b,~{memory}" %[[BARRIER]], %[[ANY]] : (i32, i1) -> i1
// CHECK: scf.if %[[LAST]] {
// CHECK-NOT: smem.
gpu.module @m {
  gpu.func @arrive(%s: memref<?xi32>, %i: index, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %last = "smem.semaphore_arrive"(%s, %i, %n) : (memref<?xi32>, index, index) -> i1
    scf.if %last {
      gpu.printf "last\n"
    }
    gpu.return
  }
}
