"""Contractions of linalg as kernels of the GEMM library."""
