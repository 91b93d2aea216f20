"""mlir-smem: tiles in GPU shared memory for MLIR."""
