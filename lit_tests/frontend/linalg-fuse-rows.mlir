// Ops that share their rows become one kernel, in the place of the last one.

// RUN: smem-opt %s --linalg-fuse-rows --canonicalize | FileCheck %s
// RUN: smem-opt %s --linalg-fuse-rows=math=approx --canonicalize | FileCheck %s --check-prefix=APPROX

#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>
#all = affine_map<(r, c) -> (r, c)>

// 64 threads have 2 vectors of 8 each, which are loaded once; two warps exchange their sums. The other kernel loads single
// elements: it is for arrays that are not aligned.
// CHECK-LABEL: func.func @norm
// CHECK:       %[[RESULT:.*]] = memref.alloc() : memref<5x1024xbf16>
// CHECK:       %[[X:.*]] = bufferization.to_buffer %arg0 read_only
// CHECK:       memref.extract_aligned_pointer_as_index
// CHECK:       %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:       scf.if %[[ALIGNED]] {
// CHECK:         gpu.launch blocks
// CHECK-SAME:      = %c5
// CHECK-SAME:      threads({{.*}}) in (%{{.*}} = %c64
// CHECK-SAME:      workgroup(%[[SHARED:.*]] : memref<2xf32, #gpu.address_space<workgroup>>)
// CHECK-COUNT-2:     vector.load {{.*}} {alignment = 16 : i64} : memref<5120xbf16{{.*}}, vector<8xbf16>
// CHECK-NOT:         vector.load %
// CHECK-COUNT-5:     gpu.shuffle xor
// CHECK:             memref.store %{{.*}}, %[[SHARED]]
// CHECK:             gpu.barrier
// CHECK-COUNT-2:     memref.load %[[SHARED]]
// CHECK:             math.rsqrt
// CHECK-NOT:         memref.load
// CHECK-COUNT-2:     vector.store {{.*}} {alignment = 16 : i64}
// CHECK:         gpu.terminator
// CHECK:       } else {
// CHECK:         gpu.launch blocks
// CHECK-NOT:       vector.load
// CHECK:         gpu.terminator
// CHECK:       %[[TENSOR:.*]] = bufferization.to_tensor %[[RESULT]] restrict : memref<5x1024xbf16>
// CHECK-NOT:   linalg.generic
// CHECK:       return %[[TENSOR]]
// APPROX-LABEL: func.func @norm
// APPROX:      math.rsqrt %{{.*}} fastmath<afn>
func.func @norm(%x: tensor<5x1024xbf16>) -> tensor<5x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = tensor.empty() : tensor<5xf32>
  %empty = tensor.empty() : tensor<5x1024xbf16>
  %begin = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
    outs(%one : tensor<5xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<5xf32>
  %sum = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<5x1024xbf16>) outs(%begin : tensor<5xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.mulf %u, %u : f32
    %w = arith.addf %o, %v : f32
    linalg.yield %w : f32
  } -> tensor<5xf32>
  %y = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
    ins(%x, %sum : tensor<5x1024xbf16>, tensor<5xf32>) outs(%empty : tensor<5x1024xbf16>) {
  ^bb0(%a: bf16, %s: f32, %o: bf16):
    %u = arith.extf %a : bf16 to f32
    %r = math.rsqrt %s : f32
    %v = arith.mulf %u, %r : f32
    %w = arith.truncf %v : f32 to bf16
    linalg.yield %w : bf16
  } -> tensor<5x1024xbf16>
  return %y : tensor<5x1024xbf16>
}

// Rows whose length is not known stay, and sums of columns.
// CHECK-LABEL: func.func @stays
// CHECK-NOT:   gpu.launch
// CHECK-COUNT-2: linalg.generic
func.func @stays(%x: tensor<5x?xf32>, %y: tensor<5x64xf32>, %e: tensor<5x?xf32>, %c: tensor<64xf32>)
    -> (tensor<5x?xf32>, tensor<64xf32>) {
  %z = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<5x?xf32>) outs(%e : tensor<5x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %w = arith.mulf %a, %a : f32
    linalg.yield %w : f32
  } -> tensor<5x?xf32>
  %s = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
    ins(%y : tensor<5x64xf32>) outs(%c : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %w = arith.addf %o, %a : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  return %z, %s : tensor<5x?xf32>, tensor<64xf32>
}
