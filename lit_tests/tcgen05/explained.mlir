// Remarks on instructions with 48 bytes along K: which K blocks are in two chunks, or why they are not used.

// RUN: smem-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(smem-assign-layouts{arch=sm_103},smem-allocate,smem-materialize-descriptors{arch=sm_103 explain=true})' -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=OPS --input-file=%t

!a = !smem.tile<tensor<128x768xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<768x64xf4E2M1FN>, #smem.auto>
!narrow = !smem.tile<tensor<768x64xf4E2M1FN>, #smem.swizzle<"64B", "column-major">>
!s = !smem.tile<tensor<128x48xf8E4M3FN>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>

// CHECK: remark: A: K-major, 8 K blocks of 48 bytes, in two chunks: 2, 5
// CHECK: remark: A: 0x4000404000010000:
// CHECK: remark: the factors of A: 0x0000400800000000: {{.*}}SBO 128 B
// CHECK: remark: B: K-major, 8 K blocks of 48 bytes, in two chunks: 2, 5
// CHECK: remark: instructions read 32 bytes along K, not 48: it cannot read B: the leading dimension is absolute, which needs swizzle 128B with atoms of 16 bytes, not 64B
// CHECK-NOT: K blocks of 48 bytes

// OPS: "smem.mma_desc_scaled"{{.*}}a_second_chunks = array<i64: -1, -1, 1024, -1, -1, 2048, -1, -1>
// OPS-SAME: a_steps = array<i64: 0, 3, 6, 1025, 1028, 1031, 2050, 2053>
// OPS-SAME: b_second_chunks = array<i64: -1, -1, 512, -1, -1, 1024, -1, -1>
// OPS-SAME: block = 16 : i64
// OPS: "smem.mma_desc_scaled"
// OPS-NOT: seconds
func.func @gemm() {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  %n = "smem.alloc"() : () -> !narrow
  %sa = "smem.alloc"() : () -> !s
  %sb = "smem.alloc"() : () -> !s
  %d = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !s, !s) -> !d
  %e = "smem.mma_scaled"(%a, %n, %sa, %sb) : (!a, !narrow, !s, !s) -> !d
  return
}
