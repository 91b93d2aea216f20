// Tiles of scale factors are stored in blocks, which are not atoms of a swizzle.

// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s
// RUN: smem-opt %s --smem-assign-layouts=explain=true 2>&1 | FileCheck %s --check-prefix=EXPLAIN

!t = !smem.tile<tensor<3x256x8xf8E8M0FNU>, #smem.auto>
!s = !smem.tile<tensor<256x8xf8E8M0FNU>, #smem.auto>
!p = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
// CHECK-LABEL: func.func @stages
// CHECK: "smem.alloc"() : () -> !smem.tile<tensor<3x256x8xf8E8M0FNU>, #smem.layout<"Swizzle<0,4,3> o (3,(32,4,2),(4,2)):(2048,(16,4,1024),(1,512))">>
// EXPLAIN: picked   blocks of 128x4 factors: the copy at {{.*}}: 2 blocks of 128x4 factors
// EXPLAIN: refused  swizzle 128B, column-major, atoms across: the copy at {{.*}}: the factors are stored as
func.func @stages(%m: memref<1x2x32x4x4xf8E8M0FNU>, %i: index) {
  %t = "smem.alloc"() : () -> !t
  %s = "smem.stage"(%t, %i) : (!t, index) -> !s
  // CHECK: "smem.subtile"{{.*}} -> !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.layout<"Swizzle<0,4,3> o ((32,4),(4,2)):((16,4),(1,512))">>
  %p = "smem.subtile"(%s) {static_offsets = array<i64: 128, 0>} : (!s) -> !p
  "smem.copy"(%m, %p) : (memref<1x2x32x4x4xf8E8M0FNU>, !p) -> ()
  return
}
