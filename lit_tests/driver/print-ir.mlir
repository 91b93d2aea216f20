// The IR around passes goes to standard error, below a line with the name of the pass.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --mlir-print-ir-before=smem-allocate -o %t 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --mlir-print-ir-after=smem-assign-layouts --mlir-print-ir-after=smem-allocate -o %t 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-assign-layouts,func.func(cse))' --mlir-print-ir-before-all -o %t 2>&1 | FileCheck %s --check-prefix=BEFOREALL
// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-assign-layouts,func.func(cse))' --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=AFTERALL

// The passes of a pipeline are named individually.
// RUN: smem-opt %s --smem-to-nvvm --mlir-print-ir-after=smem-allocate -o %t 2>&1 | FileCheck %s --check-prefix=INSIDE

// BEFORE: // -----// IR Dump Before smem-allocate //----- //
// BEFORE: "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<
// BEFORE-NOT: IR Dump

// AFTER: // -----// IR Dump After smem-assign-layouts //----- //
// AFTER: "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<
// AFTER: // -----// IR Dump After smem-allocate //----- //
// AFTER: "smem.alloc"() {offset = 0 : i64}

// BEFOREALL: // -----// IR Dump Before smem-assign-layouts //----- //
// BEFOREALL: #smem.auto
// BEFOREALL: // -----// IR Dump Before cse //----- //
// BEFOREALL: #smem.layout

// AFTERALL: // -----// IR Dump After smem-assign-layouts //----- //
// AFTERALL: #smem.layout
// AFTERALL: // -----// IR Dump After cse //----- //

// INSIDE: // -----// IR Dump After smem-allocate //----- //
// INSIDE: "smem.alloc"() {offset = 0 : i64}
// INSIDE-NOT: IR Dump
func.func @f() {
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}
