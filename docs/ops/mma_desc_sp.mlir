!metadata = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
%words = memref.alloca() : memref<1x1x128xi32>
%indices = "smem.load"(%words) : (memref<1x1x128xi32>) -> !metadata
%x = arith.constant 0x4000004000010040 : i64
%y = arith.constant 0x4000004000000240 : i64
// K = 64 is two instructions, each of 32 elements of the sparse A.
%sum = "smem.mma_desc_sp"(%x, %y, %indices) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 2>,
                                             b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 256>} : (i64, i64, !metadata) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
