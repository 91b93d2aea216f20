// Products and sums with the flag `contract` become an fma; the flag is gone from all ops.

// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-uplift-to-fma)' | FileCheck %s
// RUN: smem-opt %s --smem-to-nvvm | FileCheck %s
// CHECK-NOT: contract

// CHECK-LABEL: @a_sum
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32
func.func @a_sum(%a: f32, %b: f32, %c: f32) -> f32 {
  // CHECK-NEXT: %[[R:.*]] = math.fma %[[A]], %[[B]], %[[C]] : f32
  // CHECK-NEXT: return %[[R]]
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %r = arith.addf %c, %p fastmath<contract> : f32
  return %r : f32
}

// CHECK-LABEL: @a_product_less
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32
func.func @a_product_less(%a: f32, %b: f32, %c: f32) -> f32 {
  // CHECK-NEXT: %[[N:.*]] = arith.negf %[[C]] : f32
  // CHECK-NEXT: math.fma %[[A]], %[[B]], %[[N]] : f32
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %r = arith.subf %p, %c fastmath<contract> : f32
  return %r : f32
}

// CHECK-LABEL: @less_a_product
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32
func.func @less_a_product(%a: f32, %b: f32, %c: f32) -> f32 {
  // CHECK-NEXT: %[[N:.*]] = arith.negf %[[A]] : f32
  // CHECK-NEXT: math.fma %[[N]], %[[B]], %[[C]] : f32
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %r = arith.subf %c, %p fastmath<contract> : f32
  return %r : f32
}

// The left one of two products. Other flags stay.
// CHECK-LABEL: @two_products
// CHECK-SAME: %[[A:.*]]: vector<2xf16>, %[[B:.*]]: vector<2xf16>, %[[C:.*]]: vector<2xf16>
func.func @two_products(%a: vector<2xf16>, %b: vector<2xf16>, %c: vector<2xf16>) -> vector<2xf16> {
  // CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[B]], %[[C]] : vector<2xf16>
  // CHECK-NEXT: math.fma %[[A]], %[[B]], %[[Q]] fastmath<nnan> : vector<2xf16>
  %p = arith.mulf %a, %b fastmath<contract> : vector<2xf16>
  %q = arith.mulf %b, %c fastmath<contract> : vector<2xf16>
  %r = arith.addf %p, %q fastmath<nnan,contract> : vector<2xf16>
  return %r : vector<2xf16>
}

// The right one, if the left one has another use.
// CHECK-LABEL: @another_use
// CHECK-SAME: %[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[C:.*]]: bf16
func.func @another_use(%a: bf16, %b: bf16, %c: bf16) -> (bf16, bf16, bf16) {
  // CHECK-NEXT: %[[P:.*]] = arith.mulf %[[A]], %[[B]] : bf16
  // CHECK-NEXT: %[[R:.*]] = math.fma %[[B]], %[[C]], %[[P]] : bf16
  // CHECK-NEXT: %[[S:.*]] = arith.mulf %[[C]], %[[C]] : bf16
  // CHECK-NEXT: %[[D:.*]] = arith.addf %[[S]], %[[S]] : bf16
  // CHECK-NEXT: return %[[P]], %[[R]], %[[D]]
  %p = arith.mulf %a, %b fastmath<contract> : bf16
  %q = arith.mulf %b, %c fastmath<contract> : bf16
  %r = arith.addf %p, %q fastmath<contract> : bf16
  %s = arith.mulf %c, %c fastmath<contract> : bf16
  %d = arith.addf %s, %s fastmath<contract> : bf16
  return %p, %r, %d : bf16, bf16, bf16
}

// Not without the flag on both ops, and not of f64. `fast` has the flag.
// CHECK-LABEL: @unchanged
func.func @unchanged(%a: f32, %w: f64) -> (f32, f32, f64) {
  // CHECK-NEXT: arith.mulf %{{.*}} : f32
  // CHECK-NEXT: arith.addf %{{.*}} : f32
  // CHECK-NEXT: arith.mulf %{{.*}} : f32
  // CHECK-NEXT: arith.subf %{{.*}} fastmath<reassoc,nnan,ninf,nsz,arcp,afn> : f32
  // CHECK-NEXT: arith.mulf %{{.*}} : f64
  // CHECK-NEXT: arith.addf %{{.*}} : f64
  %0 = arith.mulf %a, %a fastmath<contract> : f32
  %1 = arith.addf %0, %a : f32
  %2 = arith.mulf %a, %a : f32
  %3 = arith.subf %2, %a fastmath<fast> : f32
  %4 = arith.mulf %w, %w fastmath<contract> : f64
  %5 = arith.addf %4, %w fastmath<contract> : f64
  return %1, %3, %5 : f32, f32, f64
}
