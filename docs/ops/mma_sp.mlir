!half = !smem.tile<tensor<64x32xbf16>, #smem.auto>                    // 2 of every 4 elements of A
!metadata = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>        // which: see layout.compress
%words = memref.alloca() : memref<1x1x128xi32>
%indices = "smem.load"(%words) : (memref<1x1x128xi32>) -> !metadata
%stored = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!tile) -> !half
%sum = "smem.mma_sp"(%stored, %b, %indices) : (!half, !tile, !metadata) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
