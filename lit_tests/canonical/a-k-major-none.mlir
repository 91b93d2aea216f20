// A = 128x64xbf16, K-major, without swizzle: ((8,m),(T,2k)):((1T,SBO),(1,LBO)), T = 8.
//
// Core matrices of 8 rows of 16 bytes, 128 bytes each, follow each other along m: SBO = 128. Then come
// those of the next 8 columns, 128 / 8 = 16 core matrices further: LBO = 16 * 128 = 2048.
// Along k, an instruction reads two core matrices, 2 * LBO = 4096 bytes: 256 units. The next 64 rows
// are 8 * SBO = 1024 bytes, 64 units, further.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"none", "row-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK: remark: A: 0x0000000800800000: start 0x0, LBO 2048 B, SBO 128 B, base offset 0, swizzle none; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @a() kernel {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    // 0x0000000800800000: mode 0 (no swizzle), SBO 128 >> 4 = 0x8, LBO 2048 >> 4 = 0x80.
    // CHECK: %[[BITS:.*]] = arith.constant 34368126976 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<128x64xbf16>
    // CHECK: "smem.mma_desc"(%[[D]], %{{.*}}) {{.*}}a_major = "k", a_steps = array<i64: 0, 256, 512, 768, 64, 320, 576, 832>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
