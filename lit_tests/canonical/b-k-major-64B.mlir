// B = 64x128xbf16, K-major, swizzle 64B: ((8,m),(T,2k)):((4T,SBO),(1,T)), T = 8.
//
// Atoms of 8 columns of 64 bytes, 512 bytes each, follow each other along n: SBO = 512. LBO has no
// meaning; the ISA says to assume the encoding 1.
// Along k, an instruction reads 32 bytes, half an atom: 2 units. The next atom is 128 / 8 = 16 atoms,
// 8192 bytes or 512 units, further.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"64B", "column-major">>

// CHECK: remark: B: 0x8000002000010000: start 0x0, LBO 16 B, SBO 512 B, base offset 0, swizzle 64B; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @b() kernel {
    %b = "smem.alloc"() : () -> !b
    %a = "smem.alloc"() : () -> !a
    // 0x8000002000010000: mode 2 (64B), SBO 512 >> 4 = 0x20, LBO 16 >> 4 = 0x1.
    // CHECK: %[[BITS:.*]] = arith.constant -9223371899415756800 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<64x128xbf16>
    // CHECK: "smem.mma_desc"(%{{.*}}, %[[D]]) {{.*}}b_major = "k", b_steps = array<i64: 0, 2, 512, 514>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
