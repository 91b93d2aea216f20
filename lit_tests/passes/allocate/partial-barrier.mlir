// A barrier of some threads of the CTA (128 of them) does not order accesses of the others: tiles must
// not share bytes across it.

// RUN: smem-opt %s --smem-allocate | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>

// CHECK: func.func @some_threads
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @some_threads(%m: !m) {
  %id = arith.constant 1 : i32
  %threads = arith.constant 128 : i32
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  nvvm.barrier id = %id number_of_threads = %threads
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// All threads execute the barrier, but it orders only accesses to global memory.
// CHECK: func.func @other_memory
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @other_memory(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  gpu.barrier memfence [#gpu.address_space<global>]
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}
