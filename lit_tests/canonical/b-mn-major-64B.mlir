// B = 64x128xbf16, MN-major, swizzle 64B: ((T,4,m),(8,k)):((1,T,LBO),(4T,SBO)), T = 8.
//
// Atoms of 8 rows of 64 bytes (32 columns), 512 bytes each, follow each other along k: SBO = 512. Then
// come those of the next 32 columns, 64 / 8 = 8 atoms further: LBO = 4096.
// Along k, an instruction reads two atoms, 1024 bytes: 64 units.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"64B", "row-major">>

// CHECK: remark: B: 0x8000002001000000: start 0x0, LBO 4096 B, SBO 512 B, base offset 0, swizzle 64B; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @b() kernel {
    %b = "smem.alloc"() : () -> !b
    %a = "smem.alloc"() : () -> !a
    // 0x8000002001000000: mode 2 (64B), SBO 512 >> 4 = 0x20, LBO 4096 >> 4 = 0x100.
    // CHECK: %[[BITS:.*]] = arith.constant -9223371899399045120 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<64x128xbf16>
    // CHECK: "smem.mma_desc"(%{{.*}}, %[[D]]) {{.*}}b_major = "mn", b_steps = array<i64: 0, 64, 128, 192>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
