// RUN: smem-opt %s --linalg-to-launches --canonicalize | FileCheck %s

// An element for each thread; what the op does not read is not loaded.
// CHECK-LABEL: func.func @scale
// CHECK:       %[[X:.*]] = memref.reinterpret_cast %arg0
// CHECK:       %[[Y:.*]] = memref.reinterpret_cast %arg1
// CHECK:       gpu.launch blocks
// CHECK-SAME:    threads({{.*}}) in (%{{.*}} = %c256
// CHECK:         %[[IN:.*]] = arith.cmpi ult
// CHECK:         scf.if %[[IN]] {
// CHECK-COUNT-1:   memref.load %[[X]]
// CHECK-NOT:       memref.load
// CHECK:           %[[R:.*]] = arith.mulf
// CHECK:           memref.store %[[R]], %[[Y]]
// CHECK:         gpu.terminator
func.func @scale(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %s: f32) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>,
                                   affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : memref<4x8xf32>, f32) outs(%y : memref<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  }
  return
}

// A warp for each row; nothing is launched without rows.
// CHECK-LABEL: func.func @sum
// CHECK:       %[[ANY:.*]] = arith.cmpi ne
// CHECK:       scf.if %[[ANY]] {
// CHECK:         gpu.launch
// CHECK:           %[[TOTAL:.*]] = scf.for {{.*}} step %c32
// CHECK-COUNT-5:   gpu.shuffle xor
// CHECK:           memref.store
func.func @sum(%x: memref<?x8xf32>, %y: memref<?xf32>) {
  linalg.reduce ins(%x : memref<?x8xf32>) outs(%y : memref<?xf32>) dimensions = [1]
    (%a: f32, %o: f32) {
      %r = arith.addf %o, %a : f32
      linalg.yield %r : f32
    }
  return
}

// The hardware's conversion saturates, linalg's does not; one that the program launches itself stays.
// CHECK-LABEL: func.func @narrow
// CHECK:       gpu.launch
// CHECK-NOT:     arith.truncf
// CHECK:         arith.minui
// CHECK-NOT:     arith.truncf
// CHECK:       gpu.launch
// CHECK:         arith.truncf %{{.*}} : f32 to f8E4M3FN
func.func @narrow(%x: memref<4xf32>, %y: memref<4xf8E4M3FN>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
    ins(%x : memref<4xf32>) outs(%y : memref<4xf8E4M3FN>) {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = arith.truncf %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  }
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%i, %j, %k) in (%l = %c1, %m = %c1, %n = %c1)
             threads(%t, %u, %v) in (%d = %c1, %e = %c1, %f = %c1) {
    %a = memref.load %x[%t] : memref<4xf32>
    %r = arith.truncf %a : f32 to f8E4M3FN
    memref.store %r, %y[%t] : memref<4xf8E4M3FN>
    gpu.terminator
  }
  return
}

// The last of several writes would be another one.
// CHECK-LABEL: func.func @races
// CHECK-NOT:   gpu.launch
// CHECK:       linalg.generic
func.func @races(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// No kernel has such elements.
// CHECK-LABEL: func.func @stays
// CHECK-NOT:   gpu.launch
// CHECK:       linalg.generic
func.func @stays(%x: memref<4xcomplex<f32>>, %y: memref<4xcomplex<f32>>) {
  linalg.copy ins(%x : memref<4xcomplex<f32>>) outs(%y : memref<4xcomplex<f32>>)
  return
}
