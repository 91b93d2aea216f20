// RUN: smem-opt %s --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<128x16xf8E8M0FNU>, #smem.auto>
func.func @row_major(%m: memref<?x?xf8E8M0FNU>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op takes memref<?x?xf8E8M0FNU> for a tile of scale factors, which are stored in blocks; reorder them on the host by layout.tcgen05.blocked and take memref<1x4x32x4x4xf8E8M0FNU>}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) : (memref<?x?xf8E8M0FNU>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<2x128x4xf8E8M0FNU>, #smem.auto>
func.func @stages(%m: memref<1x1x32x4x4xf8E8M0FNU>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads a tile (rows, factors), not [2, 128, 4]; take a stage}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) : (memref<1x1x32x4x4xf8E8M0FNU>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @coordinates(%m: memref<1x1x32x4x4xf8E8M0FNU>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads blocks of scale factors at 5 coordinates; expected 2, the row and the factor}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i, %i, %i, %i) : (memref<1x1x32x4x4xf8E8M0FNU>, !t, !smem.pipeline, index, index, index, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @row(%m: memref<2x1x32x4x4xf8E8M0FNU>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %row = arith.constant 64 : index
  // expected-error@+1 {{'smem.tma_load' op loads blocks of scale factors from row 64; expected a multiple of 128 from 0}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %row, %i) : (memref<2x1x32x4x4xf8E8M0FNU>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @factor(%m: memref<2x1x32x4x4xf8E8M0FNU>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %factor = arith.constant -4 : index
  // expected-error@+1 {{'smem.tma_load' op loads blocks of scale factors from factor -4; expected a multiple of 4 from 0}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %factor) : (memref<2x1x32x4x4xf8E8M0FNU>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @multicast(%m: memref<2x1x32x4x4xf8E8M0FNU>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads blocks of scale factors, which are not multicast; each CTA loads them}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) {multicast = "x"} : (memref<2x1x32x4x4xf8E8M0FNU>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @element(%m: memref<2x1x32x4x4xf8E5M2>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads f8E5M2 to a tile of f8E8M0FNU; expected f8E8M0FNU or i8}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) : (memref<2x1x32x4x4xf8E5M2>, !t, !smem.pipeline, index, index, index) -> ()
  return
}
