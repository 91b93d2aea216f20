// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!m = memref<16x64xbf16>
!t = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @copy_async
  gpu.func @copy_async(%m: !m) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    // CHECK: %[[TO:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    // CHECK: %[[FROM:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    // CHECK-NEXT: nvvm.cp.async.shared.global %[[TO]], %[[FROM]], 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    "smem.copy_async"(%m, %t) : (!m, !t) -> ()
    // CHECK-NEXT: nvvm.cp.async.commit.group
    "smem.copy_commit"() : () -> ()
    // CHECK-NEXT: nvvm.cp.async.wait.group 2
    "smem.copy_wait"() {pending = 2 : i32} : () -> ()
    // CHECK-NEXT: nvvm.cp.async.wait.group 0
    "smem.copy_wait"() {pending = 0 : i32} : () -> ()
    gpu.return
  }
}
