// Views are checked before their layouts are chosen: they may use any byte of their memrefs.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @same_bytes(%A: !m) workgroup(%bytes: !w) kernel {
    %a = "smem.view"(%bytes) : (!w) -> !t
    %b = "smem.view"(%bytes) : (!w) -> !t
    "smem.copy"(%A, %a) : (!m, !t) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %a) : (!t, !t) -> !d
    // expected-remark-re@+1 {{cannot prove that the smem.mma at {{[0-9:]+}} is over when this overwrites the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
    "smem.copy"(%A, %b) : (!m, !t) -> ()
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    gpu.return
  }
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
!w = memref<?xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @unknown_size(%A: !m, %bytes: !w) kernel {
    // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it has no layout yet, so its size is not known}}
    %a = "smem.view"(%bytes) : (!w) -> !t
    "smem.copy"(%A, %a) : (!m, !t) -> ()
    %b = "smem.alloc"() : () -> !t
    "smem.copy"(%A, %b) : (!m, !t) -> ()
    gpu.return
  }
}

// -----

// Where one argument begins in the other is not known, so their offsets tell nothing.
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!w = memref<16384xi8, #gpu.address_space<workgroup>>
!v = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @two_arguments(%A: !m, %bytes: !w, %others: !w) {
    %first = arith.constant 0 : index
    %second = arith.constant 8192 : index
    %low = memref.view %bytes[%first][] : !w to !v
    %high = memref.view %others[%second][] : !w to !v
    %a = "smem.view"(%low) {alignment = 1024 : i64} : (!v) -> !t
    %b = "smem.view"(%high) {alignment = 1024 : i64} : (!v) -> !t
    "smem.copy"(%A, %a) : (!m, !t) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %a) : (!t, !t) -> !d
    // expected-remark-re@+1 {{cannot prove that the smem.mma at {{[0-9:]+}} is over when this overwrites the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
    "smem.copy"(%A, %b) : (!m, !t) -> ()
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    gpu.return
  }
}
