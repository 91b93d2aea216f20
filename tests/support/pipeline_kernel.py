"""A kernel of two partitions: warp 0 fills the stages of a pipeline, warp 1 empties them.

Row i of the result is row i of the input in reverse. Each stage has a full and an empty mbarrier, whose
phases alternate each time the stage is used.
"""

STEPS, STAGES, LANES = 7, 3, 32

#: What both partitions compute in an iteration: the stage's first element, mbarriers and phase parity.
_STAGE = """%stage = arith.remui %i, %stages : index
        %slot = arith.muli %stage, %lanes : index
        %round = arith.divui %i, %stages : index
        %round32 = arith.index_cast %round : index to i32
        %parity = arith.andi %round32, %one : i32
        %fb = arith.muli %stage, %c8 : index
        %fa = arith.addi %base, %fb : index
        %fn = arith.index_cast %fa : index to i64
        %full = llvm.inttoptr %fn : i64 to !llvm.ptr<3>
        %es = arith.addi %stage, %stages : index
        %eb = arith.muli %es, %c8 : index
        %ea = arith.addi %base, %eb : index
        %en = arith.index_cast %ea : index to i64
        %empty = llvm.inttoptr %en : i64 to !llvm.ptr<3>"""

TEXT = f"""
!stages = memref<{STAGES * LANES}xi32, #gpu.address_space<workgroup>>
!flags = memref<{2 * STAGES}xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {{
  memref.global @data : !stages
  memref.global @flags : !flags
  gpu.func @pipeline(%A: memref<{STEPS}x{LANES}xi32> {{smem.name = "A"}},
                 %D: memref<{STEPS}x{LANES}xi32> {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: {2 * LANES}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %last = arith.constant {LANES - 1} : index
    %lanes = arith.constant {LANES} : index
    %stages = arith.constant {STAGES} : index
    %steps = arith.constant {STEPS} : index
    %both = arith.constant {2 * STAGES} : index
    %count = arith.constant {LANES} : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %data = memref.get_global @data : !stages
    %flags = memref.get_global @flags : !flags
    %base = memref.extract_aligned_pointer_as_index %flags : !flags -> index
    %thread = gpu.thread_id x
    %lane = arith.remui %thread, %lanes : index
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {{
      scf.for %i = %c0 to %both step %c1 {{
        %bytes = arith.muli %i, %c8 : index
        %at = arith.addi %base, %bytes : index
        %number = arith.index_cast %at : index to i64
        %flag = llvm.inttoptr %number : i64 to !llvm.ptr<3>
        nvvm.mbarrier.init %flag, %count : !llvm.ptr<3>, i32
      }}
    }}
    gpu.barrier
    %fills = arith.cmpi ult, %thread, %lanes : index
    scf.if %fills {{
      scf.for %i = %c0 to %steps step %c1 {{
        {_STAGE}
        %before = arith.xori %parity, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %before, %ticks : !llvm.ptr<3>, i32, i32
        %value = memref.load %A[%i, %lane] : memref<{STEPS}x{LANES}xi32>
        %to = arith.addi %slot, %lane : index
        memref.store %value, %data[%to] : !stages
        %token = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }}
    }} else {{
      %other = arith.subi %last, %lane : index
      scf.for %i = %c0 to %steps step %c1 {{
        {_STAGE}
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %from = arith.addi %slot, %other : index
        %value = memref.load %data[%from] : !stages
        memref.store %value, %D[%i, %lane] : memref<{STEPS}x{LANES}xi32>
        %token = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }}
    }}
    gpu.return
  }}
}}
"""
