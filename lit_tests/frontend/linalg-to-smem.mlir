// RUN: smem-opt %s --linalg-to-smem-prepare --linalg-to-smem=explain=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// nn.Linear with relu: the transposed weights are read as they are, the bias and relu are the epilogue.
// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.func @gemm(%{{.*}}: memref<?x?xbf16, strided<[?, 1]>> {smem.name = "A"
// CHECK: "smem.tma_load"
// CHECK: "smem.mma"
// CHECK: arith.maximumf
// CHECK: "smem.store"
// CHECK: func.func @linear
// CHECK-NOT: linalg
// CHECK: bufferization.to_buffer %arg1 read_only
// CHECK: gpu.launch_func @linear_gemm_0::@gemm blocks in
// CHECK: bufferization.to_tensor %{{.*}} restrict : memref<256x512xbf16>
// REMARK: becomes the kernel linear_gemm_0: bf16 x bf16 -> bf16, A k-major, B k-major
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>
func.func @linear(%x: tensor<256x128xbf16>, %w: tensor<512x128xbf16>, %b: tensor<512xbf16>) -> tensor<256x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x512xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x512xf32>) -> tensor<256x512xf32>
  %y = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<256x128xbf16>, tensor<512x128xbf16>) outs(%begin : tensor<256x512xf32>) {
  ^bb0(%p: bf16, %q: bf16, %o: f32):
    %1 = arith.extf %p : bf16 to f32
    %2 = arith.extf %q : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<256x512xf32>
  %made = tensor.empty() : tensor<256x512xbf16>
  %z = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y, %b : tensor<256x512xf32>, tensor<512xbf16>) outs(%made : tensor<256x512xbf16>) {
  ^bb0(%p: f32, %q: bf16, %o: bf16):
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.addf %p, %1 : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<256x512xbf16>
  return %z : tensor<256x512xbf16>
}
