// Copies that transpose: each thread reads a block, transposes it in registers and writes it.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

// 128 blocks of 8 x 8. One lane in eight is along K, 16 bytes of 8 rows each; the others are along M.
!m = memref<64x128xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
// CHECK-LABEL: func.func @halves
func.func @halves(%m: !m) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[PITCH:.*]] = arith.index_cast %strides{{.*}} : index to i64
  // CHECK: %[[LANE:.*]] = arith.remui %[[T]], %{{.*}} : i32
  // CHECK: %[[REST:.*]] = arith.divui %[[T]], %{{.*}} : i32
  // CHECK: %[[ACROSS:.*]] = arith.remui %[[REST]], %{{.*}} : i32
  // CHECK: arith.addi %{{.*}}, %[[LANE]] : i32
  // CHECK: %[[K:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
  // CHECK: %[[M:.*]] = arith.muli %[[ACROSS]], %{{.*}} : i32
  // A line of global memory is along M; a line of the block has one k.
  // CHECK-NEXT: %[[LINE:.*]] = arith.extui %[[K]] : i32 to i64
  // CHECK-NEXT: arith.muli %[[LINE]], %[[PITCH]] : i64
  // CHECK-NEXT: arith.extui %[[M]] : i32 to i64
  // CHECK: %[[FROM:.*]] = llvm.getelementptr {{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
  // CHECK-NEXT: %[[V0:.*]] = llvm.load %[[FROM]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK-NEXT: %[[A:.*]] = vector.extract %[[V0]][0] : i32 from vector<4xi32>
  // CHECK: llvm.getelementptr %[[FROM]][%[[PITCH]]]
  // CHECK-NEXT: %[[V1:.*]] = llvm.load
  // CHECK-NEXT: %[[B:.*]] = vector.extract %[[V1]][0] : i32 from vector<4xi32>
  // CHECK-COUNT-6: llvm.load
  // CHECK-NOT: llvm.load
  // Bytes 0 and 1 of two lines, and bytes 2 and 3: 0x5410 and 0x7632.
  // CHECK: %[[EVEN:.*]] = arith.constant 21520 : i32
  // CHECK-NEXT: %[[R0:.*]] = nvvm.prmt <default> %[[EVEN]], %[[A]], %[[B]] : i32
  // CHECK-NEXT: %[[ODD:.*]] = arith.constant 30258 : i32
  // CHECK-NEXT: %[[R1:.*]] = nvvm.prmt <default> %[[ODD]], %[[A]], %[[B]] : i32
  // CHECK-COUNT-30: nvvm.prmt
  // CHECK-NOT: nvvm.prmt
  // CHECK: arith.xori
  // CHECK: %[[ROW0:.*]] = vector.from_elements %[[R0]], %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi32>
  // CHECK-NEXT: llvm.store %[[ROW0]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK: %[[ROW1:.*]] = vector.from_elements %[[R1]]
  // CHECK-COUNT-7: llvm.store
  // CHECK-NOT: llvm.store
  // CHECK: return
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>, relayout} : (!m, !t) -> ()
  return
}

// 8-bit elements take two steps; here a block is 4 lines of 16. There are only 16 blocks, so not all threads have one.
// CHECK-LABEL: func.func @bytes
func.func @bytes(%m: memref<128x8xi8, strided<[?, 1]>>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[LEFT:.*]] = arith.constant 16 : i32
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[LEFT]] : i32
  // CHECK-NEXT: scf.if %[[INSIDE]] {
  // CHECK-COUNT-16: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  // 0x5410 and 0x7632, then 0x6240 and 0x7351.
  // CHECK: arith.constant 21520 : i32
  // CHECK: arith.constant 30258 : i32
  // CHECK: arith.constant 25152 : i32
  // CHECK: arith.constant 29521 : i32
  // CHECK-COUNT-4: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  // CHECK: }
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<8x128xi8>, #smem.swizzle<"128B", "row-major">>
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>, relayout} : (memref<128x8xi8, strided<[?, 1]>>, !smem.tile<tensor<8x128xi8>, #smem.swizzle<"128B", "row-major">>) -> ()
  return
}

// 32-bit elements are only moved between registers; each is rounded.
// CHECK-LABEL: func.func @rounded
func.func @rounded(%m: memref<32x128xf32>) attributes {known_block_size = array<i32: 256, 1, 1>} {
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK-NEXT: %[[X:.*]] = vector.extract %{{.*}}[0]
  // CHECK: %[[F:.*]] = llvm.bitcast %[[X]] : i32 to f32
  // CHECK-NEXT: nvvm.convert.float.to.tf32 %[[F]] {rnd = #nvvm.fp_rnd_mode<rna>}
  // CHECK-NOT: nvvm.prmt
  // CHECK-COUNT-4: llvm.store
  // CHECK-NOT: llvm.store
  // CHECK: return
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<32x128xtf32>, #smem.swizzle<"128B", "column-major">>
  "smem.copy"(%m, %t) {relayout} : (memref<32x128xf32>, !smem.tile<tensor<32x128xtf32>, #smem.swizzle<"128B", "column-major">>) -> ()
  return
}

// Lines of 32 bytes: two of eight lanes are along a line, and four begin with different lines.
// CHECK-LABEL: func.func @skewed
func.func @skewed(%m: memref<32x512xui8>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK-COUNT-16: llvm.load
  // CHECK: %[[GROUP:.*]] = arith.divui %[[T]], %{{.*}} : i32
  // CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : i32
  // CHECK-NEXT: %[[BEGIN:.*]] = arith.remui %[[GROUP]], %[[C4]] : i32
  // CHECK: arith.andi %[[BEGIN]]
  // CHECK: %[[ODD:.*]] = arith.cmpi ne
  // CHECK-NEXT: arith.select %[[ODD]]
  // CHECK: arith.andi %[[BEGIN]]
  // CHECK: %[[UPPER:.*]] = arith.cmpi ne
  // CHECK-NEXT: arith.select %[[UPPER]]
  // CHECK: arith.addi %{{.*}}, %[[BEGIN]] : i32
  // CHECK: llvm.store
  // CHECK: %[[I:.*]] = arith.xori %[[BEGIN]], %{{.*}} : i32
  // CHECK-NEXT: arith.addi %{{.*}}, %[[I]] : i32
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<512x32xui8>, #smem.swizzle<"32B", "row-major">>
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>, relayout} : (memref<32x512xui8>, !smem.tile<tensor<512x32xui8>, #smem.swizzle<"32B", "row-major">>) -> ()
  return
}

// b1: 32 lines of one byte, whose 8 elements are in 8 lines of the tile.
// CHECK-LABEL: func.func @bits
func.func @bits(%m: memref<1024x1xi8, strided<[?, 1]>>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
  // CHECK-NEXT: arith.extui %[[BYTE]] : i8 to i32
  // CHECK-COUNT-31: llvm.load
  // CHECK-NOT: llvm.load
  // CHECK: nvvm.prmt
  // The even elements of two bytes, 4 bits at a time.
  // CHECK: arith.constant 252645135 : i32
  // CHECK-COUNT-8: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  // CHECK: return
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<8x1024xi1>, #smem.swizzle<"128B", "row-major">>
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>, relayout} : (memref<1024x1xi8, strided<[?, 1]>>, !smem.tile<tensor<8x1024xi1>, #smem.swizzle<"128B", "row-major">>) -> ()
  return
}
