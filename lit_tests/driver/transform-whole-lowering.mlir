// The whole lowering by a transform script is that of the pipeline.

// RUN: rm -rf %t && mkdir %t
// RUN: smem-opt %s --pass-pipeline='builtin.module(transform-interpreter)' -o %t/script.mlir
// RUN: smem-opt %s --smem-to-nvvm -o %t/pipeline.mlir
// RUN: diff %t/script.mlir %t/pipeline.mlir
// RUN: FileCheck %s --input-file %t/script.mlir

// CHECK-NOT: "smem.
// CHECK: nvvm.fence.proxy
module attributes {transform.with_named_sequence} {
  gpu.module @kernels {
    gpu.func @kernel(%m: memref<64x64xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
      "smem.copy"(%m, %t) : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> ()
      "smem.fence"() : () -> ()
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.structured.match ops{["gpu.module"]} in %root : (!transform.any_op) -> !transform.any_op
    %l = "smem_transform.apply_registered_pass"(%k) {pass_name = "smem-to-nvvm"} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
