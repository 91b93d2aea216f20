// RUN: smem-opt %s --pass-pipeline='builtin.module()' | FileCheck %s
// RUN: smem-opt %s --pass-pipeline='builtin.module(gpu.module())' | FileCheck %s
// RUN: smem-opt %s --pass-pipeline='' | FileCheck %s

// CHECK: #smem.auto
%t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
