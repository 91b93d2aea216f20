// Each tile of a copy between tiles requires the contiguous dimension that the other has, or can have.

// RUN: smem-opt %s --smem-assign-layouts=explain=true -o %t 2> %t.remarks
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

!a = !smem.tile<tensor<64x128xi8>, #smem.auto>
!b = !smem.tile<tensor<128x64xi8>, #smem.auto>
!d = !smem.fragment<tensor<64x64xi32>, #smem.in_flight>

// The mma reads K-major only, and the data from global memory is M-major: the copy between the tiles transposes it.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%m: memref<64x128xi8, strided<[1, ?]>>, %b: !b) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x128xi8>, #smem.layout<"Swizzle<2,4,3> o (64,128):(1,64)">>
  %s = "smem.alloc"() : () -> !a
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x128xi8>, #smem.layout<"Swizzle<3,4,3> o (64,128):(128,1)">>
  // REMARK: picked   swizzle 128B, row-major, atoms across: A of the mma at {{[0-9:]+}}: K-major, {{.*}}; the copy at {{[0-9:]+}}: transposed in registers, no bank conflicts
  %t = "smem.alloc"() : () -> !a
  "smem.copy"(%m, %s) : (memref<64x128xi8, strided<[1, ?]>>, !a) -> ()
  gpu.barrier
  "smem.copy"(%s, %t) {relayout} : (!a, !a) -> ()
  %d = "smem.mma"(%t, %b) : (!a, !b) -> !d
  return
}

// The source has no other use: it gets the contiguous dimension of the target, and nothing is transposed.
!k = !smem.tile<tensor<64x64xtf32>, #smem.swizzle<"128B", "row-major">>
!f = !smem.tile<tensor<64x64xf32>, #smem.auto>
!r = !smem.tile<tensor<64x64xtf32>, #smem.auto>
!df = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
// CHECK-LABEL: func.func @follows_what_is_written
func.func @follows_what_is_written(%a: !k) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x64xf32>, #smem.layout<"Swizzle<3,4,3> o ((32,2),64):((1,2048),32)">>
  // REMARK: possible swizzle 128B, row-major, atoms across: the copy at {{[0-9:]+}}: no bank conflicts; the picked one costs less
  // REMARK: picked   swizzle 128B, column-major, atoms across: the copy at {{[0-9:]+}}: no bank conflicts
  %s = "smem.alloc"() : () -> !f
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x64xtf32>, #smem.layout<"Swizzle<3,4,3> o ((32,2),64):((1,2048),32)">>
  // REMARK: picked   swizzle 128B, column-major, atoms across: B of the mma at {{[0-9:]+}}: K-major, {{.*}}; the copy at {{[0-9:]+}}: no bank conflicts
  %t = "smem.alloc"() : () -> !r
  "smem.copy"(%s, %t) {relayout} : (!f, !r) -> ()
  %d = "smem.mma"(%a, %t) : (!k, !r) -> !df
  return
}

// The layout of the target follows from that of the source, a subtile; the copy exchanges the indices, and has no
// `relayout`.
!stages = !smem.tile<tensor<2x64x64xf32>, #smem.auto>
// CHECK-LABEL: func.func @follows_what_is_read
func.func @follows_what_is_read(%m: memref<64x64xf32, strided<[1, ?]>>, %i: index) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x64xf32>, #smem.layout<"Swizzle<3,4,3> o (64,(32,2)):(32,(1,2048))">>
  %t = "smem.alloc"() : () -> !f
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<2x64x64xf32>, #smem.layout<"Swizzle<3,4,3> o (2,(32,2),64):(4096,(1,2048),32)">>
  %stages = "smem.alloc"() : () -> !stages
  %s = "smem.stage"(%stages, %i) : (!stages, index) -> !f
  "smem.copy"(%m, %s) : (memref<64x64xf32, strided<[1, ?]>>, !f) -> ()
  gpu.barrier
  "smem.copy"(%s, %t) {permutation = array<i64: 1, 0>} : (!f, !f) -> ()
  return
}
