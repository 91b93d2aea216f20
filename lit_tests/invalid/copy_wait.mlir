// RUN: smem-opt %s --verify-diagnostics

// expected-error@+1 {{'smem.copy_wait' op has pending = -1; expected 0 or more groups}}
"smem.copy_wait"() {pending = -1 : i32} : () -> ()
