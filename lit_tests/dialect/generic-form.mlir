// The generic form of every op parses to the same module as the printed form.

// RUN: smem-opt %s -o %t.usual
// RUN: smem-opt %s --mlir-print-op-generic -o %t.generic
// RUN: smem-opt %t.generic | diff %t.usual -
// RUN: FileCheck %s --input-file %t.generic

!stages = !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!rows = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!view = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
!b = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!metadata = !smem.fragment<tensor<64x128xbf16>, #smem.metadata>
!running = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!done = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// CHECK: "gpu.func"()
// CHECK: "smem.alloc"
// CHECK: "smem.view"
// CHECK: "scf.for"
// CHECK: "smem.stage"
// CHECK: "smem.subtile"
// CHECK: "smem.copy"
// CHECK: "smem.copy_async"
// CHECK: "smem.copy_commit"
// CHECK: "smem.copy_wait"
// CHECK: "smem.fence"
// CHECK: "smem.mma"
// CHECK: "smem.mma_desc"
// CHECK: "smem.wait"
// CHECK: "smem.store"
// CHECK: "smem.load"
// CHECK: "smem.map"
// CHECK: "gpu.yield"
// CHECK: "smem.convert"
// CHECK: "smem.scale_d"
// CHECK: "smem.mma_sp"
// CHECK: "smem.mma_desc_sp"
// CHECK: "smem.create_pipeline"
// CHECK: "smem.warp_specialize"
// CHECK: "smem.partition"
// CHECK: "smem.elect"
// CHECK: "smem.producer_acquire"
// CHECK: "smem.tma_load"
// CHECK: "smem.producer_commit"
// CHECK: ^bb0
// CHECK: "smem.consumer_wait"
// CHECK: "smem.consumer_release"
// CHECK: "smem.columns"
// CHECK: "smem.order_wait"
// CHECK: "smem.order_arrive"
// CHECK: "smem.warpgroup_barrier"
// CHECK: "smem.tma_store"
// CHECK: "smem.tma_commit"
// CHECK: "smem.tma_wait"
gpu.module @kernels {
  gpu.func @all(%m: memref<64x64xbf16>, %w: memref<8192xi8, #gpu.address_space<workgroup>>, %d: i64, %n: index, %zero: f32, %words: memref<1x2x128xi32>, %keep: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = "smem.alloc"() : () -> !stages
    %b = "smem.alloc"() : () -> !b
    %v = "smem.view"(%w) : (memref<8192xi8, #gpu.address_space<workgroup>>) -> !view
    %start = "smem.fill"(%zero) : (f32) -> !running
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> !running {
      %s = "smem.stage"(%t, %i) : (!stages, index) -> !rows
      %p = "smem.subtile"(%v) {static_offsets = array<i64: 0, 0>} : (!view) -> !rows
      "smem.copy"(%m, %s) : (memref<64x64xbf16>, !rows) -> ()
      "smem.copy_async"(%m, %p) : (memref<64x64xbf16>, !rows) -> ()
      "smem.copy_commit"() : () -> ()
      "smem.copy_wait"() {pending = 0 : i32} : () -> ()
      "smem.fence"() : () -> ()
      %x = "smem.mma"(%s, %p, %acc) : (!rows, !rows, !running) -> !running
      %y = "smem.mma_desc"(%d, %d, %x) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !running) -> !running
      scf.yield %y : !running
    }
    %e = "smem.wait"(%sum) {pending = 0 : i32} : (!running) -> !done
    "smem.store"(%e, %m) : (!done, memref<64x64xbf16>) -> ()
    %metadata = "smem.load"(%words) : (memref<1x2x128xi32>) -> !metadata
    %f = "smem.map"(%e) ({
    ^bb0(%number: f32, %row: index, %column: index):
      gpu.yield %number : f32
    }) : (!done) -> !done
    %a = "smem.convert"(%f) : (!done) -> !a
    %scaled = "smem.scale_d"(%e, %keep) : (!done, i1) -> !done
    %z = "smem.mma_sp"(%a, %b, %metadata, %scaled) : (!a, !b, !metadata, !done) -> !running
    %last = "smem.mma_desc_sp"(%a, %d, %metadata, %z) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0, 4, 8, 12>} : (!a, i64, !metadata, !running) -> !running
    %pipeline = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.elect"() ({
          %slot = "smem.producer_acquire"(%pipeline, %n) : (!smem.pipeline, index) -> index
          %stage = "smem.stage"(%t, %slot) : (!stages, index) -> !rows
          "smem.tma_load"(%m, %stage, %pipeline, %n, %c0, %c0) {cache = "evict_first"} : (memref<64x64xbf16>, !rows, !smem.pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %n) : (!smem.pipeline, index) -> ()
        }) {scope = "cta"} : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()
      "smem.partition"() ({
      ^bb0(%number: index):
        %slot = "smem.consumer_wait"(%pipeline, %number) : (!smem.pipeline, index) -> index
        "smem.consumer_release"(%pipeline, %number) : (!smem.pipeline, index) -> ()
        %columns = "smem.columns"(%e) {first = 8 : i64} : (!done) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
        "smem.order_wait"() : () -> ()
        "smem.order_arrive"() : () -> ()
        "smem.warpgroup_barrier"() : () -> ()
        "smem.tma_store"(%v, %m, %c0, %c0) : (!view, memref<64x64xbf16>, index, index) -> ()
        "smem.tma_commit"() : () -> ()
        "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}
