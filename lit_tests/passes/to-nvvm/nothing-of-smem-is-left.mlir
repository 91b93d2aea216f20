// RUN: smem-opt %{examples}/matmul.mlir --smem-to-nvvm | FileCheck %s

// CHECK-NOT: !smem.
// CHECK-NOT: "smem.
// CHECK: gpu.func @matmul
// CHECK-SAME: smem.shared_bytes = 196608 : i32
// CHECK-NOT: !smem.
// CHECK-NOT: "smem.
// CHECK: nvvm.wgmma.mma_async
// CHECK-NOT: !smem.
// CHECK-NOT: "smem.
