// The layout of a view is chosen: its swizzle begins where the memory allows, and its bytes fit.

// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s
// RUN: smem-opt %s --smem-assign-layouts=explain=true 2>&1 | FileCheck %s --check-prefix=WHY

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
!b = memref<16384xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  memref.global @variable : !w

  // Memory that the kernel or its module declares is aligned by smem-allocate.
  // CHECK-LABEL: gpu.func @declared
  // WHY: layout Swizzle<3,4,3> o (64,64):(64,1) was chosen for sm_90
  // WHY-NEXT: picked {{.*}} the memory memref<8192xi8, #gpu.address_space<workgroup>>: 8192 bytes of 8192, at a multiple of 1024
  gpu.func @declared() workgroup(%bytes: !w) kernel {
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
    %t = "smem.view"(%bytes) : (!w) -> !t
    %m = memref.get_global @variable : !w
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
    %u = "smem.view"(%m) : (!w) -> !t
    gpu.return
  }

  // A constant offset in it bounds the choice.
  // CHECK-LABEL: gpu.func @offset
  // WHY: layout Swizzle<2,4,3> o {{.*}} was chosen
  // WHY-NEXT: refused {{.*}} swizzle 128B begins at multiples of 1024 bytes, but it begins at multiples of 512
  gpu.func @offset() workgroup(%bytes: !b) kernel {
    %c1536 = arith.constant 1536 : index
    %m = memref.view %bytes[%c1536][] : !b to !w
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<2,4,3>
    %t = "smem.view"(%m) : (!w) -> !t
    gpu.return
  }

  // The asserted alignment bounds it in any memory.
  // CHECK-LABEL: gpu.func @asserted
  gpu.func @asserted(%bytes: !w, %some: memref<?xi8, #gpu.address_space<workgroup>>) kernel {
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<1,4,3>
    %t = "smem.view"(%bytes) {alignment = 256 : i64} : (!w) -> !t
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<0,4,3>
    %u = "smem.view"(%bytes) {alignment = 128 : i64} : (!w) -> !t
    // CHECK: "smem.view"{{.*}} #smem.layout<"Swizzle<3,4,3>
    %v = "smem.view"(%some) {alignment = 2048 : i64} : (memref<?xi8, #gpu.address_space<workgroup>>) -> !t
    gpu.return
  }
}
