// An f16 accumulator: two adjacent columns share an i32 register.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!d = !smem.fragment<tensor<64x8xf16>, #smem.accumulator>
!flying = !smem.fragment<tensor<64x8xf16>, #smem.in_flight>

// CHECK-LABEL: func.func @fill
func.func @fill(%v: f16, %m: memref<64x8xf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[PAIR:.*]] = vector.from_elements %{{.*}}, %{{.*}} : vector<2xf16>
  // CHECK-NEXT: %[[BITS:.*]] = llvm.bitcast %[[PAIR]] : vector<2xf16> to i32
  // CHECK-COUNT-2: llvm.insertvalue %[[BITS]]
  %d = "smem.fill"(%v) : (f16) -> !d
  // CHECK: %[[R:.*]] = llvm.bitcast %{{.*}} : i32 to vector<2xf16>
  // CHECK: llvm.store %[[R]], %{{.*}} {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr<1>
  "smem.store"(%d, %m) : (!d, memref<64x8xf16>) -> ()
  return
}

// Extended for memory of f32; stored one by one if it is column-major.
// CHECK-LABEL: func.func @widened
func.func @widened(%d: !d, %m: memref<64x8xf32, strided<[1, 64]>>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[PAIR:.*]] = llvm.bitcast %{{.*}} : i32 to vector<2xf16>
  // CHECK: %[[WIDE:.*]] = arith.extf %[[PAIR]] : vector<2xf16> to vector<2xf32>
  // CHECK-NEXT: %[[FIRST:.*]] = vector.extract %[[WIDE]][0] : f32 from vector<2xf32>
  // CHECK: llvm.store %[[FIRST]], %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
  "smem.store"(%d, %m) : (!d, memref<64x8xf32, strided<[1, 64]>>) -> ()
  return
}

// CHECK-LABEL: func.func @wait
func.func @wait(%d: !flying) -> !d {
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=r,=r,0,1,~{memory}"
  %r = "smem.wait"(%d) {pending = 0 : i32} : (!flying) -> !d
  return %r : !d
}
