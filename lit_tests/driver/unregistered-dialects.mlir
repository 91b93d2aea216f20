// RUN: smem-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: smem-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(canonicalize,smem-to-nvvm)' | FileCheck %s
// RUN: %{refused} smem-opt %s | FileCheck %s --check-prefix=REFUSED

// CHECK: "test.op"() : () -> !test.type
// REFUSED: error: operation being parsed with an unregistered dialect
%0 = "test.op"() : () -> !test.type
