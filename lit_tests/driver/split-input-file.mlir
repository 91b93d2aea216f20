// Each part is processed in its own context; the separator is printed between them.

// RUN: smem-opt %s --split-input-file --smem-assign-layouts | FileCheck %s
// RUN: %{refused} smem-opt %s | FileCheck %s --check-prefix=WHOLE

// Two functions with one name, which is illegal in one module.
// CHECK: func.func @f
// CHECK: tensor<64x64xbf16>
// CHECK: // -----
// CHECK: func.func @f
// CHECK: tensor<64x32xbf16>
// CHECK-NOT: // -----
// WHOLE: error: redefinition of symbol named 'f'
func.func @f() {
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// -----

func.func @f() {
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x32xbf16>, #smem.auto>
  return
}
