// An offset is a multiple of the swizzle's pattern: 1024, 512, 256 bytes, and 16 without a swizzle.
// The largest tile is placed first, independent of the order in the text.

// RUN: smem-opt %s --smem-allocate | FileCheck %s

!b128 = !smem.tile<tensor<8x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b64 = !smem.tile<tensor<8x32xbf16>, #smem.swizzle<"64B", "row-major">>
!b32 = !smem.tile<tensor<8x16xbf16>, #smem.swizzle<"32B", "row-major">>
!none = !smem.tile<tensor<9x8xbf16>, #smem.swizzle<"none", "row-major">>
!large = !smem.tile<tensor<24x64xbf16>, #smem.swizzle<"none", "row-major">>

// 3072 + 1024 + 512 + 256 + 144 bytes, without a gap: 9 rows of 16 bytes are not padded to 16 rows
// at the end of a tile.
// CHECK: func.func @all
// CHECK-SAME: smem.shared_bytes = 5008 : i32
func.func @all() {
  // CHECK-NEXT: {offset = 4864 : i64} : () -> !smem.tile<tensor<9x8xbf16>
  %0 = "smem.alloc"() : () -> !none
  // CHECK-NEXT: {offset = 4608 : i64} : () -> !smem.tile<tensor<8x16xbf16>
  %1 = "smem.alloc"() : () -> !b32
  // CHECK-NEXT: {offset = 4096 : i64} : () -> !smem.tile<tensor<8x32xbf16>
  %2 = "smem.alloc"() : () -> !b64
  // CHECK-NEXT: {offset = 3072 : i64} : () -> !smem.tile<tensor<8x64xbf16>
  %3 = "smem.alloc"() : () -> !b128
  // CHECK-NEXT: {offset = 0 : i64} : () -> !smem.tile<tensor<24x64xbf16>
  %4 = "smem.alloc"() : () -> !large
  return
}

// 1152 bytes without a swizzle, then the next multiple of 1024.
// CHECK: func.func @gap
// CHECK-SAME: smem.shared_bytes = 3072 : i32
!first = !smem.tile<tensor<72x8xbf16>, #smem.swizzle<"none", "row-major">>
func.func @gap() {
  // CHECK-NEXT: {offset = 0 : i64} : () -> !smem.tile<tensor<72x8xbf16>
  %0 = "smem.alloc"() : () -> !first
  // CHECK-NEXT: {offset = 2048 : i64} : () -> !smem.tile<tensor<8x64xbf16>
  %1 = "smem.alloc"() : () -> !b128
  return
}
