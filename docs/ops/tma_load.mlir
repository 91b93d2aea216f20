%tile = "smem.alloc"() : () -> !tile
%full = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
%c0 = arith.constant 0 : index
"smem.elect"() ({
  %s = "smem.producer_acquire"(%full, %c0) : (!smem.pipeline, index) -> index
  // The box of 64 x 64 elements that begins at row 0 and column 0.
  "smem.tma_load"(%A, %tile, %full, %c0, %c0, %c0) : (!matrix, !tile, !smem.pipeline, index, index, index) -> ()
  "smem.producer_commit"(%full, %c0) : (!smem.pipeline, index) -> ()
}) {scope = "cta"} : () -> ()
%s = "smem.consumer_wait"(%full, %c0) : (!smem.pipeline, index) -> index
