// A = 128x64xbf16, MN-major, without swizzle: ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO)), T = 8.
//
// Core matrices of 8 columns of 16 bytes (8 rows), 128 bytes each, follow each other along k:
// LBO = 128. Then come those of the next 8 rows, 64 / 8 = 8 core matrices further: SBO = 1024.
// Along k, an instruction reads two core matrices, 256 bytes: 16 units. The next 64 rows are
// 8 * SBO = 8192 bytes, 512 units, further.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"none", "column-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK: remark: A: 0x0000004000080000: start 0x0, LBO 128 B, SBO 1024 B, base offset 0, swizzle none; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @a() kernel {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    // 0x0000004000080000: mode 0 (no swizzle), SBO 1024 >> 4 = 0x40, LBO 128 >> 4 = 0x8.
    // CHECK: %[[BITS:.*]] = arith.constant 274878431232 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<128x64xbf16>
    // CHECK: "smem.mma_desc"(%[[D]], %{{.*}}) {{.*}}a_major = "mn", a_steps = array<i64: 0, 16, 32, 48, 512, 528, 544, 560>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
