// unregistered
// pass: smem-allocate
// pass: smem-lower-copies
!g = memref<?x?xbf16, strided<[?, 1]>>
!r = !smem.pipeline
func.func @committed_by_one(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !r
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        "smem.elect"() ({
          "test.after"(%r, %i) : (!r, index) -> ()
        }) {scope = "warpgroup"} : () -> ()
      }
      scf.for %i = %c0 to %n step %c1 {
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
