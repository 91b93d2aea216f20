// RUN: smem-opt %s | smem-opt | FileCheck %s

// Slices: an element for each row, or for each column, of an accumulator.

!c = !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
!i = !smem.fragment<tensor<64x16xi32>, #smem.accumulator>
!rows = !smem.fragment<tensor<128xf32>, #smem.slice<1>>
!columns = !smem.fragment<tensor<64xf32>, #smem.slice<0>>

// CHECK-LABEL: func.func @reduce
func.func @reduce(%c: !c, %i: !i) {
  // CHECK: "smem.reduce"(%{{.*}}) {axis = 1 : i32, op = "maximumf"} : (!smem.fragment<tensor<128x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<128xf32>, #smem.slice<1 : i64>>
  %0 = "smem.reduce"(%c) {op = "maximumf", axis = 1 : i32} : (!c) -> !rows
  // CHECK: "smem.reduce"(%{{.*}}) {axis = 0 : i32, op = "add", warpgroups = 2 : i32} : {{.*}} -> !smem.fragment<tensor<64xf32>, #smem.slice<0 : i64>>
  %1 = "smem.reduce"(%c) {op = "add", axis = 0 : i32, warpgroups = 2 : i32} : (!c) -> !columns
  // CHECK: "smem.reduce"(%{{.*}}) {axis = 0 : i32, offset = 16 : i64, op = "and"}
  %2 = "smem.reduce"(%i) {op = "and", axis = 0 : i32, offset = 16 : i64} : (!i) -> !smem.fragment<tensor<16xi32>, #smem.slice<0>>
  return
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%rows: !rows, %columns: !columns) {
  // CHECK: "smem.broadcast"(%{{.*}}) : (!smem.fragment<tensor<128xf32>, #smem.slice<1 : i64>>) -> !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
  %0 = "smem.broadcast"(%rows) : (!rows) -> !c
  // CHECK: "smem.broadcast"(%{{.*}}) : (!smem.fragment<tensor<64xf32>, #smem.slice<0 : i64>>) -> !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
  %1 = "smem.broadcast"(%columns) : (!columns) -> !c
  return
}

// CHECK-LABEL: func.func @fill_map_registers
func.func @fill_map_registers(%v: f32) {
  // CHECK: "smem.fill"(%{{.*}}) : (f32) -> !smem.fragment<tensor<128xf32>, #smem.slice<1 : i64>>
  %0 = "smem.fill"(%v) : (f32) -> !rows
  // CHECK: "smem.map"
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: index)
  %1 = "smem.map"(%0, %0) ({
  ^bb0(%x: f32, %y: f32, %row: index):
    gpu.yield %x : f32
  }) : (!rows, !rows) -> !rows
  // CHECK: "smem.to_registers"(%{{.*}}) : (!smem.fragment<tensor<128xf32>, #smem.slice<1 : i64>>) -> vector<4xf32>
  %2 = "smem.to_registers"(%1) : (!rows) -> vector<4xf32>
  // CHECK: "smem.from_registers"(%{{.*}}) : (vector<4xf32>) -> !smem.fragment<tensor<128xf32>, #smem.slice<1 : i64>>
  %3 = "smem.from_registers"(%2) : (vector<4xf32>) -> !rows
  return
}

// CHECK-LABEL: func.func @memory
func.func @memory(%bias: memref<64xbf16, strided<[?], offset: ?>>, %sums: memref<128xf16>) {
  // CHECK: "smem.load"(%{{.*}}) : (memref<64xbf16, strided<[?], offset: ?>>) -> !smem.fragment<tensor<64xf32>, #smem.slice<0 : i64>>
  %0 = "smem.load"(%bias) : (memref<64xbf16, strided<[?], offset: ?>>) -> !columns
  // CHECK: "smem.load"(%{{.*}}) : (memref<128xf16>) -> !smem.fragment<tensor<128xf32>, #smem.slice<1 : i64>>
  %1 = "smem.load"(%sums) : (memref<128xf16>) -> !rows
  // CHECK: "smem.store"(%{{.*}}, %{{.*}}) : (!smem.fragment<tensor<128xf32>, #smem.slice<1 : i64>>, memref<128xf16>) -> ()
  "smem.store"(%1, %sums) : (!rows, memref<128xf16>) -> ()
  return
}
