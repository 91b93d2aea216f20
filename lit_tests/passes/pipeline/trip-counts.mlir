// Loops without an iteration, with one, with fewer than stages, and with a number that is known at run time: each
// has stages, and what smem-insert-sync makes of it is proven.

// RUN: smem-opt %s '--smem-pipeline=stages=4 explain=true' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=DONE < %t
// RUN: smem-opt %s --smem-warp-specialize=stages=4 | FileCheck %s --check-prefix=PRODUCER
// RUN: smem-opt %s --smem-pipeline=stages=4 --smem-insert-sync --smem-check-async --verify-diagnostics
// RUN: smem-opt %s --smem-warp-specialize=stages=4 --smem-insert-sync --smem-check-async --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// DONE-COUNT-4: remark: has 4 stages of 8192 bytes, and loads 2 iterations ahead by cp.async
// CHECK-COUNT-4: tensor<4x64x64xbf16>, #smem.auto>{{$}}
// PRODUCER-COUNT-4: stages = 4 : i32

func.func @none(%a: !m, %out: memref<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  }
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

func.func @one(%a: !m, %out: memref<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  }
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

func.func @three(%a: !m, %out: memref<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  }
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

func.func @at_run_time(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  }
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}
