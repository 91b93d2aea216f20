// More than 64 rows, or more than 256 columns, are several instructions: all of one K block, then all of the next.
// Steps are listed by MMA tiles along m/n, then along k.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

// CHECK: func.func @rows(%[[A:.*]]: i64, %[[B:.*]]: i64)
func.func @rows(%a: i64, %b: i64) {
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i64
  // CHECK-DAG: %[[C512:.*]] = arith.constant 512 : i64
  // CHECK-DAG: %[[C514:.*]] = arith.constant 514 : i64
  // CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i64
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK: %[[A01:.*]] = arith.addi %[[A]], %[[C2]] : i64
  // CHECK: %[[A10:.*]] = arith.addi %[[A]], %[[C512]] : i64
  // CHECK: %[[A11:.*]] = arith.addi %[[A]], %[[C514]] : i64
  // CHECK: %[[B1:.*]] = arith.addi %[[B]], %[[C128]] : i64
  // CHECK-NEXT: %[[D0:.*]] = nvvm.wgmma.mma_async %[[A]], %[[B]], %{{.*}}, <m = 64, n = 8, k = 16>, D[<f32>, <zero>]
  // CHECK-NEXT: %[[D1:.*]] = nvvm.wgmma.mma_async %[[A10]], %[[B]], %{{.*}}, <m = 64, n = 8, k = 16>, D[<f32>, <zero>]
  // CHECK-NEXT: %[[E0:.*]] = nvvm.wgmma.mma_async %[[A01]], %[[B1]], %[[D0]], <m = 64, n = 8, k = 16>, D[<f32>, <one>]
  // CHECK-NEXT: %[[E1:.*]] = nvvm.wgmma.mma_async %[[A11]], %[[B1]], %[[D1]], <m = 64, n = 8, k = 16>, D[<f32>, <one>]
  // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
  // The fragment is a struct of the structs of the blocks.
  // CHECK: %[[F:.*]] = llvm.insertvalue %[[E0]], %{{.*}}[0] : !llvm.struct<(struct<(f32, f32, f32, f32)>, struct<(f32, f32, f32, f32)>)>
  // CHECK: llvm.insertvalue %[[E1]], %[[F]][1]
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2, 512, 514>, b_steps = array<i64: 0, 128>} : (i64, i64) -> !smem.fragment<tensor<128x8xf32>, #smem.in_flight>
  return
}

// 512 columns are 256 and 256.
// CHECK: func.func @columns(%[[A:.*]]: i64, %[[B:.*]]: i64)
func.func @columns(%a: i64, %b: i64) {
  // CHECK: %[[B1:.*]] = arith.addi %[[B]], %{{.*}} : i64
  // CHECK: nvvm.wgmma.mma_async %[[A]], %[[B]], %{{.*}}, <m = 64, n = 256, k = 16>
  // CHECK: nvvm.wgmma.mma_async %[[A]], %[[B1]], %{{.*}}, <m = 64, n = 256, k = 16>
  // CHECK-NOT: nvvm.wgmma.mma_async
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0, 2048>} : (i64, i64) -> !smem.fragment<tensor<64x512xf32>, #smem.in_flight>
  return
}

// 384 columns are 192 and 192; 320 cannot be halved at a multiple of 64, and are 256 and 64.
// CHECK: func.func @uneven
func.func @uneven(%a: i64, %b: i64) {
  // CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 192, k = 16>
  // CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 192, k = 16>
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0, 1536>} : (i64, i64) -> !smem.fragment<tensor<64x384xf32>, #smem.in_flight>
  // CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 256, k = 16>
  // CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 64, k = 16>
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  %1 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0, 2048>} : (i64, i64) -> !smem.fragment<tensor<64x320xf32>, #smem.in_flight>
  return
}

// Two blocks of rows, two of columns: every pair of them, columns within rows.
// CHECK: func.func @both(%[[A:.*]]: i64, %[[B:.*]]: i64)
func.func @both(%a: i64, %b: i64) {
  // CHECK: %[[A1:.*]] = arith.addi %[[A]], %{{.*}} : i64
  // CHECK: %[[B1:.*]] = arith.addi %[[B]], %{{.*}} : i64
  // CHECK: nvvm.wgmma.mma_async %[[A]], %[[B]], %{{.*}}, <m = 64, n = 256
  // CHECK: nvvm.wgmma.mma_async %[[A]], %[[B1]], %{{.*}}, <m = 64, n = 256
  // CHECK: nvvm.wgmma.mma_async %[[A1]], %[[B]], %{{.*}}, <m = 64, n = 256
  // CHECK: nvvm.wgmma.mma_async %[[A1]], %[[B1]], %{{.*}}, <m = 64, n = 256
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 512>, b_steps = array<i64: 0, 2048>} : (i64, i64) -> !smem.fragment<tensor<128x512xf32>, #smem.in_flight>
  return
}
