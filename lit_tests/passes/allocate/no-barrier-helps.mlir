// Tiles that do not fit, and are used at the same time: no barrier would help.

// RUN: %{refused} smem-opt %s --smem-allocate | FileCheck %s

!t = !smem.tile<tensor<1024x64xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK: error: 'func.func' op needs 262144 bytes of shared memory for its tiles, but a CTA has 232448
// CHECK-NEXT: 131072 bytes at 0
// CHECK-NEXT: 131072 bytes at 131072
// CHECK-NOT: could share
func.func @at_the_same_time(%g: memref<1024x64xbf16>) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%g, %a) : (memref<1024x64xbf16>, !t) -> ()
  "smem.copy"(%g, %b) : (memref<1024x64xbf16>, !t) -> ()
  "smem.copy"(%a, %b) : (!t, !t) -> ()
  return
}
