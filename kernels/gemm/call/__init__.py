"""Calls of GEMM kernels on arrays: a kernel is generated and compiled when needed, then launched."""
