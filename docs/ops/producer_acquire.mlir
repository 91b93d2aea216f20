%tiles = "smem.alloc"() : () -> !tiles
%pipeline = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
%c0 = arith.constant 0 : index
"smem.elect"() ({                               // one thread fills the stage of index 0
  %s = "smem.producer_acquire"(%pipeline, %c0) : (!smem.pipeline, index) -> index
  %tile = "smem.stage"(%tiles, %s) : (!tiles, index) -> !tile
  "smem.tma_load"(%A, %tile, %pipeline, %c0, %c0, %c0) : (!matrix, !tile, !smem.pipeline, index, index, index) -> ()
  "smem.producer_commit"(%pipeline, %c0) : (!smem.pipeline, index) -> ()
}) {scope = "cta"} : () -> ()
