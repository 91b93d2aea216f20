// A = 128x64xbf16, MN-major, swizzle 64B: ((T,4,m),(8,k)):((1,T,LBO),(4T,SBO)), T = 8.
//
// Atoms of 8 columns of 64 bytes (32 rows), 512 bytes each, follow each other along k: SBO = 512. Then
// come those of the next 32 rows, 64 / 8 = 8 atoms further: LBO = 4096.
// Along k, an instruction reads two atoms, 1024 bytes: 64 units. The next 64 rows are 2 * LBO = 8192
// bytes, 512 units, further.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"64B", "column-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK: remark: A: 0x8000002001000000: start 0x0, LBO 4096 B, SBO 512 B, base offset 0, swizzle 64B; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @a() kernel {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    // 0x8000002001000000: mode 2 (64B), SBO 512 >> 4 = 0x20, LBO 4096 >> 4 = 0x100.
    // CHECK: %[[BITS:.*]] = arith.constant -9223371899399045120 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<128x64xbf16>
    // CHECK: "smem.mma_desc"(%[[D]], %{{.*}}) {{.*}}a_major = "mn", a_steps = array<i64: 0, 64, 128, 192, 512, 576, 640, 704>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
