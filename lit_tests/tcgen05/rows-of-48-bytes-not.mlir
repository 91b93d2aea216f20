// Where a layout prevents instructions of sm_103 from reading 48 bytes along K, `explain` gives the reason.
//
// A and B: K-major, swizzle 128B, SBO 1024: 0x4000404000010000. Scale factors: no swizzle, SBO 128 between core
// matrices of 8 rows of 16 bytes: 0x0000400800000000.

// RUN: smem-opt %s --split-input-file --smem-materialize-descriptors='arch=sm_103a explain=true' -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=CODE < %t

!a = !smem.tile<tensor<128x384xf4E2M1FN>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<384x32xf4E2M1FN>, #smem.swizzle<"128B", "column-major">>
!s = !smem.tile<tensor<128x24xf8E4M3FN>, #smem.layout<"((32,4),(4,6)):((16,4),(1,512))">>
!bytes = memref<128x384xi8, #gpu.address_space<workgroup>>

// CHECK: remark: instructions read 32 bytes along K, not 48: it reads A from a tile that begins at a multiple of 128; with an absolute leading dimension the base offset is 0, so it begins at a multiple of 1024
// CODE-LABEL: func.func @base_offset
// CODE: arith.constant 4611756662049538048 : i64
// CODE: arith.constant 4611756662049538048 : i64
// CODE: arith.constant 70403103916032 : i64
// CODE: "smem.mma_desc_scaled"(
// CODE-NOT: seconds
// CODE: return
func.func @base_offset(%m: !bytes) {
  %a = "smem.view"(%m) {alignment = 128 : i64} : (!bytes) -> !a
  %b = "smem.alloc"() {offset = 65536 : i64} : () -> !b
  %s = "smem.alloc"() {offset = 131072 : i64} : () -> !s
  %d = "smem.mma_scaled"(%a, %b, %s, %s) : (!a, !b, !s, !s) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x512xf4E2M1FN>, #smem.swizzle<"128B", "row-major">>
!subtile = !smem.tile<tensor<128x384xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<384x32xf4E2M1FN>, #smem.swizzle<"128B", "column-major">>
!s = !smem.tile<tensor<128x24xf8E4M3FN>, #smem.layout<"((32,4),(4,6)):((16,4),(1,512))">>

// A subtile that begins inside an atom.
// CHECK: remark: instructions read 32 bytes along K, not 48: it cannot read A: the atoms of 128x256 at (0, 0) cut atoms: they begin at (0,128) within them
// CODE-LABEL: func.func @subtile
// CODE: arith.constant 4611756662049538048 : i64
// CODE: arith.constant 4611756662049538048 : i64
// CODE: arith.constant 70403103916032 : i64
// CODE: "smem.mma_desc_scaled"(
// CODE-NOT: seconds
// CODE: return
func.func @subtile() {
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a
  %p = "smem.subtile"(%a) {static_offsets = array<i64: 0, 128>} : (!a) -> !subtile
  %b = "smem.alloc"() {offset = 65536 : i64} : () -> !b
  %s = "smem.alloc"() {offset = 131072 : i64} : () -> !s
  %d = "smem.mma_scaled"(%p, %b, %s, %s) : (!subtile, !b, !s, !s) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x384xf4E2M1FN>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<384x24xf4E2M1FN>, #smem.swizzle<"128B", "column-major">>
!s = !smem.tile<tensor<128x24xf8E4M3FN>, #smem.layout<"((32,4),(4,6)):((16,4),(1,512))">>

// CHECK: remark: instructions read 32 bytes along K, not 48: it cannot read B: N is 24; kind::mxf4nvf4 with cta_group::1 takes N of 16 to 256 by 16
// CODE-LABEL: func.func @columns
// CODE: arith.constant 4611756662049538048 : i64
// CODE: arith.constant 4611756662049538048 : i64
// CODE: arith.constant 70403103916032 : i64
// CODE: "smem.mma_desc_scaled"(
// CODE-NOT: seconds
// CODE: return
func.func @columns() {
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a
  %b = "smem.alloc"() {offset = 65536 : i64} : () -> !b
  %s = "smem.alloc"() {offset = 131072 : i64} : () -> !s
  %d = "smem.mma_scaled"(%a, %b, %s, %s) : (!a, !b, !s, !s) -> !smem.fragment<tensor<128x24xf32>, #smem.in_flight>
  return
}
