// RUN: smem-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: smem-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOCATIONS

// GENERIC: "builtin.module"() ({
// GENERIC: "func.func"()
// LOCATIONS: "smem.fence"() : () -> () loc(
func.func @f() {
  "smem.fence"() : () -> ()
  return
}
