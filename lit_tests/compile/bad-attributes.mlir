// What the attributes that the manifest is made of cannot say.

// RUN: sed -e 's/ARGUMENT/smem.name = 3/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=NAME
// NAME: smem-compile: error: smem.name is a string such as "A", not 3

// RUN: sed -e 's/ARGUMENT/smem.shape = "MxN"/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=SHAPE
// SHAPE: smem-compile: error: smem.shape of arg0 is an array of names or extents such as ["M", "K"], not 'MxN'

// RUN: sed -e 's/ARGUMENT/smem.name = "A", smem.shape = ["M"]/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=RANK
// RANK: smem-compile: error: smem.shape of A names 1 extents, but memref<?x?xf32> has 2

// RUN: sed -e 's/KERNEL/smem.grid = 3/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=GRID
// GRID: smem-compile: error: smem.grid has an entry for each of x, y, z, not 3

// RUN: sed -e 's/ARGUMENT/smem.shape = ["M", "N"]/; s/KERNEL/smem.grid = [["N", 0]]/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=ENTRY
// ENTRY: smem-compile: error: an entry of smem.grid is an extent and how many of its elements a block covers, such as ["N", 256], not ['N', 0]

// RUN: sed -e 's/ARGUMENT/smem.shape = ["M", "N"]/; s/KERNEL/smem.grid = [["K", 64]]/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=EXTENT
// EXTENT: smem-compile: error: smem.grid names the extent K, which no smem.shape has; there are M, N

// RUN: sed -e 's/KERNEL/smem.multiples = {K = -1}/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=MULTIPLES
// MULTIPLES: smem-compile: error: smem.multiples is a dictionary of positive numbers such as {K = 64}, not {'K': -1}

// RUN: sed -e 's/KERNEL/smem.multiples = {K = 64}/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=NAMELESS
// NAMELESS: smem-compile: error: smem.multiples names the extent K, which no smem.shape has; there are none

// RUN: sed -e 's/KERNEL/smem.grid = [["N", 1.5]]/' -e "s|{ARGUMENT}||; s|{KERNEL}|{}|" %s | %{refused} smem-compile - --emit=nvvm -o - | FileCheck %s --check-prefix=KIND
// KIND: smem-compile: error: expected strings, integers and arrays of them, not 1.500000e+00 : f64
gpu.module @kernels {
  gpu.func @kernel(%m: memref<?x?xf32> {ARGUMENT}) kernel attributes {KERNEL} {
    gpu.return
  }
}
