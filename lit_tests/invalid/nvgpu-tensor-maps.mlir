// A tensor map of upstream's whose boxes do not fit the layout of the tile that they fill.

// RUN: smem-opt %s --smem-allocate --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<64x64xf16, #gpu.address_space<workgroup>>
!half = memref<64x32xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x32xf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
memref.global "private" @memory : !w
func.func @narrow_swizzle(%map: !map) {
  %c0 = arith.constant 0 : index
  %bar = nvgpu.mbarrier.create -> !bar
  %memory = memref.get_global @memory : !w
  %t = "smem.view"(%memory) : (!w) -> !t
  %half = memref.subview %memory[0, 0] [64, 32] [1, 1] : !w to !half
  // expected-error-re@+1 {{'nvgpu.tma.async.load' op fills the smem.view at {{[0-9:]+}} with lines of 64 bytes and the swizzle 64B; its layout has lines of 128 bytes and the swizzle 128B: expected !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, }}
  nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %half : !map, !bar -> !half
  return
}

// -----

!t = !smem.tile<tensor<2x64x64xf16>, #smem.swizzle<"64B", "row-major">>
!w = memref<2x64x64xf16, #gpu.address_space<workgroup>>
!stage = memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
memref.global "private" @memory : !w
func.func @no_swizzle_in_a_stage(%map: !map, %i: index) {
  %c0 = arith.constant 0 : index
  %bar = nvgpu.mbarrier.create -> !bar
  %memory = memref.get_global @memory : !w
  %t = "smem.view"(%memory) : (!w) -> !t
  %stage = memref.subview %memory[%i, 0, 0] [1, 64, 64] [1, 1, 1] : !w to !stage
  // expected-error@+1 {{with lines of 128 bytes and the swizzle none; its layout has lines of 64 bytes and the swizzle 64B: expected !nvgpu.tensormap.descriptor<tensor = memref<64x32xf16, 3>, swizzle = swizzle_64b, }}
  nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %stage : !map, !bar -> !stage
  return
}

// -----

// One of two views of a memref has other lines: the map may be meant for the other.

!t = !smem.tile<tensor<64x64xf16>, #smem.swizzle<"128B", "row-major">>
!u = !smem.tile<tensor<64x64xf16>, #smem.swizzle<"none", "row-major">>
!w = memref<64x64xf16, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
memref.global "private" @memory : !w
func.func @two_views(%map: !map) {
  %c0 = arith.constant 0 : index
  %bar = nvgpu.mbarrier.create -> !bar
  %memory = memref.get_global @memory : !w
  %t = "smem.view"(%memory) : (!w) -> !t
  %u = "smem.view"(%memory) : (!w) -> !u
  nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %memory : !map, !bar -> !w
  return
}
