// The host compiler places the memory of a view. If it is at a multiple of the swizzle pattern, the base offset is 0;
// at a multiple of 128 bytes, it is bits 7 and up of the address, one for each bit of the number of lines of the
// pattern: 3, 2 or 1 bits for 128, 64 and 32 bytes.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!w = memref<8192xi8, #gpu.address_space<workgroup>>
!b128 = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b64 = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"64B", "row-major">>
!b32 = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"32B", "row-major">>
!none = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"none", "row-major">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"none", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// CHECK-LABEL: func.func @aligned
func.func @aligned(%w: !w) {
  // CHECK: %[[MEMORY:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<3>
  // CHECK-NEXT: %[[ADDRESS:.*]] = llvm.ptrtoint %[[MEMORY]] : !llvm.ptr<3> to i64
  // CHECK: %[[A_BITS:.*]] = arith.ori
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK-NEXT: "smem.view"
  // CHECK: "smem.mma_desc"(%[[A]],
  %a = "smem.view"(%w) : (!w) -> !b128
  %b = "smem.alloc"() {offset = 0 : i64} : () -> !b
  %d = "smem.mma"(%a, %b) : (!b128, !b) -> !d
  return
}

// CHECK-LABEL: func.func @base_offset_128B
func.func @base_offset_128B(%w: !w) {
  // CHECK: %[[BITS:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-NEXT: %[[DESCRIPTOR:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
  // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i64
  // CHECK-NEXT: %[[C7:.*]] = arith.constant 7 : i64
  // CHECK-NEXT: %[[LINE:.*]] = arith.shrui %[[ADDRESS]], %[[C7]] : i64
  // CHECK-NEXT: %[[MASK:.*]] = arith.constant 7 : i64
  // CHECK-NEXT: %[[PHASE:.*]] = arith.andi %[[LINE]], %[[MASK]] : i64
  // CHECK-NEXT: %[[C49:.*]] = arith.constant 49 : i64
  // CHECK-NEXT: %[[FIELD:.*]] = arith.shli %[[PHASE]], %[[C49]] : i64
  // CHECK-NEXT: %[[A_BITS:.*]] = arith.ori %[[DESCRIPTOR]], %[[FIELD]] : i64
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK-NEXT: "smem.view"
  // CHECK: "smem.mma_desc"(%[[A]],
  %a = "smem.view"(%w) {alignment = 128 : i64} : (!w) -> !b128
  %b = "smem.alloc"() {offset = 0 : i64} : () -> !b
  %d = "smem.mma"(%a, %b) : (!b128, !b) -> !d
  return
}

// The base offset of a subtile is that of its view.
// CHECK-LABEL: func.func @base_offset_of_a_subtile
!subtile = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!bsubtile = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"none", "row-major">>
func.func @base_offset_of_a_subtile(%w: !w) {
  // CHECK: %[[START:.*]] = llvm.getelementptr %[[MEMORY:.*]][32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK-NEXT: llvm.ptrtoint %[[START]]
  // CHECK: %[[VIEW:.*]] = llvm.inttoptr
  // CHECK-NEXT: %[[ADDRESS:.*]] = llvm.ptrtoint %[[VIEW]]
  // CHECK-NEXT: %[[C7:.*]] = arith.constant 7 : i64
  // CHECK-NEXT: arith.shrui %[[ADDRESS]], %[[C7]] : i64
  %a = "smem.view"(%w) {alignment = 256 : i64} : (!w) -> !b128
  %p = "smem.subtile"(%a) {static_offsets = array<i64: 0, 16>} : (!b128) -> !subtile
  %b = "smem.alloc"() {offset = 0 : i64} : () -> !bsubtile
  %d = "smem.mma"(%p, %b) : (!subtile, !bsubtile) -> !d
  return
}

// CHECK-LABEL: func.func @base_offset_64B
func.func @base_offset_64B(%w: !w) {
  // CHECK: arith.ori
  // CHECK: %[[LINE:.*]] = arith.shrui
  // CHECK-NEXT: %[[MASK:.*]] = arith.constant 3 : i64
  // CHECK-NEXT: arith.andi %[[LINE]], %[[MASK]] : i64
  %a = "smem.view"(%w) {alignment = 128 : i64} : (!w) -> !b64
  %b = "smem.alloc"() {offset = 0 : i64} : () -> !b
  %d = "smem.mma"(%a, %b) : (!b64, !b) -> !d
  return
}

// CHECK-LABEL: func.func @base_offset_32B
func.func @base_offset_32B(%w: !w) {
  // CHECK: arith.ori
  // CHECK: %[[LINE:.*]] = arith.shrui
  // CHECK-NEXT: %[[MASK:.*]] = arith.constant 1 : i64
  // CHECK-NEXT: arith.andi %[[LINE]], %[[MASK]] : i64
  %a = "smem.view"(%w) {alignment = 128 : i64} : (!w) -> !b32
  %b = "smem.alloc"() {offset = 0 : i64} : () -> !b
  %d = "smem.mma"(%a, %b) : (!b32, !b) -> !d
  return
}

// Without a swizzle there is no pattern: any multiple of 16 bytes is allowed.
// CHECK-LABEL: func.func @no_swizzle
func.func @no_swizzle(%w: !w) {
  // CHECK: %[[A_BITS:.*]] = arith.ori
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK-NEXT: "smem.view"
  // CHECK: "smem.mma_desc"(%[[A]],
  %a = "smem.view"(%w) {alignment = 16 : i64} : (!w) -> !none
  %b = "smem.alloc"() {offset = 0 : i64} : () -> !b
  %d = "smem.mma"(%a, %b) : (!none, !b) -> !d
  return
}
