// RUN: %{refused} smem-opt %s | FileCheck %s

// CHECK: error: {{.*}}smem.alocate
"smem.alocate"() : () -> ()
