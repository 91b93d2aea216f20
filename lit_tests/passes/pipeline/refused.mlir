// What keeps loads from being early; the loop stays as it was, and says so if it asked for stages.

// RUN: smem-opt %s --smem-pipeline --split-input-file | FileCheck %s
// RUN: smem-opt %s --smem-pipeline --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// Without a load, what an iteration reads would be that of an earlier one.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} is in the scf.if at {{[0-9:]+}}; copy in each iteration
// CHECK-LABEL: func.func @in_a_branch
// CHECK-NOT: copy_async
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
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// The registers of a thread hold the elements meanwhile.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} transposes elements in registers (relayout); cp.async does not
// CHECK-LABEL: func.func @relayout
// CHECK-NOT: copy_async
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
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// The other part of the tile is not loaded.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} fills a part of a tile; allocate a tile of its shape
// CHECK-LABEL: func.func @a_part
// CHECK-NOT: copy_async
func.func @a_part(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !smem.tile<tensor<32x64xbf16>, #smem.auto>
    %wp = memref.subview %a[0, %at] [32, 64] [1, 1] : !m to memref<32x64xbf16, strided<[?, 1], offset: ?>>
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wp, %p) : (memref<32x64xbf16, strided<[?, 1], offset: ?>>, !smem.tile<tensor<32x64xbf16>, #smem.auto>) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// Two copies to one tile.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} fills a tile that the smem.copy at {{[0-9:]+}} also writes; copy to another one
// CHECK-LABEL: func.func @written_twice
// CHECK-NOT: copy_async
func.func @written_twice(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// The iteration reads what the one before has loaded.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} fills a tile that the smem.store at {{[0-9:]+}} also writes; copy to another one
// CHECK-LABEL: func.func @read_before
// CHECK-NOT: copy_async
func.func @read_before(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    "smem.store"(%x, %t) : (!c, !t) -> ()
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// The iteration reads what the one before has loaded.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} fills a tile that the smem.load at {{[0-9:]+}} reads before, from the last iteration; read it behind the copy
// CHECK-LABEL: func.func @read_before_the_copy
// CHECK-NOT: copy_async
func.func @read_before_the_copy(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %old = "smem.load"(%t) : (!t) -> !c
    "smem.store"(%old, %out) : (!c, memref<64x64xf32>) -> ()
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// The tile of the last iteration is read behind the loop.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} fills a tile that the smem.load at {{[0-9:]+}} takes outside of the loop; use another one there
// CHECK-LABEL: func.func @read_outside
// CHECK-NOT: copy_async
func.func @read_outside(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
  } {smem.stages = 3 : i64}
  %last = "smem.load"(%t) : (!t) -> !c
  "smem.store"(%last, %out) : (!c, memref<64x64xf32>) -> ()
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// An iteration may load what an earlier one has written.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} copies from an array that the kernel also writes
// CHECK-LABEL: func.func @written_array
// CHECK-NOT: copy_async
func.func @written_array(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
    "smem.store"(%x, %wa) : (!c, !w) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// The start follows from what the kernel writes.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} begins where the memref.load at {{[0-9:]+}} says, which cannot be computed early
// CHECK-LABEL: func.func @computed_start
// CHECK-NOT: copy_async
func.func @computed_start(%a: !m, %out: memref<64x64xf32>, %p: memref<?xindex>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// No memory for more.
// REMARK: remark: stays as it was: 40 stages do not fit: a stage takes 8192 = 8192 bytes, other tiles 0, and a CTA has 232448; 28 would fit
// CHECK-LABEL: func.func @too_many_stages
// CHECK-NOT: copy_async
func.func @too_many_stages(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
  } {smem.stages = 40 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// Nothing is loaded.
// REMARK: remark: stays as it was: it copies no window of an array to a tile
// CHECK-LABEL: func.func @no_load
// CHECK-NOT: copy_async
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
  } {smem.stages = 3 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// affine.load reads memory, which the kernel writes here.
// REMARK: remark: stays as it was: the smem.copy at {{[0-9:]+}} begins where the affine.load at {{[0-9:]+}} says, which cannot be computed early
// CHECK-LABEL: func.func @from_a_written_array
// CHECK-NOT: copy_async
func.func @from_a_written_array(%a: !m, %p: memref<?xindex>, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = affine.load %p[0] : memref<?xindex>
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    memref.store %c0, %p[%c0] : memref<?xindex>
    scf.yield %y : !c
  } {smem.stages = 4 : i64}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}
