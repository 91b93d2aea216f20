// pass: smem-to-nvvm{arch=sm_90 max-bytes=9999999999999 reserved-bytes=4294967296}
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?x?xbf16, strided<[?, 1]>>, index) -> (), sym_name = "not_followed"}> ({
  ^bb0(%arg0: memref<?x?xbf16, strided<[?, 1]>>, %arg1: index):
    %1 = "arith.constant"() <{value = 0 : index}> : () -> index
    %2 = "arith.constant"() <{value = 1 : index}> : () -> index
    %5 = "smem.create_pipeline"() {consumers = 1 : i32, producers = 1 : i32, stages = 2 : i32} : () -> !smem.pipeline
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.elect"() ({
          "scf.for"(%1, %arg1, %2) ({
          ^bb0(%arg2: index):
            "scf.yield"() : () -> ()
          }) : (index, index, index) -> ()
        }) {scope = "warpgroup"} : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) {known_block_size = array<i32: 256, 1, 1>} : () -> ()
}) : () -> ()
