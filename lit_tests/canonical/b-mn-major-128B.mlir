// B = 64x128xbf16, MN-major, swizzle 128B: ((T,8,m),(8,k)):((1,T,LBO),(8T,SBO)), T = 8.
//
// Atoms of 8 rows of 128 bytes (64 columns), 1024 bytes each, follow each other along k: SBO = 1024.
// Then come those of the next 64 columns, 64 / 8 = 8 atoms further: LBO = 8192.
// Along k, an instruction reads two atoms, 2048 bytes: 128 units.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK: remark: B: 0x4000004002000000: start 0x0, LBO 8192 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @b() kernel {
    %b = "smem.alloc"() : () -> !b
    %a = "smem.alloc"() : () -> !a
    // 0x4000004002000000: mode 1 (128B), SBO 1024 >> 4 = 0x40, LBO 8192 >> 4 = 0x200.
    // CHECK: %[[BITS:.*]] = arith.constant 4611686293338849280 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<64x128xbf16>
    // CHECK: "smem.mma_desc"(%{{.*}}, %[[D]]) {{.*}}b_major = "mn", b_steps = array<i64: 0, 128, 256, 384>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
