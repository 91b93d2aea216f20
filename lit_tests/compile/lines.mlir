// With --debug-info=lines, PTX has the file and the line of each instruction, of assembly too.

// RUN: smem-compile %s --emit=ptx --debug-info=lines -o - | FileCheck %s
// RUN: smem-compile - --emit=ptx --debug-info=lines -o - < %s | FileCheck %s --check-prefix=STDIN
// RUN: smem-compile %s --emit=llvm --debug-info=lines -o - | FileCheck %s --check-prefix=LLVM
// RUN: smem-compile %s --emit=ptx -o - | FileCheck %s --check-prefix=NONE
// RUN: %{refused} smem-compile %s --emit=ptx --debug-info=full -o - | FileCheck %s --check-prefix=FULL

// CHECK: .target sm_90a{{$}}
// CHECK: .visible .entry kernel(
// CHECK: .loc{{.}}1 7 3
// CHECK: membar.gl;
// CHECK: .loc{{.}}1 8 3
// CHECK-NEXT: .loc{{.}}2 9 5, function_name $L__info_string0, inlined_at 1 8 3
// CHECK: membar.cta;
// CHECK: .loc{{.}}3
// CHECK: ret;
// CHECK: .file{{.}}1 "/sources/kernel.py"
// CHECK: .file{{.}}2 "/sources/barriers.py"
// CHECK: .file{{.}}3 "/{{.*}}/lines.mlir"

// STDIN: .file{{.}}3 "<stdin>"

// LLVM: emissionKind: DebugDirectivesOnly
// LLVM-DAG: DISubprogram(name: "kernel", linkageName: "kernel"
// LLVM-DAG: DISubprogram(name: "block_barrier"
// LLVM-DAG: DILocation(line: 9, column: 5, {{.*}}inlinedAt:

// NONE: .target sm_90a
// NONE-NOT: .loc
// NONE-NOT: .file

// FULL: smem-compile: error: argument --debug-info: invalid choice: 'full'
gpu.module @kernels {
  gpu.func @kernel() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    llvm.inline_asm has_side_effects "membar.gl;", "" : () -> () loc("/sources/kernel.py":7:3)
    llvm.inline_asm has_side_effects "membar.cta;", "" : () -> ()
      loc(callsite("block_barrier"("/sources/barriers.py":9:5) at "/sources/kernel.py":8:3))
    gpu.return
  }
}
