// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK: "smem.copy_wait"() {pending = 0 : i32} : () -> ()
"smem.copy_wait"() {pending = 0 : i32} : () -> ()
// CHECK: "smem.copy_wait"() {pending = 3 : i32} : () -> ()
"smem.copy_wait"() {pending = 3 : i32} : () -> ()
