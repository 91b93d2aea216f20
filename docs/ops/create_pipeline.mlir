// Four stages, each committed by one producer thread and released by one consumer warpgroup.
%pipeline = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
