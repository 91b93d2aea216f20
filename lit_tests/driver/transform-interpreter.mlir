// A transform script applies passes of smem, with options as a dictionary or as text, between upstream's.

// RUN: smem-opt %s --transform-interpreter | FileCheck %s
// RUN: smem-opt %s --pass-pipeline='builtin.module(transform-interpreter{entry-point=as_text},gpu.module(cse))' | FileCheck %s
// RUN: smem-opt %s --emit-bytecode | smem-opt - --transform-interpreter | FileCheck %s

// CHECK: gpu.module @first
// CHECK: #smem.layout<"Swizzle<2,4,3>
// CHECK-NOT: arith.addi
// CHECK: gpu.module @second
// CHECK: #smem.auto
module attributes {transform.with_named_sequence} {
  gpu.module @first {
    gpu.func @kernel(%m: memref<8xindex>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
      %c1 = arith.constant 1 : index
      %sum = arith.addi %c1, %c1 : index
      memref.store %sum, %m[%c1] : memref<8xindex>
      gpu.return
    }
  }
  gpu.module @second {
    gpu.func @kernel() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %both = transform.structured.match ops{["gpu.module"]} in %root : (!transform.any_op) -> !transform.any_op
    %first, %second = transform.split_handle %both : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %chosen = "smem_transform.apply_registered_pass"(%first) {
      pass_name = "smem-assign-layouts", options = {"max-swizzle" = 64 : i64, explain = false}
    } : (!transform.any_op) -> !transform.any_op
    %folded = transform.apply_registered_pass "canonicalize" to %chosen : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @as_text(%root: !transform.any_op {transform.readonly}) {
    %both = transform.structured.match ops{["gpu.module"]} in %root : (!transform.any_op) -> !transform.any_op
    %first, %second = transform.split_handle %both : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %folded = transform.apply_registered_pass "canonicalize" to %first : (!transform.any_op) -> !transform.any_op
    %chosen = "smem_transform.apply_registered_pass"(%folded) {
      pass_name = "smem-assign-layouts", options = "max-swizzle=64"
    } : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
