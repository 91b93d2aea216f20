// Fragments in loops, branches and ops of other dialects become structs of registers.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>

// CHECK-LABEL: func.func @flow
func.func @flow(%v: f32, %b: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = "smem.fill"(%v) : (f32) -> !d
  // CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (!llvm.struct<(f32, f32, f32, f32)>) {
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> !d {
    // CHECK: scf.yield %[[ACC]] : !llvm.struct<(f32, f32, f32, f32)>
    scf.yield %acc : !d
  }
  // CHECK: %[[IF:.*]] = scf.if %{{.*}} -> (!llvm.struct<(f32, f32, f32, f32)>) {
  %if = scf.if %b -> !d {
    scf.yield %sum : !d
  } else {
    %other = "smem.fill"(%v) : (f32) -> !d
    scf.yield %other : !d
  }
  // CHECK: cf.br ^bb1(%[[IF]] : !llvm.struct<(f32, f32, f32, f32)>)
  cf.br ^next(%if : !d)
// CHECK: ^bb1(%{{.*}}: !llvm.struct<(f32, f32, f32, f32)>):
^next(%last: !d):
  return
}
