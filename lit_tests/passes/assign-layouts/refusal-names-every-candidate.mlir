// Two copies require different contiguous dimensions: no candidate fits both, and the error gives for each candidate
// the use that rejects it.

// RUN: %{refused} smem-opt %s --smem-assign-layouts | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @transposed_twice(%rows: memref<64x64xbf16>, %columns: memref<64x64xbf16, strided<[1, 64]>>) {
  // CHECK: error: 'smem.alloc' op has no layout that all its uses accept
  // CHECK-NEXT: refused  swizzle 128B, row-major, atoms across: the copy at {{[0-9:]+}}: the data in global memory is column-major, but the tile is row-major
  // CHECK-NEXT: refused  swizzle 128B, column-major, atoms across: the copy at {{[0-9:]+}}: the data in global memory is row-major, but the tile is column-major
  // CHECK-NEXT: refused  swizzle 64B, row-major, atoms across: the copy
  // CHECK-NEXT: refused  swizzle 64B, row-major, atoms along: the copy
  // CHECK-NEXT: refused  swizzle 64B, column-major, atoms across: the copy
  // CHECK-NEXT: refused  swizzle 64B, column-major, atoms along: the copy
  // CHECK-NEXT: refused  swizzle 32B, row-major, atoms across: the copy
  // CHECK-NEXT: refused  swizzle 32B, row-major, atoms along: the copy
  // CHECK-NEXT: refused  swizzle 32B, column-major, atoms across: the copy
  // CHECK-NEXT: refused  swizzle 32B, column-major, atoms along: the copy
  // CHECK-NEXT: refused  swizzle none, row-major, atoms across: the copy
  // CHECK-NEXT: refused  swizzle none, row-major, atoms along: the copy
  // CHECK-NEXT: refused  swizzle none, column-major, atoms across: the copy
  // CHECK-NEXT: refused  swizzle none, column-major, atoms along: the copy
  // CHECK-NEXT: %t = "smem.alloc"
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%rows, %t) : (memref<64x64xbf16>, !t) -> ()
  "smem.copy"(%columns, %t) : (memref<64x64xbf16, strided<[1, 64]>>, !t) -> ()
  return
}
