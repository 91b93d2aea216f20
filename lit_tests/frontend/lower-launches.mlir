// Launches get what their kernels need: tensor maps that the host encodes, dynamic shared memory, and clusters.

// RUN: smem-opt %s --smem-lower-launches --split-input-file | FileCheck %s
// Upstream's passes take what comes out.
// RUN: smem-opt %s --split-input-file --pass-pipeline='builtin.module(smem-lower-launches,expand-strided-metadata,convert-scf-to-cf,convert-func-to-llvm,convert-arith-to-llvm,gpu-to-llvm,reconcile-unrealized-casts)' | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: module
module attributes {gpu.container_module} {
  // CHECK: llvm.func @mgpuTensorMapEncodeTiled(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32, i32)
  // CHECK-NOT: @mgpuTensorMapEncodeTiled(!llvm.ptr
  gpu.module @kernels {
    // CHECK: llvm.func @k(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
    llvm.func @k(%x: !llvm.ptr, %n: i64, %a: !llvm.ptr, %b: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel,
        gpu.known_block_size = array<i32: 256, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>, smem.shared_bytes = 8208 : i32} {
      llvm.return
    }
  }
  // A matrix: its contiguous dimension comes first. Memory is allocated once, outside of the loop.
  // CHECK-LABEL: func.func @matrix
  // CHECK: llvm.alloca
  // CHECK: %[[MAP:.*]] = llvm.alloca %{{.*}} x i64 {alignment = 64 : i64}
  // CHECK: scf.for
  // CHECK-NOT: llvm.alloca
  // CHECK: memref.extract_strided_metadata %{{.*}} : memref<?x?xbf16, strided<[?, 1], offset: ?>>
  // CHECK: %[[BFLOAT16:.*]] = llvm.mlir.constant(9 : i32)
  // CHECK: %[[RANK:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: memref.extract_aligned_pointer_as_index
  // CHECK: arith.addi
  // CHECK: %[[ADDRESS:.*]] = llvm.inttoptr
  // CHECK: llvm.mlir.constant(64 : i32)
  // CHECK: llvm.mlir.constant(128 : i32)
  // CHECK: llvm.call @mgpuTensorMapEncodeTiled(%{{.*}}, %[[BFLOAT16]], %[[RANK]], %[[ADDRESS]],
  // CHECK: %[[A:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.array<16 x i64>
  // CHECK: llvm.call @mgpuTensorMapEncodeTiled
  // CHECK: %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.array<16 x i64>
  // CHECK: gpu.launch_func @kernels::@k clusters in (%[[C2:.*]], %[[C1:.*]], %[[C1B:.*]]) blocks in
  // CHECK-SAME: dynamic_shared_memory_size %{{.*}} args(%{{.*}} : !llvm.ptr, %{{.*}} : i64, %[[A]] : !llvm.array<16 x i64>, %[[B]] : !llvm.array<16 x i64>)
  // CHECK-NOT: unrealized_conversion_cast
  // HOST-LABEL: llvm.func @matrix
  // HOST: llvm.call @mgpuTensorMapEncodeTiled
  // HOST: gpu.launch_func @kernels::@k clusters in
  // HOST-NOT: unrealized_conversion_cast
  func.func @matrix(%x: memref<?x?xbf16, strided<[?, 1], offset: ?>>, %p: !llvm.ptr, %n: i64, %times: index, %grid: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    scf.for %i = %c0 to %times step %c1 {
      %a = builtin.unrealized_conversion_cast %x : memref<?x?xbf16, strided<[?, 1], offset: ?>> to !llvm.ptr
        {smem.tensor_map = {argument = 0 : i64, box = array<i64: 128, 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}}
      %b = builtin.unrealized_conversion_cast %x : memref<?x?xbf16, strided<[?, 1], offset: ?>> to !llvm.ptr
        {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 32>, contiguous = 1 : i64, element = "bf16", swizzle = "64B", l2_promotion = "256B", oob = "nan"}}
      gpu.launch_func @kernels::@k blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%p : !llvm.ptr, %n : i64, %a : !llvm.ptr, %b : !llvm.ptr)
    }
    return
  }
}

// -----

// Launches of one kernel, of kernels in two modules, and what a launch has of its own.

module attributes {gpu.container_module} {
  gpu.module @first {
    gpu.func @k(%n: i64) kernel attributes {known_block_size = array<i32: 128, 1, 1>, smem.shared_bytes = 1024 : i32} {
      gpu.return
    }
  }
  gpu.module @second {
    gpu.func @k() kernel attributes {known_cluster_size = array<i32: 1, 2, 1>} {
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @several
  func.func @several(%n: index, %k: i64, %bytes: i32, %token: !gpu.async.token) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %few = arith.constant 16 : i32
    %many = arith.constant 2048 : i32
    // CHECK: %[[C1024:.*]] = arith.constant 1024 : i32
    // CHECK-NEXT: gpu.launch_func @first::@k blocks in {{.*}} dynamic_shared_memory_size %[[C1024]] args
    gpu.launch_func @first::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) args(%k : i64)
    // CHECK: %[[MORE:.*]] = arith.constant 1024 : i32
    // CHECK-NEXT: gpu.launch_func @first::@k {{.*}} dynamic_shared_memory_size %[[MORE]] args
    gpu.launch_func @first::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %few args(%k : i64)
    // CHECK-NEXT: gpu.launch_func @first::@k {{.*}} dynamic_shared_memory_size %c2048_i32 args
    gpu.launch_func @first::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %many args(%k : i64)
    // CHECK: %[[MOST:.*]] = arith.maxui %{{.*}}, %{{.*}} : i32
    // CHECK-NEXT: gpu.launch_func @first::@k {{.*}} dynamic_shared_memory_size %[[MOST]] args
    gpu.launch_func @first::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes args(%k : i64)
    // CHECK: %[[T:.*]] = gpu.launch_func async [%{{.*}}] @second::@k clusters in ({{.*}}) blocks in
    // CHECK-NEXT: gpu.wait [%[[T]]]
    %t = gpu.launch_func async [%token] @second::@k blocks in (%n, %c2, %c1) threads in (%n, %c1, %c1)
    gpu.wait [%t]
    // CHECK-NEXT: gpu.launch_func @second::@k clusters in (%c1, %c2, %c1) blocks in
    gpu.launch_func @second::@k clusters in (%c1, %c2, %c1) blocks in (%n, %c2, %c1) threads in (%n, %c1, %c1)
    return
  }
}

// -----

// A matrix of bytes that TMA unpacks to padded elements of 4 bits, 16 for each 8 bytes, and dimensions of one element.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  // CHECK-LABEL: func.func @packed
  // CHECK: arith.constant 32 : i64
  // CHECK: arith.cmpi eq
  // CHECK: arith.select
  // CHECK: llvm.mlir.constant(14 : i32)
  // CHECK: %[[BITS:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
  // CHECK: arith.divui %[[BITS]], %{{.*}} : i64
  func.func @packed(%x: memref<?x?xi8, strided<[?, 1]>>) {
    %c1 = arith.constant 1 : index
    %a = builtin.unrealized_conversion_cast %x : memref<?x?xi8, strided<[?, 1]>> to !llvm.ptr
      {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 128>, contiguous = 1 : i64, element = "e2m1_p64", swizzle = "128B"}}
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : !llvm.ptr)
    return
  }
}
