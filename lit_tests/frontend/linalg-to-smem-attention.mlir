// RUN: smem-opt %s --allow-unregistered-dialect --linalg-to-smem-prepare --linalg-to-smem=explain=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// Two products with a softmax between them are one kernel of attention. The scale is log2(e) / 8, and causal
// queries see no key behind their places.
// CHECK: gpu.module @causal_attention_0
// CHECK: gpu.func @attention(%{{.*}}: memref<?x?x?x64xbf16, strided<[?, ?, ?, 1]>> {smem.name = "Q"
// CHECK: "smem.mma"
// CHECK: func.func @causal
// CHECK-NOT: linalg
// CHECK: memref.alloc() : memref<4x256x64xbf16>
// CHECK: arith.constant 0.180336878 : f32
// CHECK: gpu.launch_func @causal_attention_0::@attention blocks in
// CHECK: bufferization.to_tensor %{{.*}} restrict : memref<4x256x64xbf16>
// REMARK: becomes the kernel causal_attention_0: attention of bf16, 1x4x256x64, 0 keys behind,
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @causal(%q: tensor<4x256x64xbf16>, %k: tensor<4x256x64xbf16>, %v: tensor<4x256x64xbf16>) -> tensor<4x256x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %of_k = tensor.empty() : tensor<4x64x256xbf16>
  %of_s = tensor.empty() : tensor<4x256x256xf32>
  %of_row = tensor.empty() : tensor<4x256xf32>
  %of_p = tensor.empty() : tensor<4x256x256xbf16>
  %of_sum = tensor.empty() : tensor<4x256x64xf32>
  %of_o = tensor.empty() : tensor<4x256x64xbf16>
  %kt = linalg.transpose ins(%k : tensor<4x256x64xbf16>) outs(%of_k : tensor<4x64x256xbf16>) permutation = [0, 2, 1]
  %begin = linalg.fill ins(%zero : f32) outs(%of_s : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<4x256x64xbf16>, tensor<4x64x256xbf16>) outs(%begin : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %seen = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<4x256x256xf32>) outs(%of_s : tensor<4x256x256xf32>) {
  ^bb0(%i: f32, %o: f32):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %sees = arith.cmpi sge, %row, %key : index
    %x = arith.mulf %i, %scale : f32
    %y = arith.select %sees, %x, %none : f32
    linalg.yield %y : f32
  } -> tensor<4x256x256xf32>
  %lowest = linalg.fill ins(%none : f32) outs(%of_row : tensor<4x256xf32>) -> tensor<4x256xf32>
  %max = linalg.reduce {arith.maximumf} ins(%seen : tensor<4x256x256xf32>) outs(%lowest : tensor<4x256xf32>) dimensions = [2]
  %exp = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%seen, %max : tensor<4x256x256xf32>, tensor<4x256xf32>) outs(%of_s : tensor<4x256x256xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %x = arith.subf %i, %j : f32
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4x256x256xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%of_row : tensor<4x256xf32>) -> tensor<4x256xf32>
  %total = linalg.reduce {arith.addf} ins(%exp : tensor<4x256x256xf32>) outs(%nothing : tensor<4x256xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%exp, %total : tensor<4x256x256xf32>, tensor<4x256xf32>) outs(%of_p : tensor<4x256x256xbf16>) {
  ^bb0(%i: f32, %j: f32, %o: bf16):
    %x = arith.divf %i, %j : f32
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<4x256x256xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%of_sum : tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
  %sum = linalg.batch_matmul ins(%p, %v : tensor<4x256x256xbf16>, tensor<4x256x64xbf16>) outs(%zeros : tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%sum : tensor<4x256x64xf32>) outs(%of_o : tensor<4x256x64xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %y = arith.truncf %i : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<4x256x64xbf16>
  return %o : tensor<4x256x64xbf16>
}

// torch-mlir's op, in the generic form that needs no dialect of torch-mlir.
// CHECK: func.func @op
// CHECK-NOT: tm_tensor
// CHECK: gpu.launch_func @op_attention_0::@attention
// REMARK: becomes the kernel op_attention_0: attention of f16, 1x4x256x128,
func.func @op(%q: tensor<4x256x128xf16>, %k: tensor<4x512x128xf16>, %v: tensor<4x512x128xf16>) -> tensor<4x256x128xf16> {
  %of_o = tensor.empty() : tensor<4x256x128xf16>
  %o = "tm_tensor.attention"(%q, %k, %v, %of_o) {operandSegmentSizes = array<i32: 3, 1>}
    : (tensor<4x256x128xf16>, tensor<4x512x128xf16>, tensor<4x512x128xf16>, tensor<4x256x128xf16>) -> tensor<4x256x128xf16>
  return %o : tensor<4x256x128xf16>
}

// A mask that is given stays an op of its own.
// CHECK: func.func @masked
// CHECK: "tm_tensor.attention"
// REMARK: 'tm_tensor.attention' stays as it is: it adds a tensor to scores, a bias or a mask; the kernel has causal masks and windows
func.func @masked(%q: tensor<4x256x128xf16>, %k: tensor<4x512x128xf16>, %v: tensor<4x512x128xf16>, %mask: tensor<4x256x512xf16>) -> tensor<4x256x128xf16> {
  %of_o = tensor.empty() : tensor<4x256x128xf16>
  %o = "tm_tensor.attention"(%q, %k, %v, %mask, %of_o) {operandSegmentSizes = array<i32: 4, 1>}
    : (tensor<4x256x128xf16>, tensor<4x512x128xf16>, tensor<4x512x128xf16>, tensor<4x256x512xf16>, tensor<4x256x128xf16>) -> tensor<4x256x128xf16>
  return %o : tensor<4x256x128xf16>
}
