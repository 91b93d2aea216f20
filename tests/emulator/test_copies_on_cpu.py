"""Copies between matrices of random strides and alignments, as `call/copies.py` launches them."""

import ctypes
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from emulated import run_text

import mlir_smem
from mlir_smem.dialect import new_context
from mlir_smem.kernels.gemm.call import copies
from mlir_smem.kernels.gemm.generator.pad import build_pad
from mlir_smem.runtime import Matrix

WORDS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


@cache
def compile_pad(configs):
    with new_context():
        return mlir_smem.compile(str(build_pad(configs)), emit="nvvm")


class OnCpu:
    """Launches kernels on the emulator, on host memory."""

    launches = 0

    def __init__(self, configs, device):
        self._kernel = compile_pad(configs)

    def planned(self, matrices, grid):
        def start(addresses, numbers, stream):
            pairs = zip(matrices, addresses, strict=True)
            self._launch([replace(matrix, pointer=address) for matrix, address in pairs], grid)

        return SimpleNamespace(start=start), [matrix.pointer for matrix in matrices], ()

    def _launch(self, matrices, grid):
        OnCpu.launches += 1
        entry = self._kernel.manifest["kernels"][0]
        for matrix in matrices:
            steps = zip(matrix.shape, matrix.strides, strict=True)
            addresses = matrix.pointer, *(s * matrix.item_bytes for e, s in steps if e > 1)
            assert not any(address % matrix.item_bytes for address in addresses)
        arrays = tuple(map(array_at, matrices))
        options = {"block": entry["block"], "grid": grid[0], "shared": 0}
        run_text(self._kernel.bytecode, entry["entry"], arrays, **options)


def array_at(matrix):
    """The array in host memory that a matrix describes."""
    steps = zip(matrix.shape, matrix.strides, strict=True)
    size = (sum((e - 1) * s for e, s in steps) + 1) * matrix.item_bytes
    memory = (ctypes.c_char * size).from_address(matrix.pointer)
    strides = [stride * matrix.item_bytes for stride in matrix.strides]
    return np.ndarray(matrix.shape, WORDS[matrix.item_bytes], memory, 0, strides)


def matrix_in(memory, offset, shape, strides, size):
    """The matrix that begins at a byte of an array in host memory."""
    return Matrix(memory.ctypes.data + offset, shape, strides, size)


def random_matrix(random, shape, size):
    """A matrix of random strides and alignment in memory of random bytes, and that memory."""
    order = random.permutation(2)
    strides, extent = [0, 0], int(random.integers(1, 3))
    for dim in order:
        strides[-2 + dim] = extent
        extent = extent * shape[-2 + dim] + int(random.integers(0, 9))
    leading = []
    for count in shape[-3::-1]:
        leading.insert(0, extent)
        extent = extent * count + int(random.integers(0, 2)) * 3
    offset = int(random.integers(0, 5)) * size
    memory = random.integers(-128, 128, extent * size + offset).astype(np.int8)
    return memory, matrix_in(memory, offset, shape, (*leading, *strides), size)


@pytest.mark.parametrize("seed", range(24))
def test_copies_are_exact(seed, monkeypatch):
    monkeypatch.setattr(copies, "_kernel", OnCpu)
    random = np.random.default_rng(seed)
    size = int(random.choice([1, 2, 4]))
    pairs, memories = [], {}
    for _ in range(int(random.integers(1, 3))):
        rank = int(random.integers(2, 5))
        shape = *random.integers(1, 4, rank - 2).tolist(), *random.integers(1, 70, 2).tolist()
        sides = [random_matrix(random, shape, size) for _ in range(2)]
        memories |= {matrix.pointer: memory for memory, matrix in sides}
        pairs.append(tuple(matrix for _, matrix in sides))
    expected = [memories[target.pointer].copy() for _, target in pairs]
    for (source, target), memory in zip(pairs, expected, strict=True):
        offset = target.pointer - memories[target.pointer].ctypes.data
        moved = matrix_in(memory, offset, target.shape, target.strides, size)
        array_at(moved)[...] = array_at(source)
    copies.copy_matrices(pairs, 0, 0)
    for (_, target), memory in zip(pairs, expected, strict=True):
        # Bytes beside the elements are as they were.
        assert np.array_equal(memories[target.pointer], memory)


def test_leading_dimensions_are_joined(monkeypatch):
    monkeypatch.setattr(copies, "_kernel", OnCpu)
    monkeypatch.setattr(OnCpu, "launches", 0)
    source = np.arange(2 * 3 * 5 * 9, dtype=np.int16).reshape(2, 3, 5, 9)
    target = np.zeros((2, 3, 5, 16), np.int16)
    source_matrix = Matrix(source.ctypes.data, source.shape, (135, 45, 9, 1), 2)
    matrix_copies = copies.MatrixCopies(
        [(source_matrix, Matrix(target.ctypes.data, source.shape, (240, 80, 16, 1), 2))], 0
    )
    matrix_copies.start([(source.ctypes.data, target.ctypes.data)], 0)
    assert np.array_equal(target[..., :9], source) and not target[..., 9:].any()
    assert OnCpu.launches == 1
    # The same copies elsewhere.
    other, again = source[::-1].copy() + 1, np.zeros_like(target)
    matrix_copies.start([(other.ctypes.data, again.ctypes.data)], 0)
    assert np.array_equal(again[..., :9], other)
    assert OnCpu.launches == 2
