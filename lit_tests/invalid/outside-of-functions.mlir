// Ops outside of functions are rejected by each pass that needs the kernel.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-copies
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-allocate

// expected-error@+1 {{'smem.create_pipeline' op is in no function; shared memory belongs to a kernel}}
%0 = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
