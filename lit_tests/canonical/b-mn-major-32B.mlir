// B = 64x128xbf16, MN-major, swizzle 32B: ((T,2,m),(8,k)):((1,T,LBO),(2T,SBO)), T = 8.
//
// Atoms of 8 rows of 32 bytes (16 columns), 256 bytes each, follow each other along k: SBO = 256. Then
// come those of the next 16 columns, 64 / 8 = 8 atoms further: LBO = 2048.
// Along k, an instruction reads two atoms, 512 bytes: 32 units.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"32B", "row-major">>

// CHECK: remark: B: 0xc000001000800000: start 0x0, LBO 2048 B, SBO 256 B, base offset 0, swizzle 32B; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @b() kernel {
    %b = "smem.alloc"() : () -> !b
    %a = "smem.alloc"() : () -> !a
    // 0xc000001000800000: mode 3 (32B), SBO 256 >> 4 = 0x10, LBO 2048 >> 4 = 0x80.
    // CHECK: %[[BITS:.*]] = arith.constant -4611685949699522560 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<64x128xbf16>
    // CHECK: "smem.mma_desc"(%{{.*}}, %[[D]]) {{.*}}b_major = "mn", b_steps = array<i64: 0, 32, 64, 96>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
