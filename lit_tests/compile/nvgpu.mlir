// Upstream's nvgpu ops beside tiles. The matrix of a tensor map takes its place among the arguments, and the map follows
// them; what the host encodes is that of the type. A function that launches the kernel is no part of the result.

// RUN: smem-compile %s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file %t.json
// RUN: smem-compile %s --emit=nvvm -o - | FileCheck %s --check-prefix=NVVM

// PTX: .visible .entry fetch(
// PTX: .param .align 64 .b8 [[MAP:fetch_param_[0-9]+]][128]
// PTX-NEXT: )
// PTX: mov.b64 [[AT:%rd[0-9]+]], [[MAP]];
// PTX: cvta.param.u64 [[GENERIC:%rd[0-9]+]], [[AT]];
// PTX: mbarrier.init.shared.b64
// PTX: mbarrier.arrive.expect_tx.shared.b64
// PTX: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [{{.*}}], {{.}}[[GENERIC]],
// PTX: mbarrier.try_wait.parity.shared.b64
// PTX: cp.async.cg.shared.global
// PTX: cp.async.wait_group 0;

// MANIFEST: "entry": "fetch",
// MANIFEST: "name": "A",
// MANIFEST-NEXT: "kind": "memref",
// MANIFEST-NEXT: "element": "bf16",
// MANIFEST: "tensor_maps": [
// MANIFEST-NEXT: {
// MANIFEST-NEXT: "argument": "A",
// MANIFEST-NEXT: "box": [
// MANIFEST-NEXT: 64,
// MANIFEST-NEXT: 64
// MANIFEST-NEXT: ],
// MANIFEST-NEXT: "contiguous": 1,
// MANIFEST-NEXT: "element": "bf16",
// MANIFEST-NEXT: "swizzle": "128B",
// MANIFEST-NEXT: "l2_promotion": "64B",
// MANIFEST-NEXT: "oob": "nan"

// NVVM-LABEL: gpu.func @fetch(%{{.*}}: memref<?x?xbf16, strided<[?, 1], offset: ?>> {smem.name = "A"}, %{{.*}}: memref<64x64xbf16>, %{{.*}}: !llvm.ptr {smem.tensor_map
// NVVM-NOT: nvgpu
// NVVM-NOT: unrealized
// NVVM: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM-NOT: nvgpu
// NVVM-NOT: unrealized

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_64b, oob = nan, interleave = none>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
!w = memref<64x64xbf16, #gpu.address_space<workgroup>>
!m = memref<64x64xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fetch(%A: !map {smem.name = "A"}, %B: !m) workgroup(%to: !w)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %bytes = arith.constant 8192 : index
      %odd = arith.constant false
      %x = gpu.thread_id x
      %first = arith.cmpi eq, %x, %c0 : index
      %bar = nvgpu.mbarrier.create -> !bar
      nvgpu.mbarrier.init %bar[%c0], %c1, predicate = %first : !bar
      gpu.barrier
      %t = "smem.view"(%to) : (!w) -> !t
      nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes, predicate = %first : !bar
      nvgpu.tma.async.load %A[%c0, %c0], %bar[%c0] to %to, predicate = %first : !map, !bar -> !w
      nvgpu.mbarrier.try_wait.parity %bar[%c0], %odd, %bytes : !bar
      %v = vector.load %to[%x, %c0] : !w, vector<8xbf16>
      vector.store %v, %B[%x, %c0] : !m, vector<8xbf16>
      gpu.barrier
      %0 = nvgpu.device_async_copy %B[%x, %c0], %to[%x, %c0], 8 {bypassL1} : !m to !w
      %1 = nvgpu.device_async_create_group %0
      nvgpu.device_async_wait %1
      gpu.return
    }
  }
  func.func @host(%map: !map, %B: !m) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@fetch blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%map : !map, %B : !m)
    return
  }
}
