"""Kernels that people call; `gemm` is a matrix product."""
