// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK: "smem.fence"() : () -> ()
"smem.fence"() : () -> ()
