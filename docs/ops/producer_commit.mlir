// All 128 threads are producers: they store, and each of them commits.
%tiles = "smem.alloc"() : () -> !tiles
%pipeline = "smem.create_pipeline"() {stages = 4 : i32, producers = 128 : i32, consumers = 1 : i32} : () -> !smem.pipeline
%c0 = arith.constant 0 : index
%s = "smem.producer_acquire"(%pipeline, %c0) : (!smem.pipeline, index) -> index
%tile = "smem.stage"(%tiles, %s) : (!tiles, index) -> !tile
"smem.copy"(%A, %tile) : (!matrix, !tile) -> ()
"smem.fence"() : () -> ()                       // an mma reads the stage
"smem.producer_commit"(%pipeline, %c0) : (!smem.pipeline, index) -> ()
