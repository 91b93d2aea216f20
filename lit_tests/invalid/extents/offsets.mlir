// Offsets that smem-allocate can assign.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-assign-layouts

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @far(%m: memref<64x64xbf16>) {
  // expected-error@+1 {{'smem.alloc' op has offset = 4294967296 : i64; expected a multiple of 1024 from 0 to 2147474432}}
  %0 = "smem.alloc"() {offset = 4294967296 : i64} : () -> !t
  "smem.copy"(%m, %0) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @not_where_the_layout_can_be(%m: memref<64x64xbf16>) {
  // expected-error@+1 {{'smem.alloc' op has offset = 1000 : i64; expected a multiple of 1024 from 0 to 2147474432}}
  %0 = "smem.alloc"() {offset = 1000 : i64} : () -> !t
  "smem.copy"(%m, %0) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

func.func @negative() {
  // expected-error@+1 {{'smem.alloc' op has offset = -1024 : i64; expected a multiple of 1 from 0 to 2147483647}}
  %0 = "smem.alloc"() {offset = -1024 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// -----

func.func @stages() {
  // expected-error@+1 {{'smem.create_pipeline' op takes 34359738352 bytes of shared memory; a CTA has less than 262144}}
  %0 = "smem.create_pipeline"() {stages = 2147483647 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}

// -----

func.func @far_pipeline() {
  // expected-error@+1 {{'smem.create_pipeline' op has offset = 2147483640 : i64; expected a multiple of 8 from 0 to 2147483624}}
  %0 = "smem.create_pipeline"() {offset = 2147483640 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}
