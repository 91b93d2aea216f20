// pass: smem-place-accumulators
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?x?xbf16, strided<[?, 1]>>, index) -> (), sym_name = "after_the_partitions"}> ({
  ^bb0(%arg0: memref<?x?xbf16, strided<[?, 1]>>, %arg1: index):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    %3 = "smem.alloc"() : () -> !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
    %4 = "smem.create_pipeline"() {consumers = 1 : i32, producers = 1 : i32, stages = 2 : i32} : () -> !smem.pipeline
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.elect"() ({
          "scf.for"(%0, %arg1, %1) ({
          ^bb0(%arg4: index):
            "smem.producer_commit"(%4, %arg4) : (!smem.pipeline, index) -> ()
            "scf.yield"() : () -> ()
          }) : (index, index, index) -> ()
        }) {scope = "warpgroup"} : () -> ()
      }) {warpgroups = 2147483647 : i32} : () -> ()
      "smem.partition"() ({
        "smem.elect"() ({
          "scf.for"(%0, %arg1, %1) ({
          ^bb0(%arg3: index):
            "smem.producer_commit"(%4, %arg3) : (!smem.pipeline, index) -> ()
            "scf.yield"() : () -> ()
          }) : (index, index, index) -> ()
        }) {scope = "warpgroup"} : () -> ()
      }) {warpgroups = 2147483647 : i32} : () -> ()
      "smem.partition"() ({
        "scf.for"(%0, %arg1, %1) ({
        ^bb0(%arg2: index):
          %5 = "smem.consumer_wait"(%4, %arg2) : (!smem.pipeline, index) -> index
          %6 = "smem.stage"(%3, %5) : (!smem.tile<tensor<2x64x64xbf16>, #smem.auto>, index) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
          %7 = "smem.mma"(%6, %6) : (!smem.tile<tensor<64x64xbf16>, #smem.auto>, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
          %8 = "smem.wait"(%7) {pending = 0 : i32} : (!smem.fragment<tensor<64x64xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
          "scf.yield"() : () -> ()
        }) : (index, index, index) -> ()
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
    "gpu.barrier"() <{scope = #gpu.barrier_scope<workgroup>}> : () -> ()
    "func.return"() : () -> ()
  }) {known_block_size = array<i32: 256, 1, 1>} : () -> ()
}) : () -> ()
