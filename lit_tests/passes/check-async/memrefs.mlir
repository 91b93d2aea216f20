// Ops of other dialects that access memory which tiles view.

// RUN: smem-opt %s --smem-check-async --allow-unregistered-dialect --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xf32>, #smem.layout<"(64,64):(64,1)">>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!w = memref<64x64xf32, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @load_after_store(%zero: f32, %O: memref<1xf32>) workgroup(%w: !w) kernel {
    %c0 = arith.constant 0 : index
    %t = "smem.view"(%w) : (!w) -> !t
    %f = "smem.fill"(%zero) : (f32) -> !c
    "smem.store"(%f, %t) : (!c, !t) -> ()
    // expected-remark-re@+1 {{cannot prove that the smem.store at {{[0-9:]+}} is over when this reads the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
    %x = memref.load %w[%c0, %c0] : !w
    gpu.barrier
    %y = memref.load %w[%c0, %c0] : !w
    memref.store %y, %O[%c0] : memref<1xf32>
    // expected-remark-re@+1 {{cannot prove that the memref.load at {{[0-9:]+}} is over when this overwrites the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
    "smem.store"(%f, %t) : (!c, !t) -> ()
    gpu.return
  }
}

// -----

// In a map, in a loop, in a branch that only some threads take, through other memrefs of the same memory.

!t = !smem.tile<tensor<64x64xf32>, #smem.layout<"(64,64):(64,1)">>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!w = memref<64x64xf32, #gpu.address_space<workgroup>>
!p = memref<8x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @within(%zero: f32) workgroup(%w: !w) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = "smem.view"(%w) : (!w) -> !t
    %f = "smem.fill"(%zero) : (f32) -> !c
    "smem.store"(%f, %t) : (!c, !t) -> ()
    %part = memref.subview %w[0, 0] [8, 64] [1, 1] : !w to !p
    %g = "smem.map"(%f) ({
    ^bb0(%x: f32, %row: index, %column: index):
      %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %x) -> (f32) {
        // expected-remark@+1 {{when this reads the smem.view}}
        %y = memref.load %part[%i, %c0] : !p
        %z = arith.addf %sum, %y : f32
        scf.yield %z : f32
      }
      gpu.yield %s : f32
    }) : (!c) -> !c
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {
      %v = vector.broadcast %zero : f32 to vector<4xf32>
      // expected-remark@+1 {{when this overwrites the smem.view}}
      vector.store %v, %w[%c0, %c0] : !w, vector<4xf32>
    }
    gpu.return
  }
}

// -----

// Right: a barrier lies between.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @written_by_threads(%x: bf16) workgroup(%w: !w, %other: !w) kernel {
    %thread = gpu.thread_id x
    %t = "smem.view"(%w) : (!w) -> !t
    memref.store %x, %w[%thread] : !w
    memref.store %x, %other[%thread] : !w
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
    %e = memref.load %w[%thread] : !w
    memref.store %x, %other[%thread] : !w
    gpu.return
  }
}

// -----

// An op with unknown effects on the memory, and on the memory of a symbol through another op.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
gpu.module @kernels {
  memref.global @buffer : !w
  gpu.func @unknown(%m: !m) workgroup(%w: !w) kernel {
    // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: 'test.use' at {{[0-9:]+}} also uses its memory}}
    %t = "smem.view"(%w) : (!w) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    "test.use"(%w) : (!w) -> ()
    %shown = memref.get_global @buffer : !w
    // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: 'test.use' at {{[0-9:]+}} also uses its memory}}
    %u = "smem.view"(%shown) : (!w) -> !t
    "smem.copy"(%m, %u) : (!m, !t) -> ()
    %again = memref.get_global @buffer : !w
    "test.use"(%again) : (!w) -> ()
    gpu.return
  }
}

// -----

// A memref of the same symbol, by another op.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
gpu.module @kernels {
  memref.global @buffer : !w
  gpu.func @symbol(%m: !m) kernel {
    %c0 = arith.constant 0 : index
    %shown = memref.get_global @buffer : !w
    %t = "smem.view"(%shown) : (!w) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    %again = memref.get_global @buffer : !w
    // expected-remark@+1 {{when this reads the smem.view}}
    %x = memref.load %again[%c0] : !w
    gpu.return
  }
}

// -----

// A host stores at the offsets of a tile. The stores may write any byte of the memref.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @ordered(%v: vector<8xbf16>) workgroup(%w: !w) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %thread = gpu.thread_id x
    %t = "smem.view"(%w) : (!w) -> !t
    %o = "smem.offset"(%t, %thread, %c8) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
    vector.store %v, %w[%o] : !w, vector<8xbf16>
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
    gpu.return
  }
  gpu.func @without_a_barrier(%v: vector<8xbf16>) workgroup(%w: !w) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %thread = gpu.thread_id x
    %t = "smem.view"(%w) : (!w) -> !t
    %o = "smem.offset"(%t, %thread, %c8) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
    vector.store %v, %w[%o] : !w, vector<8xbf16>
    "smem.fence"() : () -> ()
    // expected-remark@+1 {{when this reads the smem.view}}
    %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
    // expected-remark@+1 {{when this overwrites the smem.view}}
    vector.store %v, %w[%o] : !w, vector<8xbf16>
    gpu.return
  }
}
