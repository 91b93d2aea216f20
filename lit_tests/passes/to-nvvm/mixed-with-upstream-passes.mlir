// Passes of smem and of upstream in one pipeline: canonicalization before, conversion to LLVM after, in gpu.module.

// RUN: smem-opt %{examples}/matmul.mlir --pass-pipeline='builtin.module(canonicalize,cse,smem-to-nvvm{max-swizzle=64},gpu.module(canonicalize,cse,expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-vector-to-llvm,convert-gpu-to-nvvm{index-bitwidth=64},convert-nvvm-to-llvm,reconcile-unrealized-casts))' | FileCheck %s

// The descriptors with swizzle 64B: A 0x8000002000010000, B (64x256, MN-major) 0x8000002001000000.
// CHECK: llvm.mlir.global external @__smem_dynamic()
// CHECK: llvm.func @matmul
// CHECK-DAG: llvm.mlir.constant(-9223371899415756800 : i64)
// CHECK-DAG: llvm.mlir.constant(-9223371899399045120 : i64)
// CHECK: nvvm.cp.async.shared.global
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK-NOT: scf.
// CHECK-NOT: smem.alloc
// CHECK-NOT: builtin.unrealized_conversion_cast
