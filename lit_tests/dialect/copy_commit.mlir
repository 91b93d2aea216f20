// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK: "smem.copy_commit"() : () -> ()
"smem.copy_commit"() : () -> ()
