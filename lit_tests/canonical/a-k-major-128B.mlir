// A = 128x64xbf16, K-major, swizzle 128B: ((8,m),(T,2k)):((8T,SBO),(1,T)), T = 8.
//
// Atoms of 8 rows of 128 bytes, 1024 bytes each, follow each other along m: SBO = 1024. LBO has no
// meaning; the ISA says to assume the encoding 1.
// Along k, an instruction reads 32 bytes, a quarter of an atom: 2 units. The next 64 rows are
// 8 * SBO = 8192 bytes, 512 units, further.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK: remark: A: 0x4000004000010000: start 0x0, LBO 16 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @a() kernel {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    // 0x4000004000010000: mode 1 (128B), SBO 1024 >> 4 = 0x40, LBO 16 >> 4 = 0x1.
    // CHECK: %[[BITS:.*]] = arith.constant 4611686293305360384 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<128x64xbf16>
    // CHECK: "smem.mma_desc"(%[[D]], %{{.*}}) {{.*}}a_major = "k", a_steps = array<i64: 0, 2, 4, 6, 512, 514, 516, 518>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
