// An error has the file, the line, the column and the source line; notes that repeat the op are omitted.

// RUN: %{refused} smem-opt %s | FileCheck %s
// RUN: %{refused} smem-opt < %s | FileCheck %s --check-prefix=STDIN

// CHECK: {{^.*}}diagnostics.mlir:[[LINE:[0-9]+]]:8: error: 'smem.alloc' op a tile has no elements in [64, 0]
// CHECK-NEXT:   %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x0xbf16>, #smem.auto>
// CHECK-NEXT:        ^
// CHECK-NOT: see current operation
// STDIN: <stdin>:{{[0-9]+}}:8: error: 'smem.alloc' op
func.func @f() {
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x0xbf16>, #smem.auto>
  return
}
