// Vectors in workgroup memory, and an element of a vector at a run-time position. The conversion to LLVM knows the memory space.

// RUN: smem-compile %s --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=STDERR
// RUN: FileCheck %s < %t.ptx

// STDERR-NOT: error
// STDERR: kernel move

// CHECK: st.shared.v4
// CHECK: ld.shared
gpu.module @kernels {
  memref.global "private" @memory : memref<1024xf32, #gpu.address_space<workgroup>>
  gpu.func @move(%A: memref<1024xf32>, %B: memref<256xf32>, %n: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c4 = arith.constant 4 : index
    %x = gpu.thread_id x
    %at = arith.muli %x, %c4 : index
    %memory = memref.get_global @memory : memref<1024xf32, #gpu.address_space<workgroup>>
    %v = vector.load %A[%at] : memref<1024xf32>, vector<4xf32>
    vector.store %v, %memory[%at] : memref<1024xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    gpu.barrier
    %from = arith.xori %at, %c4 : index
    %w = vector.load %memory[%from] : memref<1024xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    %i = arith.remui %n, %c4 : index
    %e = vector.extract %w[%i] : f32 from vector<4xf32>
    memref.store %e, %B[%x] : memref<256xf32>
    gpu.return
  }
}
