// Every difference between diagnostics and expectations is an error at its line.
// Each part of this file has one.

// RUN: not smem-opt %s --split-input-file --verify-diagnostics --smem-assign-layouts=explain > %t 2>&1
// RUN: FileCheck %s --input-file %t

// An unexpected error.
// CHECK: verify-diagnostics-fails.mlir:9:6: error: unexpected error: 'smem.alloc' op a tile has the shape
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>

// -----

// An expected error that is not emitted.
// CHECK-NEXT: verify-diagnostics-fails.mlir:15: error: expected error "too large" was not produced
// expected-error@+1 {{too large}}
"smem.fence"() : () -> ()

// -----

// An error at another line.
// CHECK-NEXT: verify-diagnostics-fails.mlir:25:6: error: unexpected error: 'smem.alloc' op a tile has the shape
// CHECK-NEXT: verify-diagnostics-fails.mlir:23: error: expected error "a tile has the shape" was not produced
// expected-error@+1 {{a tile has the shape}}

%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>

// -----

// An error of another severity. With one expected remark, every remark needs an expectation.
// CHECK-NEXT: verify-diagnostics-fails.mlir:33:6: error: unexpected remark: layout Swizzle<3,4,3>
// CHECK: verify-diagnostics-fails.mlir:32: error: expected error "was chosen" was not produced
// expected-error@+1 {{was chosen}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto> // expected-remark {{never}}
// CHECK-NEXT: verify-diagnostics-fails.mlir:33: error: expected remark "never" was not produced

// -----

// A text that a regular expression would match.
// CHECK-NEXT: verify-diagnostics-fails.mlir:42:6: error: unexpected error: 'smem.alloc' op a tile has the shape
// CHECK-NEXT: verify-diagnostics-fails.mlir:41: error: expected error "a tile has .*shape" was not produced
// expected-error@+1 {{a tile has .*shape}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>
