// A module without tiles is not changed, even if it has unregistered ops.

// RUN: smem-opt %s --allow-unregistered-dialect -o %t.before
// RUN: smem-opt %s --allow-unregistered-dialect --smem-to-nvvm | diff %t.before -

func.func @host(%m: memref<64x64xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    "test.op"(%i) {smem.note = "an attribute of ours on an op of theirs"} : (index) -> ()
  }
  %v = memref.load %m[%c0, %c1] : memref<64x64xf32>
  return %v : f32
}

gpu.module @kernels {
  gpu.func @kernel(%x: memref<8xf32>) workgroup(%w: memref<8xf64, #gpu.address_space<workgroup>>) kernel {
    gpu.barrier
    gpu.return
  }
}
