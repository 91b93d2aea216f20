"""Kernels to call from Python; `gemm` is a GEMM."""
