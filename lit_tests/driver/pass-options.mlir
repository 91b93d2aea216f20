// A pass with options, on the command line and in a pipeline, in every spelling.

// RUN: smem-opt %s --smem-assign-layouts=max-swizzle=64 --smem-allocate='reserved-bytes=512 max-bytes=65536' | FileCheck %s
// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-assign-layouts{max-swizzle=64 explain=false}, smem-allocate{ reserved-bytes=512  max-bytes=65536 })' | FileCheck %s
// RUN: smem-opt %s --pass-pipeline='smem-assign-layouts{max-swizzle=64},smem-allocate{reserved-bytes=512}' | FileCheck %s
// RUN: smem-opt %s --smem-assign-layouts='max-swizzle=64 explain=true' --smem-allocate=reserved-bytes=512 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: smem-opt %s --smem-assign-layouts='explain max-swizzle=64' --smem-allocate=reserved-bytes=512 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN: remark: layout Swizzle<2,4,3>
func.func @f() {
  // CHECK: {offset = 512 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<2,4,3> o (64,(32,2)):(32,(1,2048))">>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}
