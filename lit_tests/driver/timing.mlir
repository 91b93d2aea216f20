// RUN: smem-opt %s --smem-to-nvvm --mlir-timing -o %t 2>&1 | FileCheck %s

// CHECK: Execution time report
// CHECK-DAG: smem-assign-layouts
// CHECK-DAG: smem-allocate
// CHECK-DAG: smem-check-async
// CHECK-DAG: smem-materialize-descriptors
// CHECK-DAG: smem-lower-copies
// CHECK-DAG: smem-lower-mma
// CHECK-DAG: Total
module {}
