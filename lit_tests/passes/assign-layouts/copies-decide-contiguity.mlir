// The dimension that is contiguous in global memory is contiguous in the tile: an mma reads either.

// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// CHECK-LABEL: func.func @row_major
func.func @row_major(%m: memref<64x64xbf16, strided<[?, 1]>>) {
  // CHECK: #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xbf16, strided<[?, 1]>>, !t) -> ()
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// CHECK-LABEL: func.func @column_major
func.func @column_major(%m: memref<64x64xbf16, strided<[1, ?]>>) {
  // CHECK: #smem.layout<"Swizzle<3,4,3> o (64,64):(1,64)">
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %t) : (memref<64x64xbf16, strided<[1, ?]>>, !t) -> ()
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}
