// A barrier of one warp, or of the threads that a named barrier counts, does not order accesses of the others.

// REQUIRES: gpu-barrier-scopes
// RUN: smem-opt %s --smem-allocate | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>

// CHECK: func.func @one_warp
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @one_warp(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  gpu.barrier scope <subgroup>
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// CHECK: func.func @workgroup_memory
// CHECK-SAME: smem.shared_bytes = 8192 : i32
func.func @workgroup_memory(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  gpu.barrier scope <workgroup> memfence [#gpu.address_space<workgroup>]
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// A named barrier orders only the threads that it counts.
// CHECK: func.func @named
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @named(%m: !m, %barrier: !gpu.named_barrier) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  gpu.barrier named(%barrier : !gpu.named_barrier)
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}
