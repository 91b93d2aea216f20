// RUN: smem-opt %s --split-input-file --verify-diagnostics

// Elements that no tile holds, wherever they can appear.

// expected-error@+1 {{'smem.alloc' op has the element type i16, which no tile holds; expected one of f16, bf16, f32, tf32, f8E4M3FN, f8E5M2, f8E8M0FNU, !smem.padded<f4E2M1FN>, f4E2M1FN, f6E2M3FN, f6E3M2FN, i8, si8, ui8, i1, i32}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xi16>, #smem.auto>

// -----

// expected-error@+1 {{'smem.alloc' op has the element type f64, which no tile holds}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xf64>, #smem.auto>

// -----

func.func @view(%m: memref<64x64xi16, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'smem.view' op has the element type i16, which no tile holds}}
  %0 = "smem.view"(%m) : (memref<64x64xi16, #gpu.address_space<workgroup>>) -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  return
}

// -----

func.func @copy(%m: memref<64x64xi16>, %t: !smem.tile<tensor<64x64xbf16>, #smem.auto>) {
  // expected-error@+1 {{'smem.copy' op has the element type i16, which no tile holds}}
  "smem.copy"(%m, %t) : (memref<64x64xi16>, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> ()
  return
}
