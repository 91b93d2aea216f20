// RUN: smem-opt %s | smem-opt | FileCheck %s

!rows = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK-LABEL: func.func @same_type
func.func @same_type(%m: memref<64x64xbf16, #gpu.address_space<workgroup>>) {
  // CHECK: "smem.view"(%{{.*}}) : (memref<64x64xbf16, #gpu.address_space<workgroup>>) -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  %0 = "smem.view"(%m) : (memref<64x64xbf16, #gpu.address_space<workgroup>>) -> !rows
  return
}

// CHECK-LABEL: func.func @bytes
func.func @bytes(%m: memref<8192xi8, #gpu.address_space<workgroup>>) {
  // CHECK: "smem.view"(%{{.*}}) : (memref<8192xi8, #gpu.address_space<workgroup>>) -> !smem.tile<
  %0 = "smem.view"(%m) : (memref<8192xi8, #gpu.address_space<workgroup>>) -> !rows
  return
}

// The extent of the memref is known at run time only.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%m: memref<?xi8, #gpu.address_space<workgroup>>) {
  // CHECK: "smem.view"(%{{.*}}) : (memref<?xi8, #gpu.address_space<workgroup>>) -> !smem.tile<
  %0 = "smem.view"(%m) : (memref<?xi8, #gpu.address_space<workgroup>>) -> !rows
  return
}

// CHECK-LABEL: func.func @promised_alignment
func.func @promised_alignment(%m: memref<8192xi8, #gpu.address_space<workgroup>>) {
  // CHECK: "smem.view"(%{{.*}}) {alignment = 128 : i64}
  %0 = "smem.view"(%m) {alignment = 128 : i64} : (memref<8192xi8, #gpu.address_space<workgroup>>) -> !rows
  return
}

// CHECK-LABEL: func.func @chosen_later
func.func @chosen_later(%m: memref<64x64xbf16, 3>) {
  // CHECK: "smem.view"(%{{.*}}) {alignment = 1024 : i64} : (memref<64x64xbf16, 3>) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  %0 = "smem.view"(%m) {alignment = 1024 : i64} : (memref<64x64xbf16, 3>) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}
