// Tiles and fragments larger than the memory or the registers are rejected before their elements are listed.

// RUN: smem-opt %s --split-input-file --verify-diagnostics

// 2147483647 rows of 8.
!t = !smem.tile<tensor<2147483647x8xbf16>, #smem.swizzle<"none", "row-major">>
func.func @stored(%m: memref<?x?xbf16, strided<[?, 1]>>, %i: index) {
  // expected-error@+1 {{'smem.alloc' op has the shape [2147483647, 8]; the shared memory and the registers of a CTA hold at most 2097152 elements}}
  %t = "smem.alloc"() : () -> !t
  "smem.tma_store"(%t, %m, %i, %i) : (!t, memref<?x?xbf16, strided<[?, 1]>>, index, index) -> ()
  return
}

// -----

%z = arith.constant 0.0 : f32
// expected-error@+1 {{'smem.fill' op has the shape [64, 1000000000000]; the shared memory and the registers of a CTA hold at most 2097152 elements}}
%0 = "smem.fill"(%z) : (f32) -> !smem.fragment<tensor<64x1000000000000xf32>, #smem.accumulator>

// -----

%z = arith.constant 0.0 : f32
// expected-error@+1 {{'smem.fill' op has a fragment of [64, 2048], which takes 131072 registers; a multiprocessor has 65536}}
%0 = "smem.fill"(%z) : (f32) -> !smem.fragment<tensor<64x2048xf32>, #smem.accumulator>

// -----

// Exactly the number of registers.
%z = arith.constant 0.0 : f32
%0 = "smem.fill"(%z) : (f32) -> !smem.fragment<tensor<64x1024xf32>, #smem.accumulator>

// -----

// expected-error@+1 {{'smem.alloc' op has the shape [64, 9223372036854775807]}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x9223372036854775807xbf16>, #smem.auto>

// -----

// expected-error@+1 {{'smem.alloc' op has the shape [4294967296, 8]}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<4294967296x8xbf16>, #smem.swizzle<"128B", "column-major">>

// -----

// expected-error@+1 {{'smem.alloc' op has the shape [0, 9223372036854775807]}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<0x9223372036854775807xbf16>, #smem.auto>

// -----

// expected-error@+1 {{'smem.alloc' op a tile of 1024x129xbf16 has 264192 bytes; shared memory has less than 262144}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<1024x129xbf16>, #smem.auto>

// -----

// Padding counts.
// expected-error@+1 {{'smem.alloc' op the layout Swizzle<3,4,3> o (8192,1):(64,0) spans 1048576 bytes; descriptors reach 262144}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<8192x1xbf16>, #smem.swizzle<"128B", "row-major">>

// -----

!a = !smem.fragment<tensor<64x16xf32>, #smem.a_fragment>
!b = !smem.tile<tensor<16x9223372036854775807xtf32>, #smem.auto>
func.func @columns(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has the shape [16, 9223372036854775807]}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

// expected-error@+1 {{'smem.alloc' op malformed layout '(9223372036854775808,64):(64,1)': it does not fit 63 bits}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(9223372036854775808,64):(64,1)">>
