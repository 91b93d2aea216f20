// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s --check-prefix=WIDEST
// RUN: smem-opt %s --smem-assign-layouts=max-swizzle=64 | FileCheck %s --check-prefix=UPTO64
// RUN: smem-opt %s --smem-assign-layouts=max-swizzle=32 | FileCheck %s --check-prefix=UPTO32
// RUN: smem-opt %s --smem-assign-layouts=max-swizzle=0 | FileCheck %s --check-prefix=UPTO0

// WIDEST: #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
// UPTO64: #smem.layout<"Swizzle<2,4,3> o (64,(32,2)):(32,(1,2048))">
// UPTO32: #smem.layout<"Swizzle<1,4,3> o (64,(16,4)):(16,(1,1024))">
// UPTO0: #smem.layout<"Swizzle<0,4,3> o (64,(8,8)):(8,(1,512))">
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>

// A given layout is kept.
// WIDEST: #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
// UPTO64: #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
// UPTO32: #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
// UPTO0: #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
%1 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
