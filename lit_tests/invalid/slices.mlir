// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @dimension(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has #smem.slice<2>; expected 1 (an element for each row) or 0 (for each column)}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<64xf32>, #smem.slice<2>>
  return
}

// -----

func.func @rows(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has a slice of [40] along dimension 1; expected one extent, a multiple of 64: the number of rows}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<40xf32>, #smem.slice<1>>
  return
}

// -----

func.func @columns(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has a slice of [12] along dimension 0; expected one extent, a multiple of 8: the number of columns}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<12xf32>, #smem.slice<0>>
  return
}

// -----

func.func @matrix(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has a slice of [64, 64] along dimension 1; expected one extent, a multiple of 64: the number of rows}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<64x64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @element(%v: f64) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of f64; expected f32, f16, i32, bf16, i16, i8, ui8, f8E4M3FN, f8E5M2, i4, ui4}}
  %0 = "smem.fill"(%v) : (f64) -> !smem.fragment<tensor<64xf64>, #smem.slice<1>>
  return
}

// -----

func.func @reduce_in_flight(%c: !smem.fragment<tensor<64x64xf32>, #smem.in_flight>) {
  // expected-error@+1 {{'smem.reduce' op reads an accumulator in flight; put an smem.wait before it}}
  %0 = "smem.reduce"(%c) {op = "add", axis = 1 : i32} : (!smem.fragment<tensor<64x64xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @reduce_axis(%c: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.reduce' op has axis = 2; expected 1 (along rows) or 0 (along columns)}}
  %0 = "smem.reduce"(%c) {op = "add", axis = 2 : i32} : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @reduce_floats(%c: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.reduce' op reduces f32 by "maxsi"; expected one of add, mul, maximumf, maxnumf, minimumf, minnumf}}
  %0 = "smem.reduce"(%c) {op = "maxsi", axis = 1 : i32} : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @reduce_integers(%c: !smem.fragment<tensor<64x64xi32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.reduce' op reduces i32 by "maximumf"; expected one of add, mul, maxsi, maxui, minsi, minui, and, or, xor}}
  %0 = "smem.reduce"(%c) {op = "maximumf", axis = 1 : i32} : (!smem.fragment<tensor<64x64xi32>, #smem.accumulator>) -> !smem.fragment<tensor<64xi32>, #smem.slice<1>>
  return
}

// -----

func.func @reduce_result(%c: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.reduce' op results in !smem.fragment<tensor<64xf32>, #smem.slice<1 : i64>>; expected !smem.fragment<tensor<64xf32>, #smem.slice<0 : i64>>}}
  %0 = "smem.reduce"(%c) {op = "add", axis = 0 : i32} : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @reduce_warpgroups(%c: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.reduce' op has warpgroups = 9 : i32; expected 1 to 8}}
  %0 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 9 : i32} : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @reduce_attribute(%c: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.reduce' op has the attribute kind; expected op, axis or warpgroups}}
  %0 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, kind = "x"} : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @broadcast_of_no_slice(%c: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.broadcast' op takes a slice, not !smem.fragment<tensor<64x64xf32>, #smem.accumulator>}}
  %0 = "smem.broadcast"(%c) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

func.func @broadcast_to_another_extent(%r: !smem.fragment<tensor<64xf32>, #smem.slice<1>>) {
  // expected-error@+1 {{'smem.broadcast' op broadcasts tensor<64xf32> along dimension 1 to tensor<128x64xf32>; expected 64 rows of f32}}
  %0 = "smem.broadcast"(%r) : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>) -> !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
  return
}

// -----

func.func @broadcast_to_another_type(%r: !smem.fragment<tensor<64xf16>, #smem.slice<0>>) {
  // expected-error@+1 {{'smem.broadcast' op broadcasts tensor<64xf16> along dimension 0 to tensor<64x64xf32>; expected 64 columns of f16}}
  %0 = "smem.broadcast"(%r) : (!smem.fragment<tensor<64xf16>, #smem.slice<0>>) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

func.func @map_slices_along_two_dimensions(%r: !smem.fragment<tensor<64xf32>, #smem.slice<1>>) {
  // expected-error@+1 {{'smem.map' op maps !smem.fragment<tensor<64xf32>, #smem.slice<1 : i64>> to !smem.fragment<tensor<64xf32>, #smem.slice<0 : i64>>; expected slices along one dimension}}
  %0 = "smem.map"(%r) ({
  ^bb0(%x: f32):
    gpu.yield %x : f32
  }) : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>) -> !smem.fragment<tensor<64xf32>, #smem.slice<0>>
  return
}

// -----

func.func @map_positions(%r: !smem.fragment<tensor<64xf32>, #smem.slice<1>>) {
  // expected-error@+1 {{'smem.map' op has a region with arguments (f32, index, index); expected (f32), which may be followed by the row as index}}
  %0 = "smem.map"(%r) ({
  ^bb0(%x: f32, %row: index, %column: index):
    gpu.yield %x : f32
  }) : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @load_from_a_matrix(%m: memref<3x1xf32>) {
  // expected-error@+1 {{'smem.load' op loads a slice of 64 from memref<3x1xf32>; take a memref.subview of rank 1, as memref<64xf32>, of a dynamic extent, or of GxR with G * R = 64}}
  %0 = "smem.load"(%m) : (memref<3x1xf32>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @load_from_a_tile(%t: !smem.tile<tensor<64x64xf16>, #smem.auto>) {
  // expected-error@+1 {{'smem.load' op loads a slice from !smem.tile<tensor<64x64xf16>, #smem.auto>; expected a vector, as memref<64xf32>}}
  %0 = "smem.load"(%t) : (!smem.tile<tensor<64x64xf16>, #smem.auto>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @load_element(%m: memref<64xi32>) {
  // expected-error@+1 {{'smem.load' op loads f32 from i32; expected f32, f16, bf16}}
  %0 = "smem.load"(%m) : (memref<64xi32>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @load_from_workgroup_memory(%m: memref<64xf32, 3>) {
  // expected-error@+1 {{'smem.load' op loads from global memory, not from memory space 3 : i64}}
  %0 = "smem.load"(%m) : (memref<64xf32, 3>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

func.func @store_element(%r: !smem.fragment<tensor<64xf32>, #smem.slice<1>>, %m: memref<64xi8>) {
  // expected-error@+1 {{'smem.store' op stores f32 as i8; expected f32, f16, bf16, f8E4M3FN, f8E5M2}}
  "smem.store"(%r, %m) : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>, memref<64xi8>) -> ()
  return
}

// -----

func.func @store_extent(%r: !smem.fragment<tensor<64xf32>, #smem.slice<1>>, %m: memref<32xf32>) {
  // expected-error@+1 {{'smem.store' op stores a slice of 64 to memref<32xf32>; take a memref.subview of rank 1, as memref<64xf32>, of a dynamic extent, or of GxR with G * R = 64}}
  "smem.store"(%r, %m) : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>, memref<32xf32>) -> ()
  return
}

// -----

func.func @registers(%r: !smem.fragment<tensor<64xf32>, #smem.slice<1>>) {
  // expected-error@+1 {{'smem.to_registers' op results in vector<4xf32>; a thread holds vector<2xf32> of tensor<64xf32>}}
  %0 = "smem.to_registers"(%r) : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>) -> vector<4xf32>
  return
}

// -----

func.func @mma_of_a_slice(%b: !smem.tile<tensor<64x64xf16>, #smem.auto>, %r: !smem.fragment<tensor<64xf16>, #smem.slice<1>>) {
  // expected-error@+1 {{'smem.mma' op takes A in registers as #smem.a_fragment, not !smem.fragment<tensor<64xf16>, #smem.slice<1 : i64>>; smem.convert makes one of an accumulator, smem.load of a tile}}
  %0 = "smem.mma"(%r, %b) : (!smem.fragment<tensor<64xf16>, #smem.slice<1>>, !smem.tile<tensor<64x64xf16>, #smem.auto>) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @convert_a_slice(%r: !smem.fragment<tensor<64xf32>, #smem.slice<1>>) {
  // expected-error@+1 {{'smem.convert' op takes an accumulator, not !smem.fragment<tensor<64xf32>, #smem.slice<1 : i64>>}}
  %0 = "smem.convert"(%r) : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>) -> !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
  return
}

// -----

func.func @wait_for_a_slice(%r: !smem.fragment<tensor<64xf32>, #smem.slice<1>>) {
  // expected-error@+1 {{'smem.wait' op waits for !smem.fragment<tensor<64xf32>, #smem.slice<1 : i64>>, which is not in flight}}
  %0 = "smem.wait"(%r) {pending = 0 : i32} : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!k = !smem.fragment<tensor<64xf32>, #smem.slice<0>>

func.func @offset(%c: !c) {
  // expected-error@+1 {{'smem.reduce' op has offset = "x"; expected a multiple of 4 from 0 to }}
  %0 = "smem.reduce"(%c) {op = "add", axis = 0 : i32, offset = "x"} : (!c) -> !k
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!k = !smem.fragment<tensor<64xf32>, #smem.slice<0>>

func.func @negative_offset(%c: !c) {
  // expected-error@+1 {{'smem.reduce' op has offset = -4 : i64; expected a multiple of 4 from 0 to }}
  %0 = "smem.reduce"(%c) {op = "add", axis = 0 : i32, offset = -4 : i64} : (!c) -> !k
  return
}

// -----

func.func @nibbles(%v: i8) {
  // expected-error@+1 {{'smem.fill' op has a slice of i4; expected elements of 16 or 32 bits, i8 or ui8}}
  %0 = "smem.fill"(%v) : (i8) -> !smem.fragment<tensor<64xi4>, #smem.slice<1>>
  return
}
