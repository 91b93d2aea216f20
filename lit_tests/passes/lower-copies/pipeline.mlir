// The mbarriers of a pipeline are adjacent: the full ones, then the empty ones. Stage and phase follow from the
// pipeline index. For a new mbarrier, a wait for parity 1 returns immediately.

// RUN: smem-opt %s --allow-unregistered-dialect --smem-lower-copies | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @alone
  // CHECK-SAME: (%[[STEP:.*]]: index)
  gpu.func @alone(%step: index) kernel attributes {known_block_size = array<i32: 128, 2, 1>} {
    // One thread initializes them: a full one counts producers, an empty one the 4 warps of each consumer.
    // CHECK: %[[BASE:.*]] = llvm.getelementptr %{{.*}}[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32{{.*}} : i32
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK-NEXT: %[[P0:.*]] = arith.constant 2 : i32
    // CHECK-NEXT: nvvm.mbarrier.init %[[BASE]], %[[P0]] : !llvm.ptr<3>, i32
    // CHECK-NEXT: %[[B1:.*]] = llvm.getelementptr %[[BASE]][8]
    // CHECK-NEXT: %[[P1:.*]] = arith.constant 2 : i32
    // CHECK-NEXT: nvvm.mbarrier.init %[[B1]], %[[P1]] : !llvm.ptr<3>, i32
    // CHECK: llvm.getelementptr %[[BASE]][16]
    // CHECK-NEXT: arith.constant 2 : i32
    // CHECK-NEXT: nvvm.mbarrier.init
    // CHECK-NEXT: %[[B3:.*]] = llvm.getelementptr %[[BASE]][24]
    // CHECK-NEXT: %[[C3:.*]] = arith.constant 12 : i32
    // CHECK-NEXT: nvvm.mbarrier.init %[[B3]], %[[C3]] : !llvm.ptr<3>, i32
    // CHECK: llvm.getelementptr %[[BASE]][32]
    // CHECK-NEXT: arith.constant 12 : i32
    // CHECK: llvm.getelementptr %[[BASE]][40]
    // CHECK-NEXT: arith.constant 12 : i32
    // CHECK-NEXT: nvvm.mbarrier.init
    // CHECK-NEXT: nvvm.fence.mbarrier.init
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.barrier
    %r = "smem.create_pipeline"() {offset = 1024 : i64, stages = 3 : i32, producers = 2 : i32, consumers = 3 : i32} : () -> !smem.pipeline

    // At index 0, the stage is empty if the phase before the first is complete: its parity is 1.
    // CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[STEP]] : index to i32
    // CHECK-NEXT: %[[N:.*]] = arith.constant 3 : i32
    // CHECK-NEXT: %[[STAGE:.*]] = arith.remui %[[I]], %[[N]] : i32
    // CHECK: %[[EMPTIES:.*]] = llvm.getelementptr %{{.*}}[1048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK-NEXT: %[[EIGHT:.*]] = arith.constant 8 : i32
    // CHECK-NEXT: %[[AT:.*]] = arith.muli %[[STAGE]], %[[EIGHT]] : i32
    // CHECK-NEXT: %[[EMPTY:.*]] = llvm.getelementptr %[[EMPTIES]][%[[AT]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    // CHECK-NEXT: %[[M:.*]] = arith.constant 3 : i32
    // CHECK-NEXT: %[[ROUND:.*]] = arith.divui %[[I]], %[[M]] : i32
    // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[ROUND]], %[[ONE]] : i32
    // CHECK-NEXT: %[[ONE2:.*]] = arith.constant 1 : i32
    // CHECK-NEXT: %[[BEFORE:.*]] = arith.xori %[[PARITY]], %[[ONE2]] : i32
    // CHECK-NEXT: %[[TICKS:.*]] = arith.constant 10000000 : i32
    // CHECK-NEXT: nvvm.mbarrier.try_wait.parity %[[EMPTY]], %[[BEFORE]], %[[TICKS]] : !llvm.ptr<3>, i32, i32
    // CHECK-NEXT: %[[SLOT:.*]] = arith.index_castui %[[STAGE]] : i32 to index
    // CHECK-NEXT: "test.use"(%[[SLOT]])
    %0 = "smem.producer_acquire"(%r, %step) : (!smem.pipeline, index) -> index
    "test.use"(%0) : (index) -> ()

    // CHECK: %[[FULLS:.*]] = llvm.getelementptr %{{.*}}[1024]
    // CHECK: %[[FULL:.*]] = llvm.getelementptr %[[FULLS]][%{{.*}}]
    // CHECK-NEXT: nvvm.mbarrier.arrive %[[FULL]] : !llvm.ptr<3>
    "smem.producer_commit"(%r, %step) : (!smem.pipeline, index) -> ()

    // CHECK: %[[FULLS:.*]] = llvm.getelementptr %{{.*}}[1024]
    // CHECK: %[[FULL:.*]] = llvm.getelementptr %[[FULLS]][%{{.*}}]
    // CHECK: %[[PARITY:.*]] = arith.andi
    // CHECK-NEXT: arith.constant 10000000
    // CHECK-NEXT: nvvm.mbarrier.try_wait.parity %[[FULL]], %[[PARITY]],
    // CHECK-NEXT: arith.index_castui
    %1 = "smem.consumer_wait"(%r, %step) : (!smem.pipeline, index) -> index

    // One thread arrives for its warp after all threads of the warp have read.
    // CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32_i32{{.*}} : i32
    // CHECK: nvvm.bar.warp.sync
    // CHECK: %[[EMPTIES:.*]] = llvm.getelementptr %{{.*}}[1048]
    // CHECK: %[[EMPTY:.*]] = llvm.getelementptr %[[EMPTIES]][%{{.*}}]
    // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK-NEXT: %[[SENDS:.*]] = arith.cmpi ult, %[[LANE]], %[[ONE]] : i32
    // CHECK-NEXT: scf.if %[[SENDS]] {
    // CHECK-NEXT: nvvm.mbarrier.arrive %[[EMPTY]] : !llvm.ptr<3>
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.return
    "smem.consumer_release"(%r, %step) : (!smem.pipeline, index) -> ()
    gpu.return
  }
}

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>

