!half = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!low = !smem.tile<tensor<32x64xbf16>, #smem.auto>
// Columns 32 to 63 of A, and the rows of B that they are multiplied with.
%right = "smem.subtile"(%a) {static_offsets = array<i64: 0, 32>} : (!tile) -> !half
%lower = "smem.subtile"(%b) {static_offsets = array<i64: 32, 0>} : (!tile) -> !low
%sum = "smem.mma"(%right, %lower) : (!half, !low) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
