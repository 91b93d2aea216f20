// An error leaves neither code nor manifest, and does not change existing files.

// RUN: rm -rf %t && mkdir %t
// RUN: echo before > %t/old.ptx
// RUN: %{refused} smem-compile %s --emit=ptx -o %t/new.ptx | FileCheck %s
// RUN: %{refused} smem-compile %s --emit=ptx -o %t/old.ptx
// RUN: echo old.ptx > %t.expected
// RUN: ls -A %t | diff %t.expected -
// RUN: FileCheck %s --check-prefix=BEFORE --input-file %t/old.ptx
// RUN: %{refused} smem-compile %{examples}/matmul.mlir --emit=nvvm -o %t/no/folder.mlir | FileCheck %s --check-prefix=FOLDER

// CHECK: errors-leave-no-output.mlir:{{[0-9]+}}:10: error: 'smem.mma' op has K = 24; expected a multiple of 16 for bf16
// CHECK-NEXT: %d = "smem.mma"
// BEFORE: before
// FOLDER: smem-compile: error: {{.*}}folder.mlir: No such file or directory
!a = !smem.tile<tensor<64x24xbf16>, #smem.auto>
!b = !smem.tile<tensor<24x64xbf16>, #smem.auto>
gpu.module @kernels {
  gpu.func @kernel() kernel {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
    gpu.return
  }
}
