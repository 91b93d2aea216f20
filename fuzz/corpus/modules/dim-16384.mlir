// pass: smem-check-async
!g = memref<?x?xbf16, strided<[?, 1]>>
!r = !smem.pipeline
func.func @one_more(%g: !g) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 16384 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %g, %c0 : !g
  %r = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !r
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %m = arith.addi %n, %c1 : index
      scf.for %i = %c0 to %m step %c1 {
        %w = "smem.consumer_wait"(%r, %i) : (!r, index) -> index
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
