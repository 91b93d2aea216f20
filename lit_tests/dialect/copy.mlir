// RUN: smem-opt %s | smem-opt | FileCheck %s

!rows = !smem.tile<tensor<128x64xbf16>, #smem.auto>

// CHECK-LABEL: func.func @row_major
func.func @row_major(%m: memref<128x64xbf16, strided<[?, 1], offset: ?>>, %t: !rows) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16, strided<[?, 1], offset: ?>>, !smem.tile<tensor<128x64xbf16>, #smem.auto>) -> ()
  "smem.copy"(%m, %t) : (memref<128x64xbf16, strided<[?, 1], offset: ?>>, !rows) -> ()
  return
}

// CHECK-LABEL: func.func @column_major
func.func @column_major(%m: memref<128x64xbf16, strided<[1, ?]>>, %t: !rows) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16, strided<[1, ?]>>, !smem.tile<
  "smem.copy"(%m, %t) : (memref<128x64xbf16, strided<[1, ?]>>, !rows) -> ()
  return
}

// CHECK-LABEL: func.func @global_space
func.func @global_space(%m: memref<128x64xbf16, #gpu.address_space<global>>, %n: memref<128x64xbf16, 1>, %t: !rows) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16, #gpu.address_space<global>>, !smem.tile<
  "smem.copy"(%m, %t) : (memref<128x64xbf16, #gpu.address_space<global>>, !rows) -> ()
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16, 1>, !smem.tile<
  "smem.copy"(%n, %t) : (memref<128x64xbf16, 1>, !rows) -> ()
  return
}
