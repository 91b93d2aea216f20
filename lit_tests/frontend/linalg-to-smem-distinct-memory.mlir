// RUN: smem-opt %s --linalg-to-smem-prepare --linalg-to-smem=f32=tf32 | FileCheck %s

// Memory that is known to be different: a kernel each, whose fill goes unless something is written after it.
!m = memref<8x8xf32>
func.func private @array() -> !m
memref.global "private" @state : !m
memref.global "private" constant @weights : !m = dense<1.0>
// CHECK-LABEL: func.func @choice
// CHECK-NOT: linalg
// CHECK: gpu.launch_func @choice_gemm_0
func.func @choice(%p: i1, %a: !m, %b: !m, %c: !m, %d: !m) {
  %e = arith.select %p, %c, %d : !m
  linalg.matmul ins(%a, %b : !m, !m) outs(%e : !m)
  return
}
// CHECK-LABEL: func.func @branches
// CHECK-NOT: linalg
// CHECK: gpu.launch_func @choice_gemm_0
func.func @branches(%p: i1, %a: !m, %b: !m, %c: !m) {
  %e = scf.if %p -> !m {
    %new = memref.alloc() : !m
    scf.yield %new : !m
  } else {
    scf.yield %c : !m
  }
  linalg.matmul ins(%a, %b : !m, !m) outs(%e : !m)
  return
}
// What a call returns was there before.
// CHECK-LABEL: func.func @new_memory
// CHECK-NOT: linalg
// CHECK: gpu.launch_func @choice_gemm_0
func.func @new_memory(%b: !m, %n: index) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = call @array() : () -> !m
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%before = %a) -> !m {
    %e = memref.alloc() : !m
    linalg.matmul ins(%before, %b : !m, !m) outs(%e : !m)
    scf.yield %e : !m
  }
  return %r : !m
}
// Nothing writes a constant.
// CHECK-LABEL: func.func @globals
// CHECK-NOT: linalg
// CHECK-COUNT-2: gpu.launch_func @choice_gemm_0
func.func @globals(%a: !m, %c: !m) {
  %w = memref.get_global @weights : !m
  %s = memref.get_global @state : !m
  linalg.matmul ins(%a, %w : !m, !m) outs(%c : !m)
  linalg.matmul ins(%w, %w : !m, !m) outs(%s : !m)
  return
}
// CHECK-LABEL: func.func @written_after_the_fill
// CHECK: linalg.generic
// CHECK: affine.store
// CHECK: gpu.launch_func @choice_gemm_0
func.func @written_after_the_fill(%s: f32, %a: !m, %b: !m, %c: !m) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : !m)
  affine.store %s, %c[0, 0] : !m
  linalg.matmul ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
// Only the diagonal is filled, so C is added to.
// CHECK-LABEL: func.func @diagonal
// CHECK: linalg.generic
// CHECK: gpu.launch_func @choice_gemm_0
func.func @diagonal(%a: !m, %b: !m, %c: !m) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(m) -> (m, m)>], iterator_types = ["parallel"]}
    outs(%c : !m) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32 }
  linalg.matmul ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
