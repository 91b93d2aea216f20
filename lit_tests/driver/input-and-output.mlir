// RUN: rm -rf %t && mkdir %t

// Input: a file, standard input by default, or standard input as "-".
// RUN: smem-opt %s | FileCheck %s
// RUN: smem-opt < %s | FileCheck %s
// RUN: smem-opt - < %s | FileCheck %s

// Output: standard output as "-", or a file, with nothing on standard output.
// RUN: smem-opt %s -o - | FileCheck %s
// RUN: smem-opt %s -o %t/out.mlir > %t/stdout
// RUN: FileCheck %s --input-file %t/out.mlir
// RUN: diff %t/stdout %{empty}

// CHECK: "smem.fence"() : () -> ()
"smem.fence"() : () -> ()
