// A thread holds 16 elements of each of two rows of 64 columns: a tree of 15 operations, then the quad exchanges.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
!rows = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

// CHECK-LABEL: gpu.func @rows
// CHECK-DAG: %[[X0:.*]] = llvm.extractvalue %arg0[0]
// CHECK-DAG: %[[X1:.*]] = llvm.extractvalue %arg0[1]
// CHECK-DAG: %[[X4:.*]] = llvm.extractvalue %arg0[4]
// CHECK-DAG: %[[X5:.*]] = llvm.extractvalue %arg0[5]
// CHECK: %[[LEFT:.*]] = arith.maximumf %[[X0]], %[[X1]] : f32
// CHECK-NEXT: %[[RIGHT:.*]] = arith.maximumf %[[X4]], %[[X5]] : f32
// CHECK-NEXT: %[[MINE:.*]] = arith.maximumf %[[LEFT]], %[[RIGHT]] : f32
// CHECK: %[[NEAR:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[MINE]], %c1_i32, %{{.*}} : f32 -> f32
// CHECK-NEXT: %[[PAIR:.*]] = arith.maximumf %[[MINE]], %[[NEAR]] : f32
// CHECK: %[[FAR:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[PAIR]], %c2_i32, %{{.*}} : f32 -> f32
// CHECK-NEXT: %[[QUAD:.*]] = arith.maximumf %[[PAIR]], %[[FAR]] : f32
// CHECK: %[[S:.*]] = llvm.insertvalue %[[QUAD]], %{{.*}}[0] : !llvm.struct<(f32, f32)>
// CHECK-NOT: nvvm.barrier
// CHECK: gpu.return
gpu.module @m {
  gpu.func @rows(%c: !c) -> !rows attributes {known_block_size = array<i32: 128, 1, 1>} {
    %0 = "smem.reduce"(%c) {op = "maximumf", axis = 1 : i32} : (!c) -> !rows
    gpu.return %0 : !rows
  }

// Along columns, warps exchange through shared memory, between two barriers of the warpgroup.
// CHECK-LABEL: gpu.func @columns
// CHECK-COUNT-3: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier id = %[[ID:.*]] number_of_threads = %c128_i32
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %c128_i32
// CHECK-COUNT-16: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: gpu.return
  gpu.func @columns(%c: !c) attributes {known_block_size = array<i32: 128, 1, 1>} {
    %0 = "smem.reduce"(%c) {op = "add", axis = 0 : i32, offset = 0 : i64} : (!c) -> !smem.fragment<tensor<16xf32>, #smem.slice<0>>
    gpu.return
  }

// Two groups of two warpgroups have the barriers 9 and 10; another group has 11.
// CHECK-LABEL: gpu.func @across
// CHECK: arith.addi %{{.*}}, %c9_i32
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c256_i32
// CHECK: arith.addi %{{.*}}, %c11_i32
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c512_i32
  gpu.func @across(%c: !c) attributes {known_block_size = array<i32: 512, 1, 1>} {
    %0 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 2 : i32, offset = 0 : i64} : (!c) -> !rows
    %1 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 4 : i32, offset = 1024 : i64} : (!c) -> !rows
    gpu.return
  }
}
