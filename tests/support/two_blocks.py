"""Kernels of two thread blocks that store a matrix each."""

import numpy as np

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu

#: What kernels are given.
GIVEN = np.arange(64 * 16, dtype=np.float32).reshape(64, 16)


def result(function, **options):
    """Return what a kernel (A, D) makes of `GIVEN`: an array (2, 64, 16)."""
    kernel = sl.kernel("(64,16), (2,64,16)", sync="manual", **options)(function)
    compiled = kernel.compile(sl.f32, sl.f32, emit="nvvm")
    return run_on_cpu(compiled, None, {"A": GIVEN}, ["D"], grid=(2,))["D"]


def store(x, target):
    """Store a fragment as the result of the thread block."""
    sl.store(x, target[sl.block_id(0), :, :])


def number(index):
    """Return a fragment that holds an index."""
    return (sl.iota(0) * 0 + index).to(sl.f32)


def is_second():
    """Return whether the thread block is the second one."""
    return sl.block_id(0) > 0
