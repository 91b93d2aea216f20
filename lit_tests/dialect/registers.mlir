// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK-LABEL: func.func @accumulators
func.func @accumulators(%c: !smem.fragment<tensor<128x64xf32>, #smem.accumulator>, %h: vector<4xf16>) {
  // CHECK: "smem.to_registers"(%{{.*}}) : (!smem.fragment<tensor<128x64xf32>, #smem.accumulator>) -> vector<64xf32>
  %0 = "smem.to_registers"(%c) : (!smem.fragment<tensor<128x64xf32>, #smem.accumulator>) -> vector<64xf32>
  // CHECK: "smem.from_registers"(%{{.*}}) : (vector<4xf16>) -> !smem.fragment<tensor<64x8xf16>, #smem.accumulator>
  %1 = "smem.from_registers"(%h) : (vector<4xf16>) -> !smem.fragment<tensor<64x8xf16>, #smem.accumulator>
  return
}

// The elements of tf32 are f32, those of 8-bit integers i8; an i32 has 32 elements of i1.
// CHECK-LABEL: func.func @a_fragments
func.func @a_fragments(%a: vector<32xbf16>, %b: vector<16xf32>, %c: vector<32xi8>, %d: vector<4xi32>, %e: vector<16xf8E5M2>) {
  // CHECK: (vector<32xbf16>) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  %0 = "smem.from_registers"(%a) : (vector<32xbf16>) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  // CHECK: (vector<16xf32>) -> !smem.fragment<tensor<64x32xtf32>, #smem.a_fragment>
  %1 = "smem.from_registers"(%b) : (vector<16xf32>) -> !smem.fragment<tensor<64x32xtf32>, #smem.a_fragment>
  // CHECK: (vector<32xi8>) -> !smem.fragment<tensor<64x64xui8>, #smem.a_fragment>
  %2 = "smem.from_registers"(%c) : (vector<32xi8>) -> !smem.fragment<tensor<64x64xui8>, #smem.a_fragment>
  // CHECK: (vector<4xi32>) -> !smem.fragment<tensor<64x256xi1>, #smem.a_fragment>
  %3 = "smem.from_registers"(%d) : (vector<4xi32>) -> !smem.fragment<tensor<64x256xi1>, #smem.a_fragment>
  // CHECK: (vector<16xf8E5M2>) -> !smem.fragment<tensor<64x32xf8E5M2>, #smem.a_fragment>
  %4 = "smem.from_registers"(%e) : (vector<16xf8E5M2>) -> !smem.fragment<tensor<64x32xf8E5M2>, #smem.a_fragment>
  // CHECK: (!smem.fragment<tensor<64x256xi1>, #smem.a_fragment>) -> vector<4xi32>
  %5 = "smem.to_registers"(%3) : (!smem.fragment<tensor<64x256xi1>, #smem.a_fragment>) -> vector<4xi32>
  return
}
