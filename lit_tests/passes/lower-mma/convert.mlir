// D of one mma as A of the next.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!c16 = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
!a16 = !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>

// 16-bit elements are not exchanged.
// CHECK: func.func @halves(%[[C:.*]]: !llvm.struct
func.func @halves(%c: !c16) -> !a16 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK-NOT: nvvm.shfl
  // CHECK: %[[C0:.*]] = llvm.extractvalue %[[C]][0]
  // CHECK-NEXT: %[[C1:.*]] = llvm.extractvalue %[[C]][1]
  // CHECK: %[[PAIR:.*]] = vector.from_elements %[[C0]], %[[C1]] : vector<2xf32>
  // CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[PAIR]] : vector<2xf32> to vector<2xbf16>
  // CHECK-NEXT: %[[WORD:.*]] = llvm.bitcast %[[NARROW]] : vector<2xbf16> to i32
  // CHECK-NOT: nvvm.shfl
  // CHECK: llvm.insertvalue %[[WORD]], %{{.*}}[0]
  %a = "smem.convert"(%c) : (!c16) -> !a16
  return %a : !a16
}

// 8-bit types: a thread takes two pairs of 8 columns from each of two threads, and keeps its half of each.
// 7199 is shfl's mask for segments of 4 lanes.
!c32 = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
!a8 = !smem.fragment<tensor<64x32xf8E4M3FN>, #smem.a_fragment>
// CHECK-LABEL: func.func @bytes
func.func @bytes(%c: !c32) -> !a8 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[PLACE:.*]] = arith.remui %{{.*}}, %c4_i32 : i32
  // CHECK: %[[BIT:.*]] = arith.andi %[[PLACE]], %c2_i32 : i32
  // CHECK-NEXT: %[[UPPER:.*]] = arith.cmpi ne, %[[BIT]], %c0_i32 : i32
  // CHECK-NEXT: %[[SELECTOR:.*]] = arith.select %[[UPPER]], %c30258_i32, %c21520_i32 : i32
  // CHECK-NEXT: %[[ODD:.*]] = arith.remui %[[PLACE]], %c2_i32 : i32
  // CHECK-NEXT: %[[HOLDER:.*]] = arith.muli %[[ODD]], %c2_i32 : i32
  // CHECK: %[[FAR:.*]] = arith.shli %{{.*}}, %c16_i32 : i32
  // CHECK-NEXT: %[[BOTH:.*]] = arith.ori %{{.*}}, %[[FAR]] : i32
  // CHECK-NEXT: %[[TAKEN0:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[BOTH]], %[[HOLDER]], %c7199_i32 : i32 -> i32
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[HOLDER]], %c1_i32 : i32
  // CHECK-NEXT: %[[TAKEN1:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[BOTH]], %[[NEXT]], %c7199_i32 : i32 -> i32
  // CHECK-NEXT: nvvm.prmt <default> %[[SELECTOR]], %[[TAKEN0]], %[[TAKEN1]] : i32
  // CHECK-COUNT-6: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl
  %a = "smem.convert"(%c) : (!c32) -> !a8
  return %a : !a8
}

// tf32: a thread takes both elements of another thread, and keeps one of them.
!c8 = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!a32 = !smem.fragment<tensor<64x8xtf32>, #smem.a_fragment>
// CHECK-LABEL: func.func @tf32
func.func @tf32(%c: !c8) -> !a32 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[HOLDER:.*]] = arith.divui %{{.*}}, %c2_i32 : i32
  // CHECK-NEXT: %[[R0:.*]] = nvvm.convert.float.to.tf32 %{{.*}} {rnd = #nvvm.fp_rnd_mode<rna>}
  // CHECK-NEXT: %[[T0:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[R0]], %[[HOLDER]], %c7199_i32 : i32 -> i32
  // CHECK-NEXT: %[[R1:.*]] = nvvm.convert.float.to.tf32
  // CHECK-NEXT: %[[T1:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[R1]], %[[HOLDER]], %c7199_i32 : i32 -> i32
  // CHECK-NEXT: arith.select %{{.*}}, %[[T1]], %[[T0]] : i32
  // Columns 4 to 7 are held two threads further.
  // CHECK: arith.addi %{{.*}}, %c2_i32 : i32
  %a = "smem.convert"(%c) : (!c8) -> !a32
  return %a : !a32
}

// A fragment of f32 is rounded in place.
!af = !smem.fragment<tensor<64x8xf32>, #smem.a_fragment>
// CHECK: func.func @rounded(%[[A:.*]]: !llvm.struct<(i32, i32, i32, i32)>)
func.func @rounded(%a: !af) -> !a32 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[WORD:.*]] = llvm.extractvalue %[[A]][0]
  // CHECK: %[[FLOAT:.*]] = llvm.bitcast %[[WORD]] : i32 to f32
  // CHECK-NEXT: nvvm.convert.float.to.tf32 %[[FLOAT]] {rnd = #nvvm.fp_rnd_mode<rna>}
  // CHECK-NOT: nvvm.shfl
  // CHECK: return
  %r = "smem.convert"(%a) : (!af) -> !a32
  return %r : !a32
}

// b1: each thread puts its bits of 32 columns into a word; words are exchanged in the quad in two rounds.
!i = !smem.fragment<tensor<64x256xi32>, #smem.accumulator>
!a1 = !smem.fragment<tensor<64x256xi1>, #smem.a_fragment>
// CHECK: func.func @bits(%[[C:.*]]: !llvm.struct
func.func @bits(%c: !i) -> !a1 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[C0:.*]] = llvm.extractvalue %[[C]][0]
  // CHECK: %[[SHIFT:.*]] = arith.muli %{{.*}}, %c2_i32 : i32
  // CHECK: arith.andi %[[C0]], %c1_i32 : i32
  // Columns 8 and 24 further are bits 8 and 24 further.
  // CHECK: arith.shli %{{.*}}, %c8_i32 : i32
  // CHECK: %[[LAST:.*]] = arith.shli %{{.*}}, %c25_i32 : i32
  // CHECK: arith.ori %{{.*}}, %[[LAST]] : i32
  // CHECK: arith.shli %{{.*}}, %[[SHIFT]] : i32
  // CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c2_i32, %c7199_i32 : i32 -> i32
  // CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c2_i32, %c7199_i32 : i32 -> i32
  // CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %c1_i32, %c7199_i32 : i32 -> i32
  // CHECK-COUNT-9: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  %a = "smem.convert"(%c) : (!i) -> !a1
  return %a : !a1
}
