// Every form of expectation is met: nothing is printed, and the exit code is 0.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-assign-layouts=explain > %t 2>&1
// RUN: diff %t %{empty}

%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto> // expected-error {{a tile has the shape}}

// -----

// expected-error@+1 {{a tile has the shape}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>

// -----

%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>
// expected-error@-1 {{a tile has the shape}}

// -----

%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>
// expected-error @above {{a tile has the shape}}

// -----

// expected-error @below {{a tile has the shape}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>

// -----

// expected-error-re@+1 {{a tile has {{(no elements|the shape)}} (rows, columns)}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>

// -----

// Two diagnostics at one line, in any order.
// expected-remark@+2 {{picked   swizzle 128B}}
// expected-remark@+2 {{picked   swizzle 64B}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
%1 = "smem.alloc"() : () -> !smem.tile<tensor<12x32xbf16>, #smem.auto>

// -----

// Remarks without any expected remark are not errors.
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
