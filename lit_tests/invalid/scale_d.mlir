// RUN: smem-opt %s --split-input-file --verify-diagnostics

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @multiplicand(%x: !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, %keep: i1) {
  // expected-error@+1 {{'smem.scale_d' op takes an accumulator, not !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>}}
  %0 = "smem.scale_d"(%x, %keep) : (!smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, i1) -> !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @fragment(%x: !smem.fragment<tensor<64x20xf32>, #smem.accumulator>, %keep: i1) {
  // expected-error@+1 {{'smem.scale_d' op has an accumulator of [64, 20]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.scale_d"(%x, %keep) : (!smem.fragment<tensor<64x20xf32>, #smem.accumulator>, i1) -> !smem.fragment<tensor<64x20xf32>, #smem.accumulator>
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @other_type(%a: !a, %b: !b, %keep: i1, %x: !c) {
  // expected-error@+1 {{'smem.scale_d' op results in !smem.fragment<tensor<64x8xf32>, #smem.in_flight> of !smem.fragment<tensor<64x8xf32>, #smem.accumulator>; expected the same}}
  %0 = "smem.scale_d"(%x, %keep) : (!c, i1) -> !d
  %1 = "smem.mma"(%a, %b, %0) : (!a, !b, !d) -> !d
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @unused(%a: !a, %b: !b, %keep: i1, %x: !c) {
  // expected-error@+1 {{'smem.scale_d' op is used by nothing; expected a single smem.mma or smem.mma_sp, as its accumulator}}
  %0 = "smem.scale_d"(%x, %keep) : (!c, i1) -> !c
  return
}

// -----

// It is the scale-d operand of a single mma, so it has a single use.

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @used_twice(%a: !a, %b: !b, %keep: i1, %x: !c) {
  // expected-error@+1 {{'smem.scale_d' op is used by 'smem.mma', 'smem.mma'; expected a single smem.mma or smem.mma_sp, as its accumulator}}
  %0 = "smem.scale_d"(%x, %keep) : (!c, i1) -> !c
  %1 = "smem.mma"(%a, %b, %0) : (!a, !b, !c) -> !d
  %2 = "smem.mma"(%a, %b, %0) : (!a, !b, !c) -> !d
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @stored(%a: !a, %b: !b, %keep: i1, %x: !c, %m: memref<64x8xf32>) {
  // expected-error@+1 {{'smem.scale_d' op is used by 'smem.store'; expected a single smem.mma or smem.mma_sp, as its accumulator}}
  %0 = "smem.scale_d"(%x, %keep) : (!c, i1) -> !c
  "smem.store"(%0, %m) : (!c, memref<64x8xf32>) -> ()
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @scaled_again(%a: !a, %b: !b, %keep: i1, %x: !c) {
  // expected-error@+1 {{'smem.scale_d' op is used by 'smem.scale_d'; expected a single smem.mma or smem.mma_sp, as its accumulator}}
  %0 = "smem.scale_d"(%x, %keep) : (!c, i1) -> !c
  %1 = "smem.scale_d"(%0, %keep) : (!c, i1) -> !c
  %2 = "smem.mma"(%a, %b, %1) : (!a, !b, !c) -> !d
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @carried(%a: !a, %b: !b, %keep: i1, %x: !d, %n: index) {
  // expected-error@+1 {{'smem.scale_d' op is used by 'scf.for'; expected a single smem.mma or smem.mma_sp, as its accumulator}}
  %0 = "smem.scale_d"(%x, %keep) : (!d, i1) -> !d
  %1 = scf.for %i = %n to %n step %n iter_args(%y = %0) -> !d {
    %2 = "smem.mma"(%a, %b, %y) : (!a, !b, !d) -> !d
    scf.yield %2 : !d
  }
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @in_flight_used_twice(%a: !a, %b: !b, %keep: i1, %x: !d) {
  // expected-error@+1 {{'smem.scale_d' op uses an accumulator in flight that has 2 uses; its registers cannot be copied before an smem.wait}}
  %0 = "smem.scale_d"(%x, %keep) : (!d, i1) -> !d
  %1 = "smem.mma"(%a, %b, %0) : (!a, !b, !d) -> !d
  %2 = "smem.wait"(%x) {pending = 0 : i32} : (!d) -> !d
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @condition(%keep: i32, %x: !c) {
  // expected-error@+1 {{expected 'i1' but got 'i32'}}
  %0 = "smem.scale_d"(%x, %keep) : (!c, i32) -> !c
  return
}
