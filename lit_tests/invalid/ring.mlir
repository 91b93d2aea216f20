// RUN: smem-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'smem.ring' op has stages = 0; expected 1 or more}}
%0 = "smem.ring"() {stages = 0 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.barriers

// -----

// expected-error@+1 {{'smem.ring' op has producers = 0; expected 1 or more}}
%0 = "smem.ring"() {stages = 1 : i32, producers = 0 : i32, consumers = 1 : i32} : () -> !smem.barriers

// -----

// expected-error@+1 {{'smem.ring' op has consumers = -1; expected 1 or more}}
%0 = "smem.ring"() {stages = 1 : i32, producers = 1 : i32, consumers = -1 : i32} : () -> !smem.barriers

// -----

// An mbarrier counts with 20 bits; each warp of a consumer arrives.

// expected-error@+1 {{'smem.ring' op counts 1048576 arrivals; an mbarrier counts up to 1048575}}
%0 = "smem.ring"() {stages = 1 : i32, producers = 1048576 : i32, consumers = 1 : i32} : () -> !smem.barriers

// -----

// expected-error@+1 {{'smem.ring' op counts 1048576 arrivals; an mbarrier counts up to 1048575}}
%0 = "smem.ring"() {stages = 1 : i32, producers = 1 : i32, consumers = 262144 : i32} : () -> !smem.barriers

// -----

%0 = "smem.ring"() {stages = 1 : i32, producers = 1048575 : i32, consumers = 262143 : i32} : () -> !smem.barriers

// -----

// expected-error@+1 {{'smem.ring' op has offset = 12 : i64; expected a multiple of 8 from 0}}
%0 = "smem.ring"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32, offset = 12 : i64} : () -> !smem.barriers

// -----

// expected-error@+1 {{'smem.ring' op has offset = "start"; expected a multiple of 8 from 0}}
%0 = "smem.ring"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32, offset = "start"} : () -> !smem.barriers

// -----

// Which mbarriers they are is known where the ring is.

func.func @acquire(%r: !smem.barriers, %i: index) {
  // expected-error@+1 {{'smem.producer_acquire' op takes a ring that does not come from an smem.ring; use the ring where it is made}}
  %0 = "smem.producer_acquire"(%r, %i) : (!smem.barriers, index) -> index
  return
}

// -----

func.func @commit(%r: !smem.barriers, %i: index) {
  // expected-error@+1 {{'smem.producer_commit' op takes a ring that does not come from an smem.ring; use the ring where it is made}}
  "smem.producer_commit"(%r, %i) : (!smem.barriers, index) -> ()
  return
}

// -----

func.func @wait(%i: index) {
  %r = builtin.unrealized_conversion_cast to !smem.barriers
  // expected-error@+1 {{'smem.consumer_wait' op takes a ring that does not come from an smem.ring; use the ring where it is made}}
  %0 = "smem.consumer_wait"(%r, %i) : (!smem.barriers, index) -> index
  return
}

// -----

func.func @release(%r: !smem.barriers, %i: index) {
  // expected-error@+1 {{'smem.consumer_release' op takes a ring that does not come from an smem.ring; use the ring where it is made}}
  "smem.consumer_release"(%r, %i) : (!smem.barriers, index) -> ()
  return
}

// -----

!m = memref<64x64xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @load(%m: !m, %t: !t, %r: !smem.barriers, %i: index) {
  // expected-error@+1 {{'smem.tma_load' op takes a ring that does not come from an smem.ring; use the ring where it is made}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.barriers, index, index, index) -> ()
  return
}
