// The number of stages that a loop asks for.

// RUN: smem-opt %s --smem-pipeline --split-input-file --verify-diagnostics

func.func @negative(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op has smem.stages = -1 : i64; expected a number, or 0 for all that fit}}
  scf.for %i = %c0 to %n step %c1 {
  } {smem.stages = -1 : i64}
  return
}

// -----

func.func @no_number(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op has smem.stages = "four"; expected a number, or 0 for all that fit}}
  scf.for %i = %c0 to %n step %c1 {
  } {smem.stages = "four"}
  return
}

// -----

func.func @copies(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op has smem.copies = "bulk"; expected cp-async or tma or auto}}
  scf.for %i = %c0 to %n step %c1 {
  } {smem.copies = "bulk"}
  return
}
