// What the host allocates is memory that kernels can access; it is freed where its block ends, unless it leaves it.

// RUN: smem-opt %s --split-input-file --smem-lower-launches | FileCheck %s
// RUN: smem-opt %s --split-input-file --smem-lower-launches=memory=host | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @result
// CHECK: %[[MINE:.*]] = gpu.alloc{{ *}}host_shared (%{{.*}}) : memref<?xf32>
// CHECK: %[[ITS:.*]] = gpu.alloc{{ *}}host_shared () : memref<4xf32>
// CHECK: memref.store %{{.*}}, %[[MINE]]
// CHECK: %[[TOKEN:.*]] = gpu.wait async
// CHECK-NEXT: %[[FREED:.*]] = gpu.dealloc async [%[[TOKEN]]] %[[MINE]] : memref<?xf32>
// CHECK-NEXT: gpu.wait [%[[FREED]]]
// CHECK-NOT: gpu.dealloc
// CHECK: return
// HOST-LABEL: func.func @result
// HOST: memref.alloc(%{{.*}}) : memref<?xf32>
// HOST-NOT: gpu.
func.func @result(%n: index, %x: f32) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %mine = memref.alloc(%n) : memref<?xf32>
  %its = memref.alloc() : memref<4xf32>
  memref.store %x, %mine[%c0] : memref<?xf32>
  %view = memref.cast %its : memref<4xf32> to memref<?xf32>
  return %view : memref<?xf32>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK: gpu.alloc
// CHECK: scf.for
// CHECK: gpu.alloc
// CHECK: gpu.dealloc
// CHECK: }
// CHECK: scf.if
// CHECK: gpu.alloc
// CHECK-NOT: gpu.dealloc
// CHECK: scf.yield
// CHECK: else
// CHECK-NOT: gpu.dealloc
// CHECK: return
func.func @loop(%n: index, %x: f32, %b: i1) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %each = memref.alloc() : memref<4xf32>
    memref.store %x, %each[%c0] : memref<4xf32>
  }
  %chosen = scf.if %b -> memref<4xf32> {
    %one = memref.alloc() : memref<4xf32>
    scf.yield %one : memref<4xf32>
  } else {
    scf.yield %other : memref<4xf32>
  }
  return %chosen : memref<4xf32>
}

// -----

// A program that frees memory itself is right by itself.
// CHECK-LABEL: func.func @frees
// CHECK: %[[M:.*]] = gpu.alloc
// CHECK: gpu.alloc
// CHECK: gpu.dealloc async [%{{.*}}] %[[M]]
// CHECK-NOT: gpu.dealloc
// CHECK: return
func.func @frees(%x: f32) {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<4xf32>
  %kept = memref.alloc() : memref<4xf32>
  memref.store %x, %m[%c0] : memref<4xf32>
  memref.dealloc %m : memref<4xf32>
  return
}
