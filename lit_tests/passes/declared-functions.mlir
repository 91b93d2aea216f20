// Functions without a body stay as they are.

// RUN: smem-opt %s --smem-mask-accesses --smem-pipeline --smem-warp-specialize --smem-overlap --smem-print-steady-state --smem-insert-sync --smem-assert-bounds --smem-to-nvvm | FileCheck %s

// CHECK: func.func private @declared(memref<4xf32>)
func.func private @declared(memref<4xf32>)
