// Each thread of a warpgroup loads its own words: word i of the 128 threads is contiguous.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!e = !smem.fragment<tensor<128x128xbf16>, #smem.metadata>

// CHECK-LABEL: func.func @metadata
func.func @metadata(%m: memref<2x2x128xi32>) -> !e attributes {known_block_size = array<i32: 256, 1, 1>} {
  // CHECK: %[[T:.*]] = arith.remui %{{.*}}, %c128_i32 : i32
  // CHECK-NEXT: %[[T64:.*]] = arith.extui %[[T]] : i32 to i64
  // CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[T64]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  // CHECK-NEXT: %[[W0:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  // CHECK-NEXT: %[[P1:.*]] = llvm.getelementptr %[[P]][128]
  // CHECK-NEXT: %[[W1:.*]] = llvm.load %[[P1]]
  // The next 64 rows.
  // CHECK-NEXT: %[[P2:.*]] = llvm.getelementptr %[[P]][256]
  // CHECK-NEXT: %[[W2:.*]] = llvm.load %[[P2]]
  // CHECK: %[[W3:.*]] = llvm.load
  // CHECK: %[[S0:.*]] = llvm.insertvalue %[[W0]], %{{.*}}[0]
  // CHECK-NEXT: %[[S1:.*]] = llvm.insertvalue %[[W1]], %[[S0]][1]
  // CHECK-NEXT: %[[S2:.*]] = llvm.insertvalue %[[W2]], %[[S1]][2]
  // CHECK-NEXT: llvm.insertvalue %[[W3]], %[[S2]][3]
  %e = "smem.load"(%m) : (memref<2x2x128xi32>) -> !e
  return %e : !e
}

// CHECK-LABEL: func.func @strided
func.func @strided(%m: memref<2x1x128xi32, strided<[?, ?, 1], offset: ?>>) -> !smem.fragment<tensor<128x64xf16>, #smem.metadata> attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata
  // CHECK: %[[ROWS:.*]] = arith.index_cast %{{.*}}#0 : index to i64
  // CHECK: %[[P:.*]] = llvm.getelementptr
  // CHECK-NEXT: llvm.load %[[P]] {alignment = 4 : i64}
  // CHECK-NEXT: llvm.getelementptr %[[P]][%[[ROWS]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  %e = "smem.load"(%m) : (memref<2x1x128xi32, strided<[?, ?, 1], offset: ?>>) -> !smem.fragment<tensor<128x64xf16>, #smem.metadata>
  return %e : !smem.fragment<tensor<128x64xf16>, #smem.metadata>
}
