// Warpgroups that reduce together wait for each other, so all of them must execute the op.

// RUN: smem-opt %s --split-input-file --smem-check-async --verify-diagnostics

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

gpu.module @m {
  gpu.func @uniform(%A: memref<64x64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %block = gpu.block_id x
    %first = arith.cmpi eq, %block, %c0 : index
    %a = "smem.load"(%A) : (memref<64x64xf32>) -> !c
    scf.for %i = %c0 to %n step %c1 {
      scf.if %first {
        %r = "smem.reduce"(%a) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
      }
    }
    scf.index_switch %block
    case 0 {
      %r = "smem.reduce"(%a) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
      scf.yield
    }
    default {
    }
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

gpu.module @m {
  gpu.func @one_warpgroup(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %first = arith.cmpi ult, %thread, %c128 : index
    %a = "smem.load"(%A) : (memref<64x64xf32>) -> !c
    scf.if %first {
      // expected-remark@+1 {{cannot prove that 2 warpgroups execute it together: the 'scf.if' at }}
      %r = "smem.reduce"(%a) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
      // One warpgroup reduces on its own.
      %s = "smem.reduce"(%a) {op = "add", axis = 1 : i32} : (!c) -> !r
    }
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

gpu.module @m {
  gpu.func @several_blocks(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %first = arith.cmpi ult, %thread, %c128 : index
    %a = "smem.load"(%A) : (memref<64x64xf32>) -> !c
    // All threads execute the first block.
    %q = "smem.reduce"(%a) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
    cf.cond_br %first, ^bb1, ^bb2
  ^bb1:
    // expected-remark@+1 {{cannot prove that 2 warpgroups execute it together: it is not in the first block of the 'gpu.func' at }}
    %r = "smem.reduce"(%a) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
    cf.br ^bb2
  ^bb2:
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

gpu.module @m {
  gpu.func @one_case(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %warpgroup = arith.divui %thread, %c128 : index
    %a = "smem.load"(%A) : (memref<64x64xf32>) -> !c
    scf.index_switch %warpgroup
    case 0 {
      // expected-remark@+1 {{cannot prove that 2 warpgroups execute it together: the 'scf.index_switch' at }}
      %r = "smem.reduce"(%a) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
      scf.yield
    }
    default {
    }
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

gpu.module @m {
  gpu.func @some_threads(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %warpgroup = arith.divui %thread, %c128 : index
    %first = arith.cmpi eq, %warpgroup, %c0 : index
    %half = arith.cmpi ult, %thread, %c64 : index
    %a = "smem.load"(%A) : (memref<64x64xf32>) -> !c
    scf.if %first {
      %r = "smem.reduce"(%a) {op = "add", axis = 1 : i32} : (!c) -> !r
    }
    scf.if %half {
      // expected-remark@+1 {{cannot prove that the threads of a warpgroup execute it together: the 'scf.if' at }}
      %r = "smem.reduce"(%a) {op = "add", axis = 1 : i32} : (!c) -> !r
    }
    gpu.return
  }
}
