// Loops and selections pass the index of a stage instead of a tile.

// RUN: smem-opt %s --smem-to-nvvm | FileCheck %s

!stages = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>

// CHECK-LABEL: gpu.func @swapped
// CHECK-NOT: "smem.
// CHECK: %[[LOOP:[0-9]+]]:2 = scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (index, index)
// CHECK: arith.index_cast %[[X]] : index to i32
// CHECK: llvm.store
// CHECK: scf.yield
// CHECK: %[[WHICH:[0-9]+]] = arith.select %{{.*}}, %[[LOOP]]#0, %[[LOOP]]#1 : index
// CHECK: arith.index_cast %[[WHICH]] : index to i32
// CHECK: llvm.store
gpu.module @kernels {
  gpu.func @swapped(%m: !m, %n: index, %c: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = "smem.alloc"() : () -> !stages
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%x = %zero, %y = %one) -> (index, index) {
      %p = "smem.stage"(%a, %x) : (!stages, index) -> !t
      "smem.copy"(%m, %p) : (!m, !t) -> ()
      gpu.barrier
      scf.yield %y, %x : index, index
    }
    %which = arith.select %c, %r#0, %r#1 : index
    %q = "smem.stage"(%a, %which) : (!stages, index) -> !t
    "smem.copy"(%m, %q) : (!m, !t) -> ()
    gpu.return
  }
}
