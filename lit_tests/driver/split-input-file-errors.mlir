// Errors in two parts are both reported, with their lines in the whole file. The part between them is
// valid.

// RUN: not smem-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: split-input-file-errors.mlir:[[FIRST:[0-9]+]]:6: error: 'smem.alloc' op a tile has no elements in [64, 0]
// CHECK-NEXT: %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x0xbf16>, #smem.auto>
// CHECK: split-input-file-errors.mlir:[[SECOND:[0-9]+]]:6: error: 'smem.alloc' op a tile has no elements in [0, 64]
// CHECK-NEXT: %1 = "smem.alloc"() : () -> !smem.tile<tensor<0x64xbf16>, #smem.auto>
// CHECK-NOT: "smem.fence"
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x0xbf16>, #smem.auto>

// -----

"smem.fence"() : () -> ()

// -----

%1 = "smem.alloc"() : () -> !smem.tile<tensor<0x64xbf16>, #smem.auto>
