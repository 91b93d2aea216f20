// The whole pipeline leaves neither ops nor types of smem; the descriptors of A and B are constants:
// 0x4000004000010000 and 0x4000004002000000.

// RUN: smem-opt %{examples}/matmul.mlir --smem-to-nvvm | FileCheck %s

// CHECK-NOT: !smem.
// CHECK-NOT: "smem.
// CHECK: gpu.func @matmul
// CHECK-SAME: smem.shared_bytes = 196608 : i32
// CHECK-NOT: !smem.
// CHECK-NOT: "smem.
// CHECK: %[[A_BITS:.*]] = arith.constant 4611686293305360384 : i64
// CHECK-NEXT: arith.ori %{{.*}}, %[[A_BITS]] : i64
// CHECK: %[[B_BITS:.*]] = arith.constant 4611686293338849280 : i64
// CHECK-NEXT: arith.ori %{{.*}}, %[[B_BITS]] : i64
// CHECK-NOT: !smem.
// CHECK-NOT: "smem.
// CHECK: nvvm.wgmma.mma_async
// CHECK-NOT: !smem.
// CHECK-NOT: "smem.
