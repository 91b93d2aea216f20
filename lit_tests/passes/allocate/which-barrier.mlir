// Tiles that do not fit, and the barriers with which they would: their uses follow each other.

// RUN: %{refused} smem-opt %s --smem-allocate | FileCheck %s

!p = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!t = !smem.tile<tensor<1024x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// CHECK: which-barrier.mlir:{{[0-9]+}}:1: error: 'func.func' op needs 262144 bytes of shared memory for its tiles, but a CTA has 232448
// CHECK-NEXT: 131072 bytes at 0: {{.*}} at {{[0-9]+}}:8
// CHECK-NEXT: 131072 bytes at 131072: {{.*}} at {{[0-9]+}}:8
// CHECK-NEXT: with smem.wait with pending = 0 and gpu.barrier before the smem.copy at {{[0-9]+}}:3, the smem.alloc at {{[0-9]+}}:8 could share bytes of the smem.alloc at {{[0-9]+}}:8, which the smem.mma at {{[0-9]+}}:8 uses last
func.func @after_an_mma(%g: memref<1024x64xbf16>) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%g, %a) : (memref<1024x64xbf16>, !t) -> ()
  %p = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!t) -> !p
  %d = "smem.mma"(%p, %p) : (!p, !p) -> !d
  "smem.copy"(%g, %b) : (memref<1024x64xbf16>, !t) -> ()
  return
}
