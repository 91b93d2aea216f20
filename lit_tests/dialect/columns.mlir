// RUN: smem-opt %s | smem-opt | FileCheck %s

!c = !smem.fragment<tensor<128x64xf32>, #smem.accumulator>

func.func @columns(%c: !c) {
  // CHECK: "smem.columns"(%{{.*}}) {first = 0 : i64} : (!smem.fragment<tensor<128x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
  %0 = "smem.columns"(%c) {first = 0 : i64} : (!c) -> !c
  // CHECK: "smem.columns"(%{{.*}}) {first = 40 : i64} : (!smem.fragment<tensor<128x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<128x24xf32>, #smem.accumulator>
  %1 = "smem.columns"(%c) {first = 40 : i64} : (!c) -> !smem.fragment<tensor<128x24xf32>, #smem.accumulator>
  return
}
