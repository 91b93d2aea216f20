// Copies by cp.async of upstream are followed: their groups, and the wait for all but the latest of them.

// RUN: smem-opt %s --smem-check-async -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// NONE-NOT: remark

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!g = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
memref.global "private" @low : !w
memref.global "private" @high : !w
func.func @proven(%G: !g, %i: index, %j: index) {
  %low = memref.get_global @low : !w
  %high = memref.get_global @high : !w
  %t = "smem.view"(%low) : (!w) -> !t
  %0 = nvgpu.device_async_copy %G[%i, %j], %low[%j], 8 : !g to !w
  %1 = nvgpu.device_async_create_group %0
  %2 = nvgpu.device_async_copy %G[%i, %j], %high[%j], 8 : !g to !w
  %3 = nvgpu.device_async_create_group %2
  nvgpu.device_async_wait %1 {numGroups = 1 : i32}
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
  return
}
