// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @rank(%s: memref<4x4xi32>, %i: index) {
  // expected-error@+1 {{'smem.semaphore_arrive' op arrives at semaphores in memref<4x4xi32>; expected one dimension of i32}}
  %0 = "smem.semaphore_arrive"(%s, %i, %i) : (memref<4x4xi32>, index, index) -> i1
  return
}

// -----

func.func @element(%s: memref<4xi64>, %i: index) {
  // expected-error@+1 {{'smem.semaphore_arrive' op arrives at semaphores in memref<4xi64>; expected one dimension of i32}}
  %0 = "smem.semaphore_arrive"(%s, %i, %i) : (memref<4xi64>, index, index) -> i1
  return
}

// -----

func.func @workgroup(%s: memref<4xi32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error@+1 {{'smem.semaphore_arrive' op arrives at semaphores in global memory, not in memory space #gpu.address_space<workgroup>}}
  %0 = "smem.semaphore_arrive"(%s, %i, %i) : (memref<4xi32, #gpu.address_space<workgroup>>, index, index) -> i1
  return
}

// -----

func.func @layout(%s: memref<4xi32, affine_map<(i) -> (i mod 2)>>, %i: index) {
  // expected-error@+1 {{'smem.semaphore_arrive' op takes memrefs with strides, for example strided<[?, 1], offset: ?>, not memref<4xi32, affine_map<(d0) -> (d0 mod 2)>>}}
  %0 = "smem.semaphore_arrive"(%s, %i, %i) : (memref<4xi32, affine_map<(i) -> (i mod 2)>>, index, index) -> i1
  return
}

// -----

func.func @count(%s: memref<?xi32>, %i: index) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'smem.semaphore_arrive' op has count = 0; expected 1 or more arrivals}}
  %0 = "smem.semaphore_arrive"(%s, %i, %c0) : (memref<?xi32>, index, index) -> i1
  return
}

// -----

func.func @beyond(%s: memref<4xi32>, %n: index) {
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{'smem.semaphore_arrive' op has index = 4; expected 0 to 3}}
  %0 = "smem.semaphore_arrive"(%s, %c4, %n) : (memref<4xi32>, index, index) -> i1
  return
}

// -----

func.func @negative(%s: memref<?xi32>, %n: index) {
  %m = arith.constant -1 : index
  // expected-error@+1 {{'smem.semaphore_arrive' op has index = -1; expected 0 or more}}
  %0 = "smem.semaphore_arrive"(%s, %m, %n) : (memref<?xi32>, index, index) -> i1
  return
}
