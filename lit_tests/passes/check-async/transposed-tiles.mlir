// Rows of a transpose are columns of its tile: the bytes of accesses are compared in the tile.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

// The first 64 columns of the transpose are the first 64 rows of the tile, which another copy overwrites.

!t = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!v = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "column-major">>
!rows = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!columns = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @disjoint(%m: !m) {
  %k = "smem.alloc"() : () -> !t
  %first = "smem.subtile"(%k) {static_offsets = array<i64: 0, 0>} : (!t) -> !rows
  %second = "smem.subtile"(%k) {static_offsets = array<i64: 64, 0>} : (!t) -> !rows
  %v = "smem.transpose"(%k) : (!t) -> !v
  %columns = "smem.subtile"(%v) {static_offsets = array<i64: 0, 0>} : (!v) -> !columns
  "smem.copy"(%m, %first) : (!m, !rows) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%columns, %columns) : (!columns, !columns) -> !d
  "smem.copy"(%m, %second) : (!m, !rows) -> ()
  %0 = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!v = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "column-major">>
!rows = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!columns = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @overlapping(%m: !m) {
  %k = "smem.alloc"() : () -> !t
  %second = "smem.subtile"(%k) {static_offsets = array<i64: 64, 0>} : (!t) -> !rows
  %v = "smem.transpose"(%k) : (!t) -> !v
  %columns = "smem.subtile"(%v) {static_offsets = array<i64: 0, 64>} : (!v) -> !columns
  "smem.copy"(%m, %second) : (!m, !rows) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%columns, %columns) : (!columns, !columns) -> !d
  // expected-error-re@+1 {{'smem.copy' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.mma at {{[0-9:]+}} is over; put smem.wait with pending = 0 and gpu.barrier between them}}
  "smem.copy"(%m, %second) : (!m, !rows) -> ()
  %0 = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

// Each of two warpgroups writes its own columns of the transpose.

!t = !smem.tile<tensor<128x64xf32>, #smem.swizzle<"128B", "row-major">>
!v = !smem.tile<tensor<64x128xf32>, #smem.swizzle<"128B", "column-major">>
!columns = !smem.tile<tensor<64x64xf32>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
gpu.module @m {
  gpu.func @columns_of_warpgroups(%d: !d) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %thread = gpu.thread_id x
    %warpgroup = arith.divui %thread, %c128 : index
    %column = arith.muli %warpgroup, %c64 : index
    %k = "smem.alloc"() : () -> !t
    %v = "smem.transpose"(%k) : (!t) -> !v
    %own = "smem.subtile"(%v, %column) {static_offsets = array<i64: 0, -9223372036854775808>} : (!v, index) -> !columns
    "smem.store"(%d, %own) : (!d, !columns) -> ()
    gpu.return
  }
}

// -----

// A run-time start that leaves the transpose is one of its columns.

!t = !smem.tile<tensor<128x64xf32>, #smem.swizzle<"128B", "row-major">>
!v = !smem.tile<tensor<64x128xf32>, #smem.swizzle<"128B", "column-major">>
!columns = !smem.tile<tensor<64x64xf32>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
gpu.module @m {
  gpu.func @outside(%d: !d) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %thread = gpu.thread_id x
    %warpgroup = arith.divui %thread, %c128 : index
    %column = arith.muli %warpgroup, %c64 : index
    %k = "smem.alloc"() : () -> !t
    %v = "smem.transpose"(%k) : (!t) -> !v
    // expected-error-re@+1 {{'smem.subtile' op begins at column 128, where the smem.store at {{[0-9:]+}} uses it; it takes 64 of the tile's 128 columns; expected column 0 to 64}}
    %own = "smem.subtile"(%v, %column) {static_offsets = array<i64: 0, -9223372036854775808>} : (!v, index) -> !columns
    "smem.store"(%d, %own) : (!d, !columns) -> ()
    gpu.return
  }
}
