// Upstream's asynchronous copies to memory that tiles view.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

// A wait that leaves the group pending, and a copy that is in no group.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!g = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
memref.global "private" @low : !w
func.func @one_group_too_many_is_pending(%G: !g, %i: index, %j: index) {
  %low = memref.get_global @low : !w
  %t = "smem.view"(%low) : (!w) -> !t
  %0 = nvgpu.device_async_copy %G[%i, %j], %low[%j], 8 : !g to !w
  %1 = nvgpu.device_async_create_group %0
  nvgpu.device_async_wait %1 {numGroups = 1 : i32}
  "smem.fence"() : () -> ()
  gpu.barrier
  // expected-remark-re@+1 {{cannot prove that the nvgpu.device_async_copy at {{[0-9:]+}} is over when this reads the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!g = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
memref.global "private" @low : !w
func.func @copies_without_a_group(%G: !g, %i: index, %j: index) {
  %low = memref.get_global @low : !w
  %t = "smem.view"(%low) : (!w) -> !t
  %0 = nvgpu.device_async_copy %G[%i, %j], %low[%j], 8 : !g to !w
  nvgpu.device_async_wait %0
  "smem.fence"() : () -> ()
  gpu.barrier
  // expected-remark-re@+1 {{cannot prove that the nvgpu.device_async_copy at {{[0-9:]+}} is over when this reads the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

// A bulk copy writes the tile, at an mbarrier that is not followed: this is said at the copy, and nothing else is.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<64x64xbf16, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
memref.global "private" @low : !w
func.func @bulk_copy(%map: !map, %parity: i1) {
  %c0 = arith.constant 0 : index
  %bar = nvgpu.mbarrier.create -> !bar
  %low = memref.get_global @low : !w
  %t = "smem.view"(%low) : (!w) -> !t
  // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: it completes at an mbarrier of the kernel's own (nvgpu.mbarrier.create at {{[0-9:]+}}); only those of smem.create_pipeline are followed}}
  nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %low : !map, !bar -> !w
  nvgpu.mbarrier.try_wait.parity %bar[%c0], %parity, %c0 : !bar
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
  return
}

// -----

// Stores to another part of the memory, while an mma reads the tile. The part is known from the memref, unless
// a cast may leave it.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<64x64xbf16, #gpu.address_space<workgroup>>
!part = memref<1x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
!bytes = memref<16384xi8, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
memref.global "private" @memory : !bytes
func.func @other_parts(%i: index, %x: bf16) {
  %c0 = arith.constant 0 : index
  %c8192 = arith.constant 8192 : index
  %memory = memref.get_global @memory : !bytes
  %low = memref.view %memory[%c0][] : !bytes to !w
  %high = memref.view %memory[%c8192][] : !bytes to !w
  %part = memref.subview %high[%i, 0] [1, 64] [1, 1] : !w to !part
  %cast = memref.reinterpret_cast %high to offset: [%i], sizes: [1, 64], strides: [64, 1] : !w to !part
  %t = "smem.view"(%low) : (!w) -> !t
  memref.store %x, %low[%c0, %c0] : !w
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  memref.store %x, %part[%c0, %c0] : !part
  // expected-remark-re@+1 {{cannot prove that the smem.mma at {{[0-9:]+}} is over when this overwrites the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
  memref.store %x, %cast[%c0, %c0] : !part
  %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
  return
}

// -----

// A store to the same memory does not complete the copy.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!g = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
memref.global "private" @low : !w
func.func @a_store_follows_the_copy(%G: !g, %i: index, %j: index, %x: bf16) {
  %low = memref.get_global @low : !w
  %t = "smem.view"(%low) : (!w) -> !t
  %0 = nvgpu.device_async_copy %G[%i, %j], %low[%j], 8 : !g to !w
  %1 = nvgpu.device_async_create_group %0
  memref.store %x, %low[%i] : !w
  "smem.fence"() : () -> ()
  gpu.barrier
  // expected-remark-re@+1 {{cannot prove that the nvgpu.device_async_copy at {{[0-9:]+}} is over when this reads the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}
