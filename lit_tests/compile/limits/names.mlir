// Names that PTX does not allow, or that have a meaning in LLVM, are errors at their op: each command tests
// another one.

// RUN: sed 's/@kernel/@"my-kernel"/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=DASH
// DASH: <stdin>:{{[0-9]+}}:3: error: 'gpu.func' op has the name 'my-kernel', which PTX cannot hold; expected letters, digits, '_' and '$', a letter first (or '_' or '$' and more)

// RUN: sed 's/@kernel/@"my kernel"/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=SPACE
// SPACE: 'gpu.func' op has the name 'my kernel', which PTX cannot hold

// RUN: sed 's/@kernel/@"é"/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=LETTER
// LETTER: 'gpu.func' op has the name 'é', which PTX cannot hold

// RUN: sed 's/@kernel/@""/' %s | %{refused} smem-compile - --emit=cubin -o - | FileCheck %s --check-prefix=EMPTY
// EMPTY: 'gpu.func' op has the name '', which PTX cannot hold

// RUN: sed 's/@kernel/@"a\\00b"/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=NUL
// NUL: 'gpu.func' op has the name 'a\x00b', which PTX cannot hold

// RUN: sed 's/@kernel/@"1st"/' %s | %{refused} smem-compile - --emit=cubin -o - | FileCheck %s --check-prefix=DIGIT
// DIGIT: 'gpu.func' op has the name '1st', which PTX cannot hold

// RUN: sed 's/@kernel/@__nvvm_reflect/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=REFLECT
// REFLECT: 'gpu.func' op has the name '__nvvm_reflect', which is reserved in PTX or LLVM

// RUN: sed 's/@kernel/@"llvm.foo"/' %s | %{refused} smem-compile - --emit=llvm -o - | FileCheck %s --check-prefix=INTRINSIC
// INTRINSIC: 'gpu.func' op has the name 'llvm.foo', which is reserved in PTX or LLVM

// RUN: sed 's/@table/@"a table"/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=GLOBAL
// GLOBAL: 'llvm.mlir.global' op has the name 'a table', which PTX cannot hold

// LLVM renames symbols that are private to the module.
// RUN: sed 's/@table/@"a.table"/' %s | smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=LOCAL
// LOCAL: a_$_table

gpu.module @module {
  llvm.mlir.global internal constant @table(dense<[1, 2, 3, 4]> : tensor<4xi32>) : !llvm.array<4 x i32>
  gpu.func @kernel(%m: memref<1xi32>, %i: i64) kernel {
    %zero = arith.constant 0 : index
    %t = llvm.mlir.addressof @table : !llvm.ptr
    %at = llvm.getelementptr %t[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %x = llvm.load %at : !llvm.ptr -> i32
    memref.store %x, %m[%zero] : memref<1xi32>
    gpu.return
  }
}
