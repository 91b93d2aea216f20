// RUN: smem-opt %s --smem-lower-copies --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @in_a_branch(%c: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    scf.if %c {
      // expected-error@+1 {{'smem.create_pipeline' op is not at the top of the kernel, where all threads execute it once}}
      %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    }
    gpu.return
  }
}

// -----

func.func @no_offset() attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'smem.create_pipeline' op has no offset in shared memory; run smem-allocate before}}
  %r = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}

// -----

func.func @no_block_size() {
  // expected-error@+1 {{'smem.create_pipeline' op is executed by all threads together, but the number of threads is not known; set known_block_size = array<i32: x, y, z> on the kernel}}
  %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}

// -----

// Cluster sizes.

// expected-error@+1 {{'func.func' op has known_cluster_size = [2, 1, 1]; expected array<i32: x, y, z>}}
func.func @no_array() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = [2, 1, 1]} {
  %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}

// -----

// expected-error@+1 {{'func.func' op has known_cluster_size = array<i32: 1, 1, 1, 1>; expected array<i32: x, y, z>}}
func.func @four_extents() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 1, 1, 1, 1>} {
  %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}

// -----

// expected-error@+1 {{'func.func' op has clusters of 4x5x1 CTAs; expected 1 to 16 CTAs}}
func.func @too_many() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 4, 5>} {
  %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}

// -----

// expected-error@+1 {{'func.func' op has clusters of 0x1x1 CTAs; expected 1 to 16 CTAs}}
func.func @no_blocks() attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 0, 1, 1>} {
  %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  return
}

// -----

// Multicast needs a cluster along its dimension.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @alone(%m: !m, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %r = "smem.create_pipeline"() {offset = 8192 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.tma_load' op has multicast = "x", but the kernel has clusters of 1x1x1 CTAs; set known_cluster_size = array<i32: x, y, z> on it}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @other_dimension(%m: !m, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %r = "smem.create_pipeline"() {offset = 8192 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.tma_load' op has multicast = "y", but the kernel has clusters of 2x1x1 CTAs; set known_cluster_size = array<i32: x, y, z> on it}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "y"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @three_dimensions(%m: !m, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 2>} {
  %r = "smem.create_pipeline"() {offset = 8192 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.tma_load' op is in a kernel with clusters of 2x1x2 CTAs; CTAs share loads in clusters along x and y}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

// 8 rows are one swizzle pattern; smem-assign-layouts would have rejected this.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<8x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @one_pattern(%m: !m, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %r = "smem.create_pipeline"() {offset = 8192 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.tma_load' op 2 CTAs cannot share its copy: the subtile begins at multiples of 512 bytes in its tile; TMA needs multiples of 1024; the subtile begins at multiples of 64 bytes in its tile; TMA needs multiples of 1024}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

// The host encodes tensor maps of arguments only.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @made_here(%i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %m = builtin.unrealized_conversion_cast to !m
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.tma_store' op takes a memref that is not an argument of the kernel; the host encodes a tensor map of a whole argument, and the coordinates say where the copied box begins}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @of_a_block(%m: !m, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %r = "smem.create_pipeline"() {offset = 8192 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  cf.br ^bb1(%m : !m)
^bb1(%n: !m):
  // expected-error@+1 {{'smem.tma_load' op takes a memref that is not an argument of the kernel; the host encodes a tensor map of a whole argument, and the coordinates say where the copied box begins}}
  "smem.tma_load"(%n, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

// Starts of boxes.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!p = !smem.tile<tensor<8x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (8,64):(64,1)">>
func.func @inside_a_pattern(%m: !m, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 4, 0>} : (!t) -> !p
  // expected-error@+1 {{'smem.tma_store' op the subtile begins at multiples of 512 bytes in its tile; TMA needs multiples of 1024}}
  "smem.tma_store"(%p, %m, %i, %i) : (!p, !m, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"none", "row-major">>
!p = !smem.tile<tensor<8x8xbf16>, #smem.layout<"(8,8):(8,1)">>
func.func @sixteen_bytes(%m: !m, %i: index, %row: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %r = "smem.create_pipeline"() {offset = 8192 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %p = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !p
  // expected-error@+1 {{'smem.tma_load' op the subtile begins at multiples of 16 bytes in its tile; TMA needs multiples of 128}}
  "smem.tma_load"(%m, %p, %r, %i, %i, %i) : (!m, !p, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<8x8xbf16>, #smem.swizzle<"none", "row-major">>
func.func @placed_by_hand(%m: !m, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 144 : i64} : () -> !t
  // expected-error@+1 {{'smem.tma_store' op copies a tile that begins at multiples of 144 bytes; TMA needs multiples of 128}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

// TMA computes the swizzle phase from absolute addresses; the base offset of a view would differ.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @base_offset(%m: !m, %w: memref<8192xi8, 3>, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.view"(%w) {alignment = 256 : i64} : (memref<8192xi8, 3>) -> !t
  // expected-error@+1 {{'smem.tma_load' op copies a tile that begins at multiples of 256 bytes; TMA needs multiples of 1024}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_layout(%m: !m, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.tma_store' op uses a tile without a layout; run smem-assign-layouts before}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

// Each warp of a consumer arrives once.

func.func @release(%i: index) attributes {known_block_size = array<i32: 160, 1, 1>} {
  // expected-error@+1 {{'smem.create_pipeline' op is in a kernel of 160 threads; expected a multiple of 128, whole warpgroups}}
  %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  "smem.consumer_release"(%r, %i) : (!smem.pipeline, index) -> ()
  return
}
