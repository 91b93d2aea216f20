// Turns of warpgroups: each ends in its block, holds nothing that waits for others, and all warpgroups of the partition
// take it.

// RUN: smem-opt %s --split-input-file --smem-check-async --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!f = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

gpu.module @m {
  gpu.func @in_loops(%n: index) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %block = gpu.block_id x
    %a = "smem.alloc"() : () -> !t
    %zero = arith.constant 0.0 : f32
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.fence"() : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()
      "smem.partition"() ({
      ^bb0(%warpgroup: index):
        scf.for %i = %block to %n step %c1 {
          "smem.order_wait"() : () -> ()
          %z = "smem.fill"(%zero) : (f32) -> !c
          "smem.order_arrive"() : () -> ()
          "smem.order_wait"() : () -> ()
          %y = "smem.map"(%z) ({
          ^bb0(%x: f32):
            %s = arith.addf %x, %x : f32
            "gpu.yield"(%s) : (f32) -> ()
          }) : (!c) -> !c
          "smem.order_arrive"() : () -> ()
        }
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @no_end() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        // expected-error@+1 {{'smem.order_wait' op begins a turn that does not end in its block; put smem.order_arrive behind it}}
        "smem.order_wait"() : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @no_begin() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        // expected-error@+1 {{'smem.order_arrive' op ends a turn that no smem.order_wait before it in its block begins}}
        "smem.order_arrive"() : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @twice() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.order_wait"() : () -> ()
        // expected-error-re@+1 {{'smem.order_wait' op is in the turn that begins at {{[0-9:]+}}; put smem.order_arrive before it}}
        "smem.order_wait"() : () -> ()
        "smem.order_arrive"() : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @waits() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 2 : i32} : () -> !smem.pipeline
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.order_wait"() : () -> ()
        // expected-error-re@+1 {{'smem.consumer_wait' op may wait for other warpgroups in the turn that begins at {{[0-9:]+}}; put it before that, or behind its smem.order_arrive}}
        %s = "smem.consumer_wait"(%pipeline, %c0) : (!smem.pipeline, index) -> index
        "smem.order_arrive"() : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>
gpu.module @m {
  gpu.func @reduces(%c: !c) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.order_wait"() : () -> ()
        %0 = "smem.reduce"(%c) {op = "add", axis = 1 : i32} : (!c) -> !r
        // expected-error-re@+1 {{'smem.reduce' op may wait for other warpgroups in the turn that begins at {{[0-9:]+}}}}
        %1 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
        "smem.order_arrive"() : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @meets() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.order_wait"() : () -> ()
        "smem.warpgroup_barrier"() : () -> ()
        // expected-error-re@+1 {{'smem.warpgroup_barrier' op may wait for other warpgroups in the turn that begins at {{[0-9:]+}}}}
        "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
        "smem.order_arrive"() : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @branches(%c: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.order_wait"() : () -> ()
        // expected-error-re@+1 {{'scf.if' op may wait for other warpgroups in the turn that begins at {{[0-9:]+}}}}
        scf.if %c {
        }
        "smem.order_arrive"() : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @by_one(%n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    "smem.warp_specialize"() ({
      "smem.partition"() ({
      ^bb0(%warpgroup: index):
        %first = arith.cmpi eq, %warpgroup, %c0 : index
        scf.if %first {
          // expected-remark-re@+1 {{cannot prove that all warpgroups of its smem.partition take turns: the 'scf.if' at {{[0-9:]+}} may differ between them}}
          "smem.order_wait"() : () -> ()
          "smem.order_arrive"() : () -> ()
        }
        scf.for %i = %warpgroup to %n step %c1 {
          // expected-remark-re@+1 {{cannot prove that all warpgroups of its smem.partition take turns: the 'scf.for' at {{[0-9:]+}} may differ between them}}
          "smem.order_wait"() : () -> ()
          "smem.order_arrive"() : () -> ()
        }
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

// A thread of the warpgroup may store, and wait for its stores; not for a pipeline.
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
gpu.module @m {
  gpu.func @elects(%a: memref<64x64xbf16>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tile = "smem.alloc"() : () -> !t
    %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 2 : i32} : () -> !smem.pipeline
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.order_wait"() : () -> ()
        "smem.elect"() ({
          "smem.tma_store"(%tile, %a, %c0, %c0) : (!t, memref<64x64xbf16>, index, index) -> ()
          "smem.tma_commit"() : () -> ()
          "smem.tma_wait"() {pending = 0 : i32} : () -> ()
        }) {scope = "warpgroup"} : () -> ()
        "smem.order_arrive"() : () -> ()
        "smem.order_wait"() : () -> ()
        // expected-error-re@+1 {{'smem.elect' op may wait for other warpgroups in the turn that begins at {{[0-9:]+}}}}
        "smem.elect"() ({
          %s = "smem.producer_acquire"(%pipeline, %c0) : (!smem.pipeline, index) -> index
        }) {scope = "warpgroup"} : () -> ()
        "smem.order_arrive"() : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}
