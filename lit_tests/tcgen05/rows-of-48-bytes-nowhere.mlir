// Instructions that read 48 bytes along K are used only on sm_103, and only if K is a multiple of 48 bytes.

// RUN: smem-opt %s --smem-materialize-descriptors='arch=sm_100a' | FileCheck %s
// RUN: smem-opt %s --smem-materialize-descriptors='arch=sm_103a' | FileCheck %s --check-prefix=LONG

!a = !smem.tile<tensor<128x768xf4E2M1FN>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<768x32xf4E2M1FN>, #smem.swizzle<"128B", "column-major">>
!s = !smem.tile<tensor<128x48xf8E4M3FN>, #smem.layout<"((32,4),(4,12)):((16,4),(1,512))">>

// CHECK-NOT: seconds
// LONG-LABEL: func.func @multiple
// LONG: a_second_chunks
// LONG: return
func.func @multiple() {
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a
  %b = "smem.alloc"() {offset = 65536 : i64} : () -> !b
  %s = "smem.alloc"() {offset = 131072 : i64} : () -> !s
  %d = "smem.mma_scaled"(%a, %b, %s, %s) : (!a, !b, !s, !s) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}

!a5 = !smem.tile<tensor<128x512xf4E2M1FN>, #smem.swizzle<"128B", "row-major">>
!b5 = !smem.tile<tensor<512x32xf4E2M1FN>, #smem.swizzle<"128B", "column-major">>
!s5 = !smem.tile<tensor<128x32xf8E4M3FN>, #smem.layout<"((32,4),(4,8)):((16,4),(1,512))">>

// LONG-LABEL: func.func @no_multiple
// LONG-NOT: seconds
func.func @no_multiple() {
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a5
  %b = "smem.alloc"() {offset = 65536 : i64} : () -> !b5
  %s = "smem.alloc"() {offset = 131072 : i64} : () -> !s5
  %d = "smem.mma_scaled"(%a, %b, %s, %s) : (!a5, !b5, !s5, !s5) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}
