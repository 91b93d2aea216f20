// What keeps iterations from overlapping; the loop stays as it was, and says so if it asked for it.

// RUN: smem-opt %s --smem-overlap --split-input-file | FileCheck %s
// RUN: smem-opt %s --smem-overlap --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// Three of two products.
// REMARK: remark: its iterations do not overlap: the scf.for at {{[0-9:]+}} has 2 products; 3 of them cannot be late
// CHECK-LABEL: func.func @too_many
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"(%{{.*}}, %{{.*}}, %
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @too_many(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        %s = "smem.mma"(%t, %t) : (!t, !t) -> !c
        %p = "smem.convert"(%s) : (!c) -> !a
        %y = "smem.mma"(%p, %t, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 3 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// Nothing could run beside the product.
// REMARK: remark: its iterations do not overlap: the scf.for at {{[0-9:]+}} has nothing that could run beside its products
// CHECK-LABEL: func.func @nothing_else
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @nothing_else(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// The first product takes what the last one has added up.
// REMARK: remark: its iterations do not overlap: the smem.mma at {{[0-9:]+}} takes what products yield that the next iteration would begin before
// CHECK-LABEL: func.func @carried
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"(%{{.*}}, %{{.*}}, %
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @carried(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        %r = "smem.convert"(%x) : (!c) -> !a
        %s = "smem.mma"(%r, %t) : (!a, !t) -> !c
        %p = "smem.convert"(%s) : (!c) -> !a
        %y = "smem.mma"(%p, %t, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// All threads load: smem-pipeline moves such loads.
// REMARK: remark: its iterations do not overlap: the smem.copy at {{[0-9:]+}} fills a tile in the loop itself; let a producer load it (smem.specialize)
// CHECK-LABEL: func.func @copied
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"(%{{.*}}, %{{.*}}, %
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @copied(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        %g64 = memref.subview %g[%i, 0] [64, 64] [1, 1] : !g to memref<64x64xbf16, strided<[64, 1], offset: ?>>
        "smem.copy"(%g64, %q) : (memref<64x64xbf16, strided<[64, 1], offset: ?>>, !t) -> ()
        %s = "smem.mma"(%t, %t) : (!t, !t) -> !c
        %p = "smem.convert"(%s) : (!c) -> !a
        %y = "smem.mma"(%p, %t, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// A tile that an iteration writes.
// REMARK: remark: its iterations do not overlap: the smem.store at {{[0-9:]+}} must stay in the order of the iterations
// CHECK-LABEL: func.func @stored
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"(%{{.*}}, %{{.*}}, %
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @stored(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        %s = "smem.mma"(%t, %t) : (!t, !t) -> !c
        "smem.store"(%s, %q) : (!c, !t) -> ()
        %p = "smem.convert"(%s) : (!c) -> !a
        %y = "smem.mma"(%p, %t, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// Something that is seen.
// REMARK: remark: its iterations do not overlap: the gpu.printf at {{[0-9:]+}} must stay in the order of the iterations
// CHECK-LABEL: func.func @printed
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"(%{{.*}}, %{{.*}}, %
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @printed(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        gpu.printf "%d", %i : index
        %s = "smem.mma"(%t, %t) : (!t, !t) -> !c
        %p = "smem.convert"(%s) : (!c) -> !a
        %y = "smem.mma"(%p, %t, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// An array that the kernel writes, too.
// REMARK: remark: its iterations do not overlap: the smem.load at {{[0-9:]+}} reads an array that the kernel also writes
// CHECK-LABEL: func.func @read
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"(%{{.*}}, %{{.*}}, %
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @read(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        %s = "smem.mma"(%t, %t) : (!t, !t) -> !c
        %b = "smem.load"(%out) : (!o) -> !c
        %p = "smem.convert"(%b) : (!c) -> !a
        %y = "smem.mma"(%p, %t, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// A product in a branch.
// REMARK: remark: its iterations do not overlap: the smem.mma at {{[0-9:]+}} is in the scf.if at {{[0-9:]+}}; write its products into the loop itself
// CHECK-LABEL: func.func @branch
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"(%{{.*}}, %{{.*}}, %
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @branch(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        %even = arith.cmpi eq, %i, %c0 : index
        %s = scf.if %even -> (!c) {
          %d = "smem.mma"(%t, %t) : (!t, !t) -> !c
          scf.yield %d : !c
        } else {
          scf.yield %o0 : !c
        }
        %p = "smem.convert"(%s) : (!c) -> !a
        %y = "smem.mma"(%p, %t, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!k = !smem.tile<tensor<1x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!o = memref<64x64xf32>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// The next iteration cannot begin: the stage is released behind it.
// REMARK: remark: its iterations do not overlap: in the result, the smem.consumer_wait at {{[0-9:]+}} waits forever: the 1 pipeline index before it is not released, and the smem.create_pipeline at {{[0-9:]+}} has 1 stage
// CHECK-LABEL: func.func @one_stage
// CHECK:       scf.for %{{.*}} iter_args
// CHECK:       "smem.mma"(%{{.*}}, %{{.*}}, %
// CHECK-NOT:   "smem.mma"
// CHECK:       scf.yield
func.func @one_stage(%g: !g, %out: !o, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %keys = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %w = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
          "smem.tma_load"(%g, %t, %keys, %i, %i, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %w = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%ks, %w) : (!k, index) -> !t
        %s = "smem.mma"(%t, %t) : (!t, !t) -> !c
        %p = "smem.convert"(%s) : (!c) -> !a
        %y = "smem.mma"(%p, %t, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, !o) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
