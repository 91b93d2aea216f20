// On an error, an existing output file is unchanged, and no new one is created.

// RUN: rm -rf %t && mkdir %t
// RUN: echo before > %t/out.mlir
// RUN: %{refused} smem-opt %s --smem-allocate -o %t/out.mlir | FileCheck %s
// RUN: %{refused} smem-opt %s --smem-allocate -o %t/new.mlir
// RUN: FileCheck %s --check-prefix=BEFORE --input-file %t/out.mlir
// RUN: ls %t | FileCheck %s --check-prefix=FILES

// CHECK: error: 'smem.alloc' op has no layout; run smem-assign-layouts before
// BEFORE: before
// FILES-NOT: new.mlir
// FILES: out.mlir
func.func @f() {
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}
