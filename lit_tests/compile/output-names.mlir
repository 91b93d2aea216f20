// Without -o, the output is next to the input, and named after the input and the stage. The manifest is named
// after the output: it replaces the suffix of a stage, and is appended to any other suffix, so it never overwrites
// the code. Standard output gets the code only.

// RUN: rm -rf %t && mkdir %t
// RUN: cp %s %t/in.mlir
// RUN: smem-compile %t/in.mlir --emit=nvvm
// RUN: smem-compile %t/in.mlir --emit=llvm
// RUN: smem-compile %t/in.mlir --emit=ptx
// RUN: ls %t | FileCheck %s --check-prefix=BESIDE
// RUN: mkdir %t/named
// RUN: smem-compile %t/in.mlir --emit=ptx -o %t/named/out.json
// RUN: ls %t/named | FileCheck %s --check-prefix=NAMED
// RUN: smem-compile %t/in.mlir --emit=ptx -o - | FileCheck %s --check-prefix=STDOUT
// RUN: mkdir %t/from-stdin
// RUN: smem-compile - --emit=ptx -o %t/from-stdin/out.ptx < %s
// RUN: ls %t/from-stdin | FileCheck %s --check-prefix=STDIN

// BESIDE: in.json
// BESIDE-NEXT: in.ll
// BESIDE-NEXT: in.mlir
// BESIDE-NEXT: in.nvvm.mlir
// BESIDE-NEXT: in.ptx

// NAMED: out.json
// NAMED-NEXT: out.json.json

// STDOUT: .visible .entry kernel(
// STDOUT-NOT: "version"

// STDIN: out.json
// STDIN-NEXT: out.ptx
gpu.module @kernels {
  gpu.func @kernel(%m: memref<4xf32>) kernel {
    gpu.return
  }
}
