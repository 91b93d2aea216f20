// RUN: smem-opt %s --split-input-file --verify-diagnostics

!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @in_flight(%d: !d, %m: memref<64x64xf32>) {
  // expected-error@+1 {{'smem.store' op reads an accumulator in flight; put an smem.wait before it}}
  "smem.store"(%d, %m) : (!d, memref<64x64xf32>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @workgroup(%c: !c, %m: memref<64x64xf32, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'smem.store' op stores to global memory, not to memory space #gpu.address_space<workgroup>}}
  "smem.store"(%c, %m) : (!c, memref<64x64xf32, #gpu.address_space<workgroup>>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @shape(%c: !c, %m: memref<32x?xf32>) {
  // expected-error@+1 {{'smem.store' op stores a fragment of 64x64 to memref<32x?xf32>; take a memref.subview of static shape 64x64, of ?x64 or ?x? for the elements that there are, or of GxRx64 with G * R = 64}}
  "smem.store"(%c, %m) : (!c, memref<32x?xf32>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @element(%c: !c, %m: memref<64x64xf64>) {
  // expected-error@+1 {{'smem.store' op stores f32 as f64; expected f32, f16, bf16}}
  "smem.store"(%c, %m) : (!c, memref<64x64xf64>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x20xf32>, #smem.accumulator>
func.func @fragment(%c: !c, %m: memref<64x20xf32>) {
  // expected-error@+1 {{'smem.store' op has an accumulator of [64, 20]; expected (M, N) with M a multiple of 64 and N of 8}}
  "smem.store"(%c, %m) : (!c, memref<64x20xf32>) -> ()
  return
}

// -----

!m = memref<64x64xf32, affine_map<(i, j) -> (i floordiv 8, j, i mod 8)>>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_strides(%c: !c, %m: !m) {
  // expected-error@+1 {{'smem.store' op takes memrefs with strides, for example strided<[?, 1], offset: ?>, not memref<64x64xf32, affine_map<(d0, d1) -> (d0 floordiv 8, d1, d0 mod 8)>>}}
  "smem.store"(%c, %m) : (!c, !m) -> ()
  return
}

// -----

// A column-major matrix is stored element by element.

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @columns_need_no_pairs(%c: !c, %m: memref<64x64xbf16, strided<[1, 65], offset: 3>>) {
  "smem.store"(%c, %m) : (!c, memref<64x64xbf16, strided<[1, 65], offset: 3>>) -> ()
  return
}

// -----

func.func @neither(%c: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>, %t: i32) {
  // expected-error@+1 {{'smem.store' op stores to a tile or a memref, not i32}}
  "smem.store"(%c, %t) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>, i32) -> ()
  return
}

// -----

func.func @multiplicand(%c: !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>, %t: memref<64x64xbf16>) {
  // expected-error@+1 {{'smem.store' op takes an accumulator, not !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>}}
  "smem.store"(%c, %t) : (!smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>, memref<64x64xbf16>) -> ()
  return
}

// -----

func.func @metadata(%c: !smem.fragment<tensor<64x64xbf16>, #smem.metadata>, %t: memref<64x64xbf16>) {
  // expected-error@+1 {{'smem.store' op takes an accumulator, not !smem.fragment<tensor<64x64xbf16>, #smem.metadata>}}
  "smem.store"(%c, %t) : (!smem.fragment<tensor<64x64xbf16>, #smem.metadata>, memref<64x64xbf16>) -> ()
  return
}

// -----

func.func @bits(%c: !smem.fragment<tensor<64x64xi32>, #smem.accumulator>, %t: memref<64x64xi1>) {
  // expected-error@+1 {{'smem.store' op stores i32 as i1; expected i32, i8, si8, ui8}}
  "smem.store"(%c, %t) : (!smem.fragment<tensor<64x64xi32>, #smem.accumulator>, memref<64x64xi1>) -> ()
  return
}

// -----

func.func @rank(%c: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>, %t: memref<4x64x64xf32>) {
  // expected-error@+1 {{'smem.store' op stores a fragment of 64x64 to memref<4x64x64xf32>; take a memref.subview of static shape 64x64, of ?x64 or ?x? for the elements that there are, or of GxRx64 with G * R = 64}}
  "smem.store"(%c, %t) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>, memref<4x64x64xf32>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @any_stack(%c: !c, %m: memref<?x?x64xf32>) {
  // expected-error@+1 {{'smem.store' op stores a fragment of 64x64 to memref<?x?x64xf32>; take a memref.subview of static shape 64x64, of ?x64 or ?x? for the elements that there are, or of GxRx64 with G * R = 64}}
  "smem.store"(%c, %m) : (!c, memref<?x?x64xf32>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @rows_that_divide_none(%c: !c, %m: memref<?x?x64xf32>) {
  // expected-error@+1 {{'smem.store' op stores a fragment of 64x64 to memref<?x?x64xf32>; take a memref.subview of static shape 64x64, of ?x64 or ?x? for the elements that there are, or of GxRx64 with G * R = 64}}
  "smem.store"(%c, %m) {matrix_rows = 24} : (!c, memref<?x?x64xf32>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @rows_that_the_type_has(%c: !c, %m: memref<?x16x64xf32>) {
  // expected-error@+1 {{'smem.store' op has matrix_rows = 16, but accesses memref<?x16x64xf32>; expected a memref with rows in two dimensions of dynamic extents}}
  "smem.store"(%c, %m) {matrix_rows = 16} : (!c, memref<?x16x64xf32>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_rows(%c: !c, %m: memref<?x?x64xf32>) {
  // expected-error@+1 {{'smem.store' op has matrix_rows = 0 : i64; expected a positive integer}}
  "smem.store"(%c, %m) {matrix_rows = 0} : (!c, memref<?x?x64xf32>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @stack_that_divides_no_rows(%c: !c, %m: memref<3x?x64xf32>) {
  // expected-error@+1 {{'smem.store' op stores a fragment of 64x64 to memref<3x?x64xf32>; take a memref.subview of static shape 64x64, of ?x64 or ?x? for the elements that there are, or of GxRx64 with G * R = 64}}
  "smem.store"(%c, %m) : (!c, memref<3x?x64xf32>) -> ()
  return
}

// -----

// To a tile.

!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @tile_in_flight(%c: !d, %t: !t) {
  // expected-error@+1 {{'smem.store' op reads an accumulator in flight; put an smem.wait before it}}
  "smem.store"(%c, %t) : (!d, !t) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @stages(%c: !c, %t: !t) {
  // expected-error@+1 {{'smem.store' op stores tensor<64x64xf32> to tensor<4x64x64xbf16>; take a stage or a subtile of that shape}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!t = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @tile_shape(%c: !c, %t: !t) {
  // expected-error@+1 {{'smem.store' op stores tensor<64x64xf32> to tensor<64x32xbf16>; take a stage or a subtile of that shape}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!t = !smem.tile<tensor<64x?xbf16>, #smem.auto>
func.func @tile_dynamic(%c: !c, %t: !t) {
  // expected-error@+1 {{'smem.store' op expected a ranked tensor of static shape as the first parameter, not tensor<64x?xbf16>}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!t = !smem.tile<tensor<64x64xi8>, #smem.auto>
func.func @tile_element(%c: !c, %t: !t) {
  // expected-error@+1 {{'smem.store' op stores f32 to a tile of i8; expected f32, f16, bf16, f8E4M3FN, f8E5M2}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!t = !smem.tile<tensor<64x64xtf32>, #smem.auto>
func.func @tile_of_tf32(%c: !c, %t: !t) {
  // expected-error@+1 {{'smem.store' op stores f32 to a tile of tf32; expected f32, f16, bf16, f8E4M3FN, f8E5M2}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

// Integer accumulators are not stored as floats.

!c = !smem.fragment<tensor<64x64xi32>, #smem.accumulator>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
func.func @tile_of_integers(%c: !c, %t: !t) {
  // expected-error@+1 {{'smem.store' op stores i32 to a tile of f32; expected i32, i8, si8, ui8}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!t = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(1,1)">>
func.func @same_place(%c: !c, %t: !t) {
  // expected-error@+1 {{'smem.store' op the layout Swizzle<0,4,3> o (64,64):(1,1) puts the elements [0, 1] and [1, 0] in the same place}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}
