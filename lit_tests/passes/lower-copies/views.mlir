// The tile of a view begins at the address of its memref.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!w = memref<?xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>

gpu.module @kernels {
  // CHECK-NOT: __smem_dynamic
  // CHECK: gpu.func @view
  gpu.func @view(%w: !w, %m: memref<16x64xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<16x64xbf16>
    // CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<?xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    // CHECK: %[[START:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
    // CHECK-NEXT: %[[BASE:.*]] = llvm.inttoptr %[[START]] : i64 to !llvm.ptr<3>
    // CHECK: llvm.getelementptr %[[BASE]][%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %t = "smem.view"(%w) : (!w) -> !t
    "smem.copy"(%m, %t) : (memref<16x64xbf16>, !t) -> ()
    gpu.return
  }
}
