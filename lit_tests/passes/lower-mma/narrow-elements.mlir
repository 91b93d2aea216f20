// Elements of 8 and 4 bits are packed in registers, and converted in pairs.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!bytes = !smem.fragment<tensor<64x16xui8>, #smem.accumulator>
!nibbles = !smem.fragment<tensor<64x16xi4>, #smem.accumulator>
!halves = !smem.fragment<tensor<64x16xbf16>, #smem.accumulator>
!f16 = !smem.fragment<tensor<64x16xf16>, #smem.accumulator>
!e4m3 = !smem.fragment<tensor<64x16xf8E4M3FN>, #smem.accumulator>
!a = !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>

// Eight nibbles share a register. Those of a pair of columns are 16 bits apart, as two bf16 are.
// CHECK: func.func @nibbles(%[[X:.*]]: !llvm.struct<(i32)>) -> !llvm.struct<(i32, i32, i32, i32)>
func.func @nibbles(%x: !nibbles) -> !halves attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK-DAG: %[[OFFSET:.*]] = arith.constant dense<1.360000e+02> : vector<2xbf16>
  // CHECK-DAG: %[[MAGIC:.*]] = arith.constant 1124614920 : i32
  // CHECK: nvvm.read.ptx.sreg.nsmid
  // CHECK: %[[MASK:.*]] = arith.ori %{{.*}}, %{{.*}} : i32
  // CHECK: %[[PAIR:.*]] = arith.andi %{{.*}}, %[[MASK]] : i32
  // CHECK-NEXT: %[[BITS:.*]] = arith.xori %[[PAIR]], %[[MAGIC]] : i32
  // CHECK-NEXT: %[[FLOATS:.*]] = llvm.bitcast %[[BITS]] : i32 to vector<2xbf16>
  // CHECK-NEXT: arith.subf %[[FLOATS]], %[[OFFSET]] : vector<2xbf16>
  %0 = "smem.map"(%x) ({
  ^bb0(%v: i8):
    %w = arith.sitofp %v : i8 to bf16
    gpu.yield %w : bf16
  }) : (!nibbles) -> !halves
  return %0 : !halves
}

// An accumulator of bf16 has the registers of an A.
// CHECK: func.func @to_a(%[[X:.*]]: !llvm.struct<(i32, i32, i32, i32)>)
// CHECK-NOT: arith
// CHECK: return
func.func @to_a(%x: !halves) -> !a attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = "smem.convert"(%x) : (!halves) -> !a
  return %0 : !a
}

// Two bytes become two f16 by prmt.
// CHECK: func.func @bytes(%[[X:.*]]: !llvm.struct<(i32, i32)>)
func.func @bytes(%x: !bytes) -> !f16 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: nvvm.prmt
  // CHECK: arith.subf %{{.*}}, %{{.*}} : vector<2xf16>
  %0 = "smem.map"(%x) ({
  ^bb0(%v: i8):
    %w = arith.uitofp %v : i8 to f16
    gpu.yield %w : f16
  }) : (!bytes) -> !f16
  return %0 : !f16
}

// CHECK: func.func @floats_of_8_bits
func.func @floats_of_8_bits(%x: !e4m3) -> !e4m3 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>{{ ?}}(f8E4M3FN) -> vector<2xf16>
  // CHECK: nvvm.convert.f32x2.to.f8x2
  %0 = "smem.map"(%x) ({
  ^bb0(%v: f8E4M3FN):
    %f = arith.extf %v : f8E4M3FN to f32
    %w = arith.truncf %f : f32 to f8E4M3FN
    gpu.yield %w : f8E4M3FN
  }) : (!e4m3) -> !e4m3
  return %0 : !e4m3
}
