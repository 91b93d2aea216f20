// Memory that a view names gets its alignment where the kernel declares it. An alignment that is not known is
// assumed at run time, which costs nothing; the emulator checks it.

// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-allocate,smem-lower-copies)' | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  // CHECK: memref.global @variable : memref<8192xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
  memref.global @variable : !w
  // CHECK: memref.global @aligned : memref<8192xi8, #gpu.address_space<workgroup>> {alignment = 2048 : i64}
  memref.global @aligned : !w {alignment = 2048 : i64}
  // CHECK: gpu.func @declared
  // CHECK-SAME: workgroup(%{{.*}}: memref<256xi8, #gpu.address_space<workgroup>>, %{{.*}}: memref<8192xi8, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64, test.kept})
  // CHECK-NOT: llvm.intr.assume
  // CHECK: gpu.return
  gpu.func @declared() workgroup(%first: memref<256xi8, #gpu.address_space<workgroup>>, %second: !w {test.kept}) kernel {
    %a = "smem.view"(%second) : (!w) -> !t
    %variable = memref.get_global @variable : !w
    %b = "smem.view"(%variable) : (!w) -> !t
    %aligned = memref.get_global @aligned : !w
    %c = "smem.view"(%aligned) : (!w) -> !t
    gpu.return
  }

  // The alignment of an argument is not known; a promise of 128 bytes assumes fewer bits.
  // CHECK: gpu.func @argument(%[[ARGUMENT:.*]]: memref
  // CHECK: %[[POINTER:.*]] = llvm.inttoptr
  // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[POINTER]] : !llvm.ptr<3> to i64
  // CHECK: %[[BITS:.*]] = arith.andi %[[ADDRESS]], %c1023_i64 : i64
  // CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %[[BITS]], %c0_i64 : i64
  // CHECK: llvm.intr.assume %[[HOLDS]] : i1
  // CHECK: arith.andi %{{.*}}, %c127_i64 : i64
  gpu.func @argument(%m: !w) {
    %a = "smem.view"(%m) : (!w) -> !t
    %b = "smem.view"(%m) {alignment = 128 : i64} : (!w) -> !t
    gpu.return
  }

  // The pass that lowers `gpu.dynamic_shared_memory` sets its alignment.
  // CHECK: gpu.func @dynamic
  // CHECK: llvm.intr.assume
  // CHECK: gpu.return
  gpu.func @dynamic() kernel {
    %c1024 = arith.constant 1024 : index
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %m = memref.view %bytes[%c1024][] : memref<?xi8, #gpu.address_space<workgroup>> to !w
    %a = "smem.view"(%m) : (!w) -> !t
    gpu.return
  }

  // CHECK: gpu.func @unknown_shift
  // CHECK: llvm.intr.assume
  gpu.func @unknown_shift(%n: index) workgroup(%bytes: memref<16384xi8, #gpu.address_space<workgroup>>) kernel {
    %m = memref.view %bytes[%n][] : memref<16384xi8, #gpu.address_space<workgroup>> to !w
    %a = "smem.view"(%m) : (!w) -> !t
    gpu.return
  }
}
