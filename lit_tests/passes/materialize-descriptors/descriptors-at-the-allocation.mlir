// At the alloc of a tile, its encoded address, (address >> 4) & 0x3fff (the ISA's matrix-descriptor-encode), is OR'd
// with one constant. The constants are derived in canonical/.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!a = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

gpu.module @kernels {
  // CHECK: llvm.mlir.global external @__smem_dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: gpu.func @one_mma
  gpu.func @one_mma() kernel {
    // CHECK: %[[MEMORY:.*]] = llvm.mlir.addressof @__smem_dynamic : !llvm.ptr<3>
    // CHECK-NEXT: %[[TILE:.*]] = llvm.getelementptr %[[MEMORY]][16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK-NEXT: %[[ADDRESS:.*]] = llvm.ptrtoint %[[TILE]] : !llvm.ptr<3> to i64
    // CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : i64
    // CHECK-NEXT: %[[UNITS:.*]] = arith.shrui %[[ADDRESS]], %[[C4]] : i64
    // CHECK-NEXT: %[[MASK:.*]] = arith.constant 16383 : i64
    // CHECK-NEXT: %[[START:.*]] = arith.andi %[[UNITS]], %[[MASK]] : i64
    // CHECK-NEXT: %[[BITS:.*]] = arith.constant 4611686293305360384 : i64
    // CHECK-NEXT: %[[A_BITS:.*]] = arith.ori %[[START]], %[[BITS]] : i64
    // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
    // CHECK: %[[B_BITS:.*]] = arith.ori
    // CHECK-NEXT: %[[B:.*]] = llvm.inline_asm "", "=l,0" %[[B_BITS]]
    // CHECK: "smem.mma_desc"(%[[A]], %[[B]]) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128, 256, 384>} : (i64, i64) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
    %a = "smem.alloc"() {offset = 16384 : i64} : () -> !a
    %b = "smem.alloc"() {offset = 0 : i64} : () -> !a
    %d = "smem.mma"(%a, %b) : (!a, !a) -> !d
    gpu.return
  }

  // Two mma of the same operands share their descriptors.
  // CHECK-LABEL: gpu.func @two_mma
  gpu.func @two_mma() kernel {
    // CHECK: %[[A_BITS:.*]] = arith.ori
    // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
    // CHECK: %[[B_BITS:.*]] = arith.ori
    // CHECK-NEXT: %[[B:.*]] = llvm.inline_asm "", "=l,0" %[[B_BITS]]
    // CHECK-NOT: arith.ori
    // CHECK: %[[D:.*]] = "smem.mma_desc"(%[[A]], %[[B]]) {
    // CHECK: "smem.mma_desc"(%[[A]], %[[B]], %[[D]]) {
    %a = "smem.alloc"() {offset = 16384 : i64} : () -> !a
    %b = "smem.alloc"() {offset = 0 : i64} : () -> !a
    %d = "smem.mma"(%a, %b) : (!a, !a) -> !d
    %e = "smem.mma"(%a, %b, %d) : (!a, !a, !d) -> !d
    gpu.return
  }
}
