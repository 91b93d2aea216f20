// A vector of smem.offset makes one dimension contiguous.

// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!p = !smem.tile<tensor<16x32xbf16>, #smem.auto>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @columns
  gpu.func @columns(%i: index) workgroup(%bytes: !w) kernel {
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<3,4,3> o (64,64):(1,64)">
    %t = "smem.view"(%bytes) : (!w) -> !t
    %0 = "smem.offset"(%t, %i, %i) {vector = array<i64: 4, 1>} : (!t, index, index) -> index
    gpu.return
  }

  // CHECK-LABEL: gpu.func @of_a_subtile
  gpu.func @of_a_subtile(%i: index) workgroup(%bytes: !w) kernel {
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<3,4,3> o (64,64):(1,64)">
    %t = "smem.view"(%bytes) : (!w) -> !t
    %p = "smem.subtile"(%t) {static_offsets = array<i64: 8, 3>} : (!t) -> !p
    %0 = "smem.offset"(%p, %i, %i) {vector = array<i64: 8, 1>} : (!p, index, index) -> index
    gpu.return
  }

  // One element is in every layout.
  // CHECK-LABEL: gpu.func @elements
  gpu.func @elements(%i: index) workgroup(%bytes: !w) kernel {
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
    %t = "smem.view"(%bytes) : (!w) -> !t
    %0 = "smem.offset"(%t, %i, %i) : (!t, index, index) -> index
    gpu.return
  }
}
