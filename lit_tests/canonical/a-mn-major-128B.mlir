// A = 128x64xbf16, MN-major, swizzle 128B: ((T,8,m),(8,k)):((1,T,LBO),(8T,SBO)), T = 8.
//
// Atoms of 8 columns of 128 bytes (64 rows), 1024 bytes each, follow each other along k: SBO = 1024.
// The 64 rows of an instruction are one atom: no LBO is needed, it is 0.
// Along k, an instruction reads two atoms, 2048 bytes: 128 units. The next 64 rows are 64 / 8 = 8
// atoms, 8192 bytes or 512 units, further.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-materialize-descriptors=explain 2>&1 | FileCheck %s

!a = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "column-major">>
!b = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK: remark: A: 0x4000004000000000: start 0x0, LBO 0 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes into the tile
gpu.module @kernels {
  gpu.func @a() kernel {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    // 0x4000004000000000: mode 1 (128B), SBO 1024 >> 4 = 0x40, LBO 0 >> 4 = 0x0.
    // CHECK: %[[BITS:.*]] = arith.constant 4611686293305294848 : i64
    // CHECK-NEXT: %[[D_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
    // CHECK-NEXT: %[[D:.*]] = llvm.inline_asm "", "=l,0" %[[D_BITS]]
    // CHECK-NEXT: "smem.alloc"() {{.*}} : () -> !smem.tile<tensor<128x64xbf16>
    // CHECK: "smem.mma_desc"(%[[D]], %{{.*}}) {{.*}}a_major = "mn", a_steps = array<i64: 0, 128, 256, 384, 512, 640, 768, 896>
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    gpu.return
  }
}
