// RUN: smem-opt %s --smem-materialize-descriptors=explain --split-input-file --verify-diagnostics

!a = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @whole() {
  %t = "smem.alloc"() {offset = 4096 : i64} : () -> !a
  // expected-remark-re@+2 {{A: 0x4000004000010000: start 0x0, LBO 16 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes into the tile at {{[0-9]+}}:8{{$}}}}
  // expected-remark-re@+1 {{B: 0x4000004000000000: start 0x0, LBO 0 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes into the tile at {{[0-9]+}}:8}}
  %d = "smem.mma"(%t, %t) : (!a, !a) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// 64 rows of 128 bytes are 8192.

!t = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!subtile = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @subtile() {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 64, 0>} : (!t) -> !subtile
  // expected-remark@+2 {{A: 0x4000004000010000: start 0x0, LBO 16 B, SBO 1024 B, base offset 0, swizzle 128B; starts 8192 bytes into the tile at}}
  // expected-remark@+1 {{B: }}
  %d = "smem.mma"(%p, %p) : (!subtile, !subtile) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!stage = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @stage(%i: index) {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %s = "smem.stage"(%t, %i) : (!t, index) -> !stage
  // expected-remark@+2 {{A: 0x4000004000010000: start 0x0, LBO 16 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes plus an offset known at run time into the tile at}}
  // expected-remark@+1 {{B: }}
  %d = "smem.mma"(%s, %s) : (!stage, !stage) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// Where a run-time column cuts atoms, each K block has its own descriptor.

!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!subtile = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @cut(%k: index) {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %b = "smem.alloc"() {offset = 16384 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  %p = "smem.subtile"(%t, %k) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 16>} : (!t, index) -> !subtile
  // expected-remark-re@+2 {{A: 0x4000004000010000: start 0x0, LBO 16 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes plus an offset known at run time into the tile at {{[0-9:]+}}, 4 descriptors}}
  // expected-remark@+1 {{B: }}
  %d = "smem.mma"(%p, %b) : (!subtile, !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
