// The manifest of a kernel without attributes of smem: names by position, extents and strides of the type, no
// grid, no block.

// RUN: smem-compile %s --emit=nvvm -o %t.nvvm.mlir
// RUN: FileCheck %s --input-file %t.json

// CHECK: "entry": "first",
// CHECK: "name": "arg0",
// CHECK-NEXT: "kind": "memref",
// CHECK-NEXT: "element": "f32",
// CHECK-NEXT: "shape": [
// CHECK-NEXT: 64,
// CHECK-NEXT: null
// CHECK-NEXT: ],
// CHECK-NEXT: "strides": [
// CHECK-NEXT: 512,
// CHECK-NEXT: 1
// CHECK: "name": "arg1",
// CHECK-NEXT: "kind": "scalar",
// CHECK-NEXT: "type": "i32"
// CHECK: "block": null,
// CHECK-NEXT: "cluster": null,
// CHECK-NEXT: "grid": null,
// CHECK-NEXT: "multiples": {},
// CHECK-NEXT: "programmatic": false,
// CHECK-NEXT: "shared_bytes": 0,
// CHECK: "entry": "second",
// CHECK: "shared_bytes": 8192,
// CHECK-NOT: "entry"
gpu.module @kernels {
  gpu.func @first(%m: memref<64x?xf32, strided<[512, 1]>>, %n: i32) kernel {
    gpu.return
  }
  gpu.func @second() kernel {
    %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
    gpu.return
  }
  gpu.func @no_kernel() {
    gpu.return
  }
}
