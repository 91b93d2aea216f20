// B = 64x128xbf16, K-major, swizzle 32B: ((8,m),(T,2k)):((2T,SBO),(1,T)), T = 8.
//
// Atoms of 8 columns of 32 bytes, 256 bytes each, follow each other along n: SBO = 256. LBO has no
// meaning; the ISA says to assume the encoding 1.
// Along k, an instruction reads one atom; the next is 128 / 8 = 16 atoms, 4096 bytes or 256 units,
// further.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"32B", "column-major">>

// CHECK: remark: B: 0xc000001000010000: start 0x0, LBO 16 B, SBO 256 B, base offset 0, swizzle 32B; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @b() kernel {
    %b = "smem.alloc"() : () -> !b
    %a = "smem.alloc"() : () -> !a
    // 0xc000001000010000: mode 3 (32B), SBO 256 >> 4 = 0x10, LBO 16 >> 4 = 0x1.
    // CHECK: %[[BITS:.*]] = arith.constant -4611685949707845632 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<64x128xbf16>
    // CHECK: "smem.mma_desc"(%{{.*}}, %[[D]]) {{.*}}b_major = "k", b_steps = array<i64: 0, 256, 512, 768>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
