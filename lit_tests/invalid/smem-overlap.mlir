// RUN: smem-opt %s --smem-overlap --split-input-file --verify-diagnostics

func.func @no_number(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op has smem.overlap = "all"; expected a number of products, or none to choose it}}
  scf.for %i = %c0 to %n step %c1 {
  } {smem.overlap = "all"}
  return
}

// -----

func.func @negative(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op has smem.overlap = -1 : i64; expected a number of products, or none to choose it}}
  scf.for %i = %c0 to %n step %c1 {
  } {smem.overlap = -1 : i64}
  return
}
