// RUN: %{refused} smem-opt %s | FileCheck %s

// CHECK: malformed-mlir.mlir:5:13: error: expected ')' to end operand list
// CHECK-NEXT: "smem.fill"(f32)
"smem.fill"(f32) : (f32) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
