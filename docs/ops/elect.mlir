%c0 = arith.constant 0 : index
"smem.elect"() ({                               // one thread of the CTA
  %one = arith.constant 1.0 : f32
  memref.store %one, %D[%c0, %c0] : memref<64x64xf32>
}) {scope = "cta"} : () -> ()
