// RUN: smem-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'smem.create_pipeline' op has stages = 0; expected 1 or more}}
%0 = "smem.create_pipeline"() {stages = 0 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.create_pipeline' op has producers = 0; expected 1 or more}}
%0 = "smem.create_pipeline"() {stages = 1 : i32, producers = 0 : i32, consumers = 1 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.create_pipeline' op has consumers = -1; expected 1 or more}}
%0 = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = -1 : i32} : () -> !smem.pipeline

// -----

// An mbarrier counts with 20 bits; each warp of a consumer arrives.

// expected-error@+1 {{'smem.create_pipeline' op counts 1048576 arrivals; an mbarrier counts up to 1048575}}
%0 = "smem.create_pipeline"() {stages = 1 : i32, producers = 1048576 : i32, consumers = 1 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.create_pipeline' op counts 1048576 arrivals; an mbarrier counts up to 1048575}}
%0 = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 262144 : i32} : () -> !smem.pipeline

// -----

%0 = "smem.create_pipeline"() {stages = 1 : i32, producers = 1048575 : i32, consumers = 262143 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.create_pipeline' op has offset = 12 : i64; expected a multiple of 8 from 0}}
%0 = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32, offset = 12 : i64} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.create_pipeline' op has offset = "start"; expected a multiple of 8 from 0}}
%0 = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32, offset = "start"} : () -> !smem.pipeline

// -----

// The mbarriers are known only if the pipeline is the result of smem.create_pipeline.

func.func @acquire(%r: !smem.pipeline, %i: index) {
  // expected-error@+1 {{'smem.producer_acquire' op takes a pipeline that is not the result of an smem.create_pipeline; use that result directly}}
  %0 = "smem.producer_acquire"(%r, %i) : (!smem.pipeline, index) -> index
  return
}

// -----

func.func @commit(%r: !smem.pipeline, %i: index) {
  // expected-error@+1 {{'smem.producer_commit' op takes a pipeline that is not the result of an smem.create_pipeline; use that result directly}}
  "smem.producer_commit"(%r, %i) : (!smem.pipeline, index) -> ()
  return
}

// -----

func.func @wait(%i: index) {
  %r = builtin.unrealized_conversion_cast to !smem.pipeline
  // expected-error@+1 {{'smem.consumer_wait' op takes a pipeline that is not the result of an smem.create_pipeline; use that result directly}}
  %0 = "smem.consumer_wait"(%r, %i) : (!smem.pipeline, index) -> index
  return
}

// -----

func.func @release(%r: !smem.pipeline, %i: index) {
  // expected-error@+1 {{'smem.consumer_release' op takes a pipeline that is not the result of an smem.create_pipeline; use that result directly}}
  "smem.consumer_release"(%r, %i) : (!smem.pipeline, index) -> ()
  return
}

// -----

!m = memref<64x64xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @load(%m: !m, %t: !t, %r: !smem.pipeline, %i: index) {
  // expected-error@+1 {{'smem.tma_load' op takes a pipeline that is not the result of an smem.create_pipeline; use that result directly}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}
