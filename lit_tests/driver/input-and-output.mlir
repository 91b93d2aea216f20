// RUN: rm -rf %t && mkdir %t

// A file, standard input by default, standard input by its name.
// RUN: smem-opt %s | FileCheck %s
// RUN: smem-opt < %s | FileCheck %s
// RUN: smem-opt - < %s | FileCheck %s

// Standard output by its name, or a file, with nothing on standard output.
// RUN: smem-opt %s -o - | FileCheck %s
// RUN: smem-opt %s -o %t/out.mlir > %t/stdout
// RUN: FileCheck %s --input-file %t/out.mlir
// RUN: diff %t/stdout %{empty}

// CHECK: "smem.fence"() : () -> ()
"smem.fence"() : () -> ()
