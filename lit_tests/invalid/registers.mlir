// RUN: smem-opt %s --split-input-file --verify-diagnostics

!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @read_in_flight(%d: !d) {
  // expected-error@+1 {{'smem.to_registers' op reads an accumulator in flight; put an smem.wait before it}}
  %0 = "smem.to_registers"(%d) : (!d) -> vector<32xf32>
  return
}

// -----

!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @made_in_flight(%v: vector<32xf32>) {
  // expected-error@+1 {{'smem.from_registers' op results in !smem.fragment<tensor<64x64xf32>, #smem.in_flight>; expected #smem.accumulator, #smem.slice or #smem.a_fragment}}
  %0 = "smem.from_registers"(%v) : (vector<32xf32>) -> !d
  return
}

// -----

!m = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @metadata_read(%m: !m) {
  // expected-error@+1 {{'smem.to_registers' op takes an accumulator, a slice or an A fragment, not !smem.fragment<tensor<64x64xbf16>, #smem.metadata>}}
  %0 = "smem.to_registers"(%m) : (!m) -> vector<2xi32>
  return
}

// -----

!m = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @metadata_made(%v: vector<2xi32>) {
  // expected-error@+1 {{'smem.from_registers' op takes an accumulator, a slice or an A fragment, not !smem.fragment<tensor<64x64xbf16>, #smem.metadata>}}
  %0 = "smem.from_registers"(%v) : (vector<2xi32>) -> !m
  return
}

// -----

!c = !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
func.func @too_few(%c: !c) {
  // expected-error@+1 {{'smem.to_registers' op results in vector<32xf32>; a thread holds vector<64xf32> of tensor<128x64xf32>}}
  %0 = "smem.to_registers"(%c) : (!c) -> vector<32xf32>
  return
}

// -----

!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @other_type(%v: vector<32xf16>) {
  // expected-error@+1 {{'smem.from_registers' op takes vector<32xf16>; a thread holds vector<32xbf16> of tensor<64x64xbf16>}}
  %0 = "smem.from_registers"(%v) : (vector<32xf16>) -> !a
  return
}

// -----

!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @two_dimensions(%v: vector<2x16xbf16>) {
  // expected-error@+1 {{'smem.from_registers' op takes vector<2x16xbf16>; a thread holds vector<32xbf16> of tensor<64x64xbf16>}}
  %0 = "smem.from_registers"(%v) : (vector<2x16xbf16>) -> !a
  return
}

// -----

!c = !smem.fragment<tensor<64x64xui4>, #smem.accumulator>
func.func @nibbles(%x: !c) {
  // expected-error@+1 {{'smem.to_registers' op takes tensor<64x64xui4>; expected elements of 8 bits, by an smem.map}}
  %0 = "smem.to_registers"(%x) : (!c) -> vector<32xi8>
  return
}
