// The conditions that the emulator checks: none where the start is proven, else one for the bounds and one for multiple_of.

// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-assert-bounds)' | FileCheck %s
// RUN: smem-opt %s --smem-to-nvvm | FileCheck %s --check-prefix=CODE
// CODE-NOT: cf.assert

!p = !smem.tile<tensor<128x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<128x64xf32>

// CHECK-LABEL: gpu.func @k
// CHECK-NOT: cf.assert
// CHECK: smem.load
// CHECK: %[[LAST:.*]] = arith.constant {smem.asserts_bounds} 64 : index
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %{{.*}}, %[[LAST]] {smem.asserts_bounds}
// CHECK: cf.assert %[[FITS]], "the smem.subtile at {{[0-9:]+}} (64 of 128 rows of the smem.alloc at {{[0-9:]+}}) begins at row 0 to 64" {smem.asserts_bounds}
// CHECK: arith.remui
// CHECK: cf.assert %{{.*}}, "the smem.subtile at {{.*}} begins at row 0 to 64, at a multiple of 32"
// CHECK: smem.load
gpu.module @kernels {
  gpu.func @k(%m: !m, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %w = arith.divui %thread, %c128 : index
    %row = arith.muli %w, %c64 : index
    %p = "smem.alloc"() : () -> !p
    "smem.copy"(%m, %p) : (!m, !p) -> ()
    gpu.barrier
    %t = "smem.subtile"(%p, %row) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 32>} : (!p, index) -> !t
    %c = "smem.load"(%t) : (!t) -> !c
    %u = "smem.subtile"(%p, %i) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 32>} : (!p, index) -> !t
    %d = "smem.load"(%u) : (!t) -> !c
    gpu.return
  }
}
