// A transform script says which configuration the kernel of a contraction has, and falls back where it does
// not fit.

// RUN: smem-opt %s --linalg-to-smem-prepare --transform-interpreter --linalg-to-smem=explain=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// CHECK-LABEL: func.func @mm
// CHECK-NOT: linalg
// CHECK: gpu.launch_func @mm_gemm_0::@gemm
// REMARK: to-kernel.mlir:17:10: remark: 'linalg.generic' has no kernel by this configuration: it does not fit the GEMM kernel: the tile's M is 100; expected a multiple of 128
// REMARK: remark: becomes the kernel mm_gemm_0: bf16 x bf16 -> f32, A k-major, B n-major, tiles 128x64x64 in 3 stages, cluster 2x1
module attributes {transform.with_named_sequence} {
  func.func @mm(%a: tensor<512x128xbf16>, %b: tensor<128x256xbf16>) -> tensor<512x256xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<512x256xf32>
    %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x256xf32>) -> tensor<512x256xf32>
    %c = linalg.matmul ins(%a, %b : tensor<512x128xbf16>, tensor<128x256xbf16>) outs(%begin : tensor<512x256xf32>) -> tensor<512x256xf32>
    return %c : tensor<512x256xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match attributes {iterator_types = [
      #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]
    } in %root : (!transform.any_op) -> !transform.any_op
    %function = transform.get_parent_op %c : (!transform.any_op) -> !transform.any_op
    transform.alternatives %function : !transform.any_op {
    ^bb0(%scope: !transform.any_op):
      %each = transform.structured.match ops {["linalg.generic"]} attributes {iterator_types = [
        #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]
      } in %scope : (!transform.any_op) -> !transform.any_op
      "smem_transform.to_kernel"(%each) {tile = [100, 64, 64]} : (!transform.any_op) -> ()
    }, {
    ^bb0(%scope: !transform.any_op):
      %each = transform.structured.match ops {["linalg.generic"]} attributes {iterator_types = [
        #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]
      } in %scope : (!transform.any_op) -> !transform.any_op
      "smem_transform.to_kernel"(%each) {tile = [128, 64, 64], stages = 3 : i64, cluster = [2, 1], store_columns = 64 : i64} : (!transform.any_op) -> ()
    }
    transform.yield
  }
}
