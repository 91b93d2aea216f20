// Views whose start contradicts their alignment.

// RUN: smem-opt %s --smem-allocate --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
!b = memref<16384xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @shifted() workgroup(%bytes: !b) kernel {
    %c512 = arith.constant 512 : index
    %m = memref.view %bytes[%c512][] : !b to !w
    // expected-error-re@+1 {{'smem.view' op names memory 512 bytes behind its beginning (by the memref.view at {{[0-9:]+}}), which is not a multiple of 1024; move it to 1024, or promise another alignment}}
    %a = "smem.view"(%m) : (!w) -> !t
    gpu.return
  }
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @dynamic_alignment() kernel {
    %c0 = arith.constant 0 : index
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %m = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to !w
    // expected-error@+1 {{'smem.view' op promises alignment 2048, but dynamic shared memory is aligned to 1024 bytes}}
    %a = "smem.view"(%m) {alignment = 2048 : i64} : (!w) -> !t
    gpu.return
  }
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
