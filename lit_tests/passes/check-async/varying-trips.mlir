// An index that advances by another number in each iteration of the outer loop is the sum of what the iterations add.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @triangle(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        %end = scf.for %i = %c0 to %n step %c1 iter_args(%first = %c0) -> (index) {
          %count = arith.minui %i, %n : index
          scf.for %k = %c0 to %count step %c1 {
            %index = arith.addi %first, %k : index
            %p = "smem.producer_acquire"(%pipeline, %index) : (!pipeline, index) -> index
            %t = "smem.stage"(%s, %p) : (!s, index) -> !t
            "smem.tma_load"(%g, %t, %pipeline, %index, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
            "smem.producer_commit"(%pipeline, %index) : (!pipeline, index) -> ()
          }
          %next = arith.addi %first, %count : index
          scf.yield %next : index
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %end = scf.for %i = %c0 to %n step %c1 iter_args(%first = %c0) -> (index) {
        %count = arith.minui %i, %n : index
        scf.for %k = %c0 to %count step %c1 {
          %index = arith.addi %first, %k : index
          %w = "smem.consumer_wait"(%pipeline, %index) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %w) : (!s, index) -> !t
          %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
          %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
          "smem.consumer_release"(%pipeline, %index) : (!pipeline, index) -> ()
        }
        %next = arith.addi %first, %count : index
        scf.yield %next : index
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// The consumer's count is another number.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @other_count(%g: !g, %n: index, %m: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  // expected-remark@+3 {{more of its indices may be waited for than committed}}
  // expected-remark@+2 {{may load more stages of it than are waited for}}
  // expected-remark@+1 {{more of its indices may be acquired than released or initially empty}}
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        %end = scf.for %i = %c0 to %n step %c1 iter_args(%first = %c0) -> (index) {
          %count = arith.minui %i, %n : index
          scf.for %k = %c0 to %count step %c1 {
            %index = arith.addi %first, %k : index
            %p = "smem.producer_acquire"(%pipeline, %index) : (!pipeline, index) -> index
            %t = "smem.stage"(%s, %p) : (!s, index) -> !t
            "smem.tma_load"(%g, %t, %pipeline, %index, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
            "smem.producer_commit"(%pipeline, %index) : (!pipeline, index) -> ()
          }
          %next = arith.addi %first, %count : index
          scf.yield %next : index
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %end = scf.for %i = %c0 to %n step %c1 iter_args(%first = %c0) -> (index) {
        %count = arith.minui %i, %m : index
        scf.for %k = %c0 to %count step %c1 {
          %index = arith.addi %first, %k : index
          %w = "smem.consumer_wait"(%pipeline, %index) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %w) : (!s, index) -> !t
          %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
          %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
          "smem.consumer_release"(%pipeline, %index) : (!pipeline, index) -> ()
        }
        %next = arith.addi %first, %count : index
        scf.yield %next : index
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// The count comes from memory, which another thread may write meanwhile.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
func.func @from_memory(%g: !g, %n: index, %x: memref<?xindex>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.elect"() ({
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%first = %c0) -> (index) {
      %count = memref.load %x[%i] : memref<?xindex>
      scf.for %k = %c0 to %count step %c1 {
        %index = arith.addi %first, %k : index
        // expected-remark@+1 {{it is not known whether its pipeline index is the next one}}
        %p = "smem.producer_acquire"(%pipeline, %index) : (!pipeline, index) -> index
        "smem.producer_commit"(%pipeline, %index) : (!pipeline, index) -> ()
      }
      %next = arith.addi %first, %count : index
      scf.yield %next : index
    }
  }) {scope = "warpgroup"} : () -> ()
  return
}