// CTAs that share loads wait for each other: at the start for the initialization of the mbarriers, and at the end
// because a CTA that has exited cannot receive data.
gpu.module @clusters {
  // A cluster whose CTAs share no loads.
  // CHECK-LABEL: gpu.func @nothing_shared
  gpu.func @nothing_shared() kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    // CHECK: arith.constant 4 : i32
    // CHECK: gpu.barrier
    // CHECK-NOT: nvvm.cluster
    // CHECK: gpu.return
    %r = "smem.create_pipeline"() {offset = 0 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    gpu.return
  }

  // CHECK-LABEL: gpu.func @along_x
  gpu.func @along_x(%m: !m, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    // 4 warps of 2 CTAs.
    // CHECK: arith.constant 8 : i32
    // CHECK-NEXT: nvvm.mbarrier.init
    // CHECK: }
    // CHECK-NEXT: nvvm.cluster.arrive {aligned}
    // CHECK-NEXT: nvvm.cluster.wait {aligned}
    // CHECK-NOT: gpu.barrier
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
    // The number of the lane is the rank of the CTA.
    // CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32_i32{{.*}} : i32
    // CHECK: %[[EMPTY:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i32)
    // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
    // CHECK-NEXT: %[[SENDS:.*]] = arith.cmpi ult, %[[LANE]], %[[TWO]] : i32
    // CHECK-NEXT: scf.if %[[SENDS]] {
    // CHECK-NEXT: %[[REMOTE:.*]] = nvvm.mapa %[[EMPTY]], %[[LANE]] : !llvm.ptr<3> -> !llvm.ptr<7>
    // CHECK-NEXT: nvvm.mbarrier.arrive %[[REMOTE]] : !llvm.ptr<7>
    // CHECK-NEXT: }
    "smem.consumer_release"(%r, %i) : (!smem.pipeline, index) -> ()
    // CHECK-NEXT: nvvm.cluster.arrive {aligned}
    // CHECK-NEXT: nvvm.cluster.wait {aligned}
    // CHECK-NEXT: gpu.return
    gpu.return
  }

  // The row of a cluster of two rows; rank = x + 4 * y. A second pipeline adds no second wait at the end.
  // CHECK-LABEL: gpu.func @row
  gpu.func @row(%m: !m, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 4, 2, 1>} {
    // CHECK: arith.constant 16 : i32
    // CHECK-NEXT: nvvm.mbarrier.init
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %q = "smem.create_pipeline"() {offset = 16400 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
    "smem.tma_load"(%m, %t, %q, %i, %i, %i) {multicast = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
    // CHECK: %[[SENDS:.*]] = arith.cmpi ult, %[[LANE:.*]], %c4_i32{{.*}} : i32
    // CHECK-NEXT: scf.if %[[SENDS]] {
    // CHECK-NEXT: %[[Y:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.y : i32
    // CHECK-NEXT: %[[WIDTH:.*]] = arith.constant 4 : i32
    // CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[Y]], %[[WIDTH]] : i32
    // CHECK-NEXT: %[[RANK:.*]] = arith.addi %[[LANE]], %[[ROW]] : i32
    // CHECK-NEXT: nvvm.mapa %{{.*}}, %[[RANK]]
    "smem.consumer_release"(%r, %i) : (!smem.pipeline, index) -> ()
    // CHECK: nvvm.cluster.arrive
    // CHECK-NEXT: nvvm.cluster.wait
    // CHECK-NEXT: gpu.return
    gpu.return
  }

  // The column of a cluster of two columns.
  // CHECK-LABEL: gpu.func @column
  gpu.func @column(%m: !m, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 4, 1>} {
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "y"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
    // CHECK: %[[SENDS:.*]] = arith.cmpi ult, %[[LANE:.*]], %c4_i32{{.*}} : i32
    // CHECK-NEXT: scf.if %[[SENDS]] {
    // CHECK-NEXT: %[[WIDTH:.*]] = arith.constant 2 : i32
    // CHECK-NEXT: %[[ABOVE:.*]] = arith.muli %[[LANE]], %[[WIDTH]] : i32
    // CHECK-NEXT: %[[X:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    // CHECK-NEXT: %[[RANK:.*]] = arith.addi %[[ABOVE]], %[[X]] : i32
    // CHECK-NEXT: nvvm.mapa %{{.*}}, %[[RANK]]
    "smem.consumer_release"(%r, %i) : (!smem.pipeline, index) -> ()
    gpu.return
  }

  // Row and column, 2 + 3 CTAs: lanes 0 and 1 take the row, lanes 2 to 4 the column without the CTA's own row.
  // CHECK-LABEL: gpu.func @row_and_column
  gpu.func @row_and_column(%m: !m, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 4, 1>} {
    // CHECK: arith.constant 20 : i32
    // CHECK-NEXT: nvvm.mbarrier.init
    %r = "smem.create_pipeline"() {offset = 16384 : i64, stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
    "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "y"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
    // CHECK: %[[SENDS:.*]] = arith.cmpi ult, %[[LANE:.*]], %c5_i32{{.*}} : i32
    // CHECK-NEXT: scf.if %[[SENDS]] {
    // CHECK-NEXT: %[[X:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    // CHECK-NEXT: %[[Y:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.y : i32
    // CHECK: %[[IN_ROW:.*]] = arith.cmpi ult, %[[LANE]], %c2_i32{{.*}} : i32
    // CHECK: %[[FURTHER:.*]] = arith.subi %[[LANE]], %c2_i32{{.*}} : i32
    // CHECK-NEXT: %[[PAST:.*]] = arith.cmpi uge, %[[FURTHER]], %[[Y]] : i32
    // CHECK: %[[SKIPPED:.*]] = arith.select %[[PAST]], %c1_i32{{.*}}, %c0_i32{{.*}} : i32
    // CHECK: %[[ROW:.*]] = arith.muli %[[Y]], %c2_i32{{.*}} : i32
    // CHECK-NEXT: %[[IN:.*]] = arith.addi %[[LANE]], %[[ROW]] : i32
    // CHECK-NEXT: %[[OTHER:.*]] = arith.addi %[[FURTHER]], %[[SKIPPED]] : i32
    // CHECK: %[[ABOVE:.*]] = arith.muli %[[OTHER]], %c2_i32{{.*}} : i32
    // CHECK-NEXT: %[[COLUMN:.*]] = arith.addi %[[ABOVE]], %[[X]] : i32
    // CHECK-NEXT: %[[RANK:.*]] = arith.select %[[IN_ROW]], %[[IN]], %[[COLUMN]] : i32
    // CHECK-NEXT: nvvm.mapa %{{.*}}, %[[RANK]]
    "smem.consumer_release"(%r, %i) : (!smem.pipeline, index) -> ()
    gpu.return
  }
}
