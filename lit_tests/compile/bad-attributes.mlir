// Malformed attributes for the manifest, and arguments that no host can pass, are errors at their kernel: each
// command makes another error.

// RUN: sed 's/smem.name = "A"/smem.name = 3/' %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=NAME
// NAME: <stdin>:{{[0-9]+}}:3: error: smem.name is a string such as "A", not 3

// RUN: sed 's/"M", "N"/"M"/' %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=RANK
// RANK: <stdin>:{{[0-9]+}}:3: error: smem.shape of A names 1 extents, but memref<?x?xf32> has 2

// RUN: sed 's/"M", 128/"M", 0/' %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=ENTRY
// ENTRY: <stdin>:{{[0-9]+}}:3: error: an entry of smem.grid is an extent and how many of its elements a block covers, such as ["N", 256], not {{.*}}

// RUN: sed 's/"M", 128/"K", 128/' %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=EXTENT
// EXTENT: <stdin>:{{[0-9]+}}:3: error: smem.grid names the extent K, which no smem.shape has; there are M, N

// RUN: sed 's/"M", 128/"M", 1.5/' %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=KIND
// KIND: <stdin>:{{[0-9]+}}:3: error: expected strings, integers and arrays of them, not 1.500000e+00 : f64

// RUN: sed 's/memref<?x?xf32>/vector<4xf32>/' %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=VECTOR
// VECTOR: <stdin>:{{[0-9]+}}:3: error: A is of type vector<4xf32>, which no host can pass to a kernel
gpu.module @kernels {
  gpu.func @kernel(%m: memref<?x?xf32> {smem.name = "A", smem.shape = ["M", "N"]})
      kernel attributes {smem.grid = [["M", 128]]} {
    gpu.return
  }
}
