// Thread block sizes that no GPU has.

// RUN: smem-opt %s --smem-lower-copies --split-input-file --verify-diagnostics
// RUN: sed 's/1024, 2, 1/-2147483648, 1, 1/; s/1024 x 2 x 1/-2147483648 x 1 x 1/' %s | smem-opt - --smem-to-nvvm=arch=sm_100 --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
// expected-error@+1 {{'func.func' op has thread blocks of 0 x 1 x 1 threads; expected 1 to 1024 threads}}
func.func @none(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 0, 1, 1>} {
  %0 = "smem.alloc"() {offset = 0 : i64} : () -> !t
  "smem.copy"(%m, %0) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
// expected-error@+1 {{'func.func' op has thread blocks of 1024 x 2 x 1 threads; expected 1 to 1024 threads}}
func.func @many(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 1024, 2, 1>} {
  %0 = "smem.alloc"() {offset = 0 : i64} : () -> !t
  "smem.copy"(%m, %0) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
// expected-error@+1 {{'func.func' op has known_block_size = array<ui8: 128, 1, 1>; expected arrays of i8, i16, i32, i64, f32 or f64}}
func.func @no_class(%m: memref<64x64xbf16>) attributes {known_block_size = array<ui8: 128, 1, 1>} {
  %0 = "smem.alloc"() {offset = 0 : i64} : () -> !t
  "smem.copy"(%m, %0) : (memref<64x64xbf16>, !t) -> ()
  return
}
