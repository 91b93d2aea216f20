// RUN: smem-opt %s --smem-lower-copies --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @no_block_size(%m: memref<64x64xbf16>) {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.copy' op is executed by all threads together, but the number of threads is not known; set known_block_size = array<i32: x, y, z> on the kernel}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @half_a_warpgroup(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 96, 2, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.copy' op is in a kernel of 192 threads; expected a multiple of 128, whole warpgroups}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @argument(%m: memref<64x64xbf16>, %t: !t) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error-re@+1 {{'smem.copy' op uses a tile that is not a stage or subtile of an smem.alloc or smem.view, but comes from an argument of 'func.func' at {{[0-9:]+}}; make it in the kernel}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_layout(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.copy' op uses a tile without a layout; run smem-assign-layouts before}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @no_offset(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'smem.alloc' op has no offset in shared memory; run smem-allocate before}}
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!part = !smem.tile<tensor<64x16xbf16>, #smem.auto>
func.func @misaligned_part(%m: memref<64x16xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 4>} : (!t) -> !part
  // expected-error@+1 {{'smem.copy' op writes a subtile that begins 4 elements or a multiple of that into its tile; 16-byte accesses need multiples of 8}}
  "smem.copy"(%m, %p) : (memref<64x16xbf16>, !part) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @too_early() {
  // expected-error@+1 {{'smem.alloc' op is still used by 'smem.mma'; run smem-materialize-descriptors before}}
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @before_lower_mma() {
  // expected-error@+1 {{'smem.alloc' op is still used by 'smem.load'; run smem-lower-mma before}}
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %a = "smem.load"(%t) : (!t) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!part = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!u = !smem.tile<tensor<64x16xbf16>, #smem.swizzle<"32B", "row-major">>
func.func @misaligned_source() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %u = "smem.alloc"() {offset = 8192 : i64} : () -> !u
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 4>} : (!t) -> !part
  // expected-error@+1 {{'smem.copy' op reads a subtile that begins 4 elements or a multiple of that into its tile; 16-byte accesses need multiples of 8}}
  "smem.copy"(%p, %u) : (!part, !u) -> ()
  return
}

// -----

func.func @used_by_others() attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'smem.create_pipeline' op is still used by 'builtin.unrealized_conversion_cast'; expected ops of smem}}
  %r = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32, offset = 0 : i64} : () -> !smem.pipeline
  %x = builtin.unrealized_conversion_cast %r : !smem.pipeline to i32
  return
}

// -----

// expected-error@+1 {{'llvm.mlir.global' op has the name of a kernel's dynamic shared memory; expected llvm.mlir.global external @__smem_dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>}}
llvm.mlir.global external @__smem_dynamic() {addr_space = 0 : i32} : !llvm.array<0 x i8>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @another_global(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
// expected-error@+1 {{'func.func' op has the name of a kernel's dynamic shared memory; expected llvm.mlir.global}}
func.func @__smem_dynamic(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

// smem-assign-layouts, which would have rejected it, has not run.
func.func @transposed(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  // expected-error@+1 {{'smem.copy' op the data in global memory is row-major, but the tile is column-major; smem.copy with the unit attribute relayout transposes it}}
  "smem.copy"(%m, %p) : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> ()
  return
}

// -----

!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @no_layout() workgroup(%bytes: !w) kernel {
    // expected-error@+1 {{'smem.view' op has no layout; run smem-assign-layouts before}}
    %a = "smem.view"(%bytes) : (!w) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
    gpu.return
  }
}
