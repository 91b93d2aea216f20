// jax 0.10.2, torch-mlir 20261001
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x8x8x16xbf16>, %arg1: tensor<3x3x16x16xbf16>) -> (tensor<1x8x8x16xbf16> {jax.result_info = "result"}) {
    %cst = arith.constant 0.000000e+00 : bf16
    %0 = tensor.empty() : tensor<1x8x8x16xbf16>
    %1 = linalg.fill ins(%cst : bf16) outs(%0 : tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xbf16>
    %padded = tensor.pad %arg0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst : bf16
    } : tensor<1x8x8x16xbf16> to tensor<1x10x10x16xbf16>
    %2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %arg1 : tensor<1x10x10x16xbf16>, tensor<3x3x16x16xbf16>) outs(%1 : tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xbf16>
    return %2 : tensor<1x8x8x16xbf16>
  }
}
