// What keeps a kernel from being divided; it stays as it was, and says so if it asked for it.

// RUN: smem-opt %s --smem-warp-specialize --split-input-file | FileCheck %s
// RUN: smem-opt %s --smem-warp-specialize --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// The rows are the author's already.
// REMARK: remark: is not specialized: it has 256 threads; expected 128, one warpgroup
// CHECK-LABEL: func.func @two_warpgroups
// CHECK-NOT: smem.warp_specialize
func.func @two_warpgroups(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// Threads have other numbers in a partition.
// REMARK: remark: is not specialized: the gpu.thread_id at {{[0-9:]+}} depends on the threads of the CTA, of which a partition has others
// CHECK-LABEL: func.func @threads
// CHECK-NOT: smem.warp_specialize
func.func @threads(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %thread = gpu.thread_id x
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// One thread cannot transpose.
// REMARK: remark: is not specialized: the smem.copy at {{[0-9:]+}} transposes elements in registers (relayout); cp.async does not
// CHECK-LABEL: func.func @relayout
// CHECK-NOT: smem.warp_specialize
func.func @relayout(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) {relayout} : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// TMA copies rows to rows.
// REMARK: remark: is not specialized: the smem.copy at {{[0-9:]+}} exchanges rows and columns, which TMA does not
// CHECK-LABEL: func.func @permuted
// CHECK-NOT: smem.warp_specialize
func.func @permuted(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) {permutation = array<i64: 1, 0>} : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// TMA reads from a negative start on, a window has no such element.
// REMARK: remark: is not specialized: the smem.copy at {{[0-9:]+}} may begin before its array along dimension 1; assume it is >= 0
// CHECK-LABEL: func.func @may_be_negative
// CHECK-NOT: smem.warp_specialize
func.func @may_be_negative(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %before = arith.subi %at, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    %wb = memref.subview %a[0, %before] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wb, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// A tensor map is made of an argument.
// REMARK: remark: is not specialized: the smem.copy at {{[0-9:]+}} copies from no window of an argument, which TMA needs
// CHECK-LABEL: func.func @no_argument
// CHECK-NOT: smem.warp_specialize
func.func @no_argument(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %inner = memref.subview %a[0, 0] [64, 64] [1, 1] : !m to memref<64x64xbf16, strided<[?, 1]>>
    %wc = memref.subview %inner[0, 0] [64, 64] [1, 1] : memref<64x64xbf16, strided<[?, 1]>> to memref<64x64xbf16, strided<[?, 1]>>
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wc, %t) : (memref<64x64xbf16, strided<[?, 1]>>, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// A branch may leave a stage out.
// REMARK: remark: is not specialized: the smem.copy at {{[0-9:]+}} is in the scf.if at {{[0-9:]+}}; copy in each iteration
// CHECK-LABEL: func.func @in_a_branch
// CHECK-NOT: smem.warp_specialize
func.func @in_a_branch(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    %even = arith.cmpi eq, %i, %c0 : index
    scf.if %even {
      "smem.copy"(%wa, %t) : (!w, !t) -> ()
    }
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// The producer has no accumulators.
// REMARK: remark: is not specialized: the smem.copy at {{[0-9:]+}} begins where the memref.load at {{[0-9:]+}} says, which cannot be computed early
// CHECK-LABEL: func.func @computed_start
// CHECK-NOT: smem.warp_specialize
func.func @computed_start(%a: !m, %out: memref<64x64xf32>, %n: index, %p: memref<?xindex>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %from = memref.load %p[%i] : memref<?xindex>
    %next = arith.addi %from, %c1 : index
    memref.store %next, %p[%i] : memref<?xindex>
    %begin = arith.muli %from, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    %wb = memref.subview %a[0, %begin] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wb, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// There is nothing to load.
// REMARK: remark: is not specialized: no loop of it copies windows of arrays to tiles
// CHECK-LABEL: func.func @no_load
// CHECK-NOT: smem.warp_specialize
func.func @no_load(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %w0 = memref.subview %a[0, 0] [64, 64] [1, 1] : !m to memref<64x64xbf16, strided<[?, 1]>>
  "smem.copy"(%w0, %t) : (memref<64x64xbf16, strided<[?, 1]>>, !t) -> ()
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w

    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// More threads would add more often.
// REMARK: remark: is not specialized: the memref.atomic_rmw at {{[0-9:]+}} depends on the threads of the CTA, of which a partition has others
// CHECK-LABEL: func.func @atomic
// CHECK-NOT: smem.warp_specialize
func.func @atomic(%a: !m, %out: memref<64x64xf32>, %count: memref<1xi32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  %one = arith.constant 1 : i32
  %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32>) -> i32
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}
