// LLVM checks the constraints of inline assembly; its message is passed on, with the location of the op that it
// quotes.

// RUN: %{refused} smem-compile %s --emit=ptx -o - | FileCheck %s
// RUN: %{refused} smem-compile %s --emit=ptx --debug-info=lines -o - | FileCheck %s

gpu.module @kernels {
  gpu.func @kernel(%m: memref<1xf32>, %x: f32) kernel {
    // CHECK: llvm-refuses.mlir:[[LINE:[0-9]+]]:5: error: 'llvm.inline_asm' op cannot be compiled; LLVM aborts: {{couldn't|could not}} allocate input reg for constraint '{eax}'
    // CHECK-NEXT: "{eax}"
    llvm.inline_asm has_side_effects "", "{eax}" %x : (f32) -> ()
    gpu.return
  }
}
