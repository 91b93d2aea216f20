// Tiles at byte 1024 and 9216 of shared memory; K = 64 is four instructions.
%x = arith.constant 0x4000004000010040 : i64    // K-major, swizzle 128B, SBO 1024
%y = arith.constant 0x4000004000000240 : i64    // N-major
%sum = "smem.mma_desc"(%x, %y) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 2, 4, 6>,
                                b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128, 256, 384>} : (i64, i64) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
