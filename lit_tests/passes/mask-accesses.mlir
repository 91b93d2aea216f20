// Windows that may be outside of their array get the extents that the array has; elements get a branch.

// RUN: smem-opt %s --smem-mask-accesses --split-input-file | FileCheck %s
// RUN: smem-opt %s --smem-mask-accesses='explain=true' --split-input-file --verify-diagnostics

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
!w = memref<64x32xf32, strided<[32, 1], offset: ?>>

// CHECK-LABEL: gpu.func @rows
// CHECK-SAME: %[[A:.*]]: memref<?x32xf32>
// CHECK: %[[EXTENT:.*]] = memref.dim %[[A]]
// CHECK: %[[ROOM:.*]] = arith.subi %[[EXTENT]], %[[ROW:.*]] : index
// CHECK: %[[LEAST:.*]] = arith.minsi %[[ROOM]], %{{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[LEAST]], %{{.*}} : index
// CHECK: %[[WINDOW:.*]] = memref.subview %[[A]][%[[ROW]], 0] [%[[COUNT]], 32] [1, 1] : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
// CHECK: "smem.store"(%{{.*}}, %[[WINDOW]])
gpu.module @kernels {
  gpu.func @rows(%a: memref<?x32xf32> {smem.name = "A", smem.shape = ["M", 32]}, %zero: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, smem.grid = [["M", 64]]} {
    %x = "smem.fill"(%zero) : (f32) -> !c
    %c64 = arith.constant 64 : index
    %id = gpu.block_id x
    %row = arith.muli %id, %c64 : index
    %w = memref.subview %a[%row, 0] [64, 32] [1, 1] : memref<?x32xf32> to !w
    // expected-remark@+1 {{is masked: it is not known that the elements of A are within M}}
    "smem.store"(%x, %w) : (!c, !w) -> ()
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
!w = memref<64x32xf32, strided<[32, 1], offset: ?>>

// CHECK-LABEL: gpu.func @multiples
// CHECK-NOT: memref.dim
gpu.module @kernels {
  gpu.func @multiples(%a: memref<?x32xf32> {smem.name = "A", smem.shape = ["M", 32]}, %zero: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, smem.grid = [["M", 64]], smem.multiples = {M = 64}} {
    %x = "smem.fill"(%zero) : (f32) -> !c
    %c64 = arith.constant 64 : index
    %id = gpu.block_id x
    %row = arith.muli %id, %c64 : index
    %w = memref.subview %a[%row, 0] [64, 32] [1, 1] : memref<?x32xf32> to !w
    "smem.store"(%x, %w) : (!c, !w) -> ()
    gpu.return
  }
}

// -----

!s = !smem.fragment<tensor<64xf32>, #smem.slice<1>>
!t = !smem.tile<tensor<64x32xf32>, #smem.auto>
!v = memref<64xf32, strided<[?], offset: ?>>
!w = memref<64x32xf32, strided<[?, 1]>>
!u = memref<32x64xf32, strided<[1, ?]>>

// An index of unknown sign: a window that begins before the array has no elements. One that drops a
// dimension is empty outside of it. A transposed window has its extents exchanged.
// CHECK-LABEL: gpu.func @dropped
// CHECK-SAME: %[[A:.*]]: memref<?x?xf32>, %[[I:.*]]: index
// CHECK: %[[COUNT:.*]] = arith.maxsi
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %{{.*}} : index
// CHECK: %[[ROWS:.*]] = arith.select %[[INSIDE]], %[[COUNT]], %{{.*}} : index
// CHECK: %[[COLUMN:.*]] = arith.cmpi ult, %[[I]], %{{.*}} : index
// CHECK: %[[BOTH:.*]] = arith.select %[[COLUMN]], %[[ROWS]], %{{.*}} : index
// CHECK: memref.subview %[[A]][%[[I]], %[[I]]] [%[[BOTH]], 1] [1, 1] : {{.*}} to memref<?xf32, strided<[?], offset: ?>>
// CHECK: memref.subview %[[A]][0, 0] [%{{.*}}, %{{.*}}] [1, 1]
// CHECK-NEXT: memref.transpose {{.*}} : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[1, ?]>>
// CHECK-NEXT: "smem.copy_async"
gpu.module @kernels {
  gpu.func @dropped(%a: memref<?x?xf32>, %i: index, %zero: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = memref.subview %a[%i, %i] [64, 1] [1, 1] : memref<?x?xf32> to !v
    // expected-remark@+1 {{is masked: it is not known that the elements of argument 0 are within dimension 0 of argument 0 and dimension 1 of argument 0}}
    %s = "smem.load"(%v) : (!v) -> !s
    %t = "smem.alloc"() : () -> !t
    %w = memref.subview %a[0, 0] [64, 32] [1, 1] : memref<?x?xf32> to !w
    %u = memref.transpose %w (r, c) -> (c, r) : !w to !u
    // expected-remark@+1 {{is masked}}
    "smem.copy_async"(%u, %t) {permutation = array<i64: 1, 0>} : (!u, !t) -> ()
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @elements
// CHECK-SAME: %[[A:.*]]: memref<?xui8>, %[[I:.*]]: index
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %{{.*}} : index
// CHECK: %[[X:.*]] = scf.if %[[INSIDE]] -> (ui8) {
// CHECK-NEXT: memref.load %[[A]][%[[I]]]
// CHECK: } else {
// CHECK: arith.constant 0 : i8
// CHECK-NEXT: builtin.unrealized_conversion_cast {{.*}} : i8 to ui8
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: memref.store %[[X]], %[[A]][%[[I]]]
gpu.module @kernels {
  gpu.func @elements(%a: memref<?xui8>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-remark@+1 {{is masked}}
    %x = memref.load %a[%i] : memref<?xui8>
    // expected-remark@+1 {{is masked}}
    memref.store %x, %a[%i] : memref<?xui8>
    gpu.return
  }
}

// -----

// Conditions, loops and static extents show what is within an array.
// CHECK-LABEL: gpu.func @known
// CHECK-NOT: arith.cmpi ult
// CHECK: gpu.return
gpu.module @kernels {
  gpu.func @known(%a: memref<?xf32>, %b: memref<8xf32>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    scf.for %k = %c0 to %n step %c1 {
      %x = memref.load %a[%k] : memref<?xf32>
      %j = arith.minui %k, %c7 : index
      memref.store %x, %b[%j] : memref<8xf32>
    }
    %positive = arith.cmpi sge, %i, %c0 : index
    %below = arith.cmpi slt, %i, %n : index
    %inside = arith.andi %positive, %below : i1
    scf.if %inside {
      %x = memref.load %a[%i] : memref<?xf32>
      memref.store %x, %b[%c7] : memref<8xf32>
    }
    gpu.return
  }
}
