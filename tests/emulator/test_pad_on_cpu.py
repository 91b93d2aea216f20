"""The kernel of `kernels/gemm/generator/pad.py` on the emulator: any strides, to the byte."""

from functools import cache

import numpy as np
import pytest
from emulated import run_text

import mlir_smem
from mlir_smem.dialect import new_context
from mlir_smem.kernels.gemm.generator.config import ConfigError
from mlir_smem.kernels.gemm.generator.pad import (
    CopyConfig,
    build_pad,
    width_for,
    windows,
    word_bytes,
)

DTYPES = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}

#: Strides in words, for extents: ragged rows, columns that are contiguous, and neither.
STRIDES = [
    lambda rows, columns: (columns, 1),
    lambda rows, columns: (columns + 3, 1),
    lambda rows, columns: (1, rows),
    lambda rows, columns: (2 * columns + 1, 2),
]


@cache
def compile_pad(*copies):
    with new_context():
        text = str(build_pad(copies))
    return mlir_smem.compile(text, emit="nvvm")


def strided_matrix(rows, columns, word, strides, seed=0):
    """A matrix with these strides, of random words."""
    size = (rows - 1) * strides[0] + (columns - 1) * strides[1] + 1
    memory = np.random.default_rng(seed).integers(-128, 128, size).astype(DTYPES[word])
    by = tuple(stride * word for stride in strides)
    return np.lib.stride_tricks.as_strided(memory, (rows, columns), by)


def padded_matrix(rows, columns, word):
    """A matrix of 77, and the view of it without the padding of its rows."""
    unit = 16 // word
    memory = np.full((rows, -(-columns // unit) * unit), 77, DTYPES[word])
    return memory, memory[:, :columns]


def options(kernel, grid):
    entry = kernel.manifest["kernels"][0]
    return {"block": entry["block"], "grid": grid, "shared": entry["shared_bytes"]}


@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("extents", [(1, 1), (3, 129), (40, 33), (257, 7)], ids=str)
@pytest.mark.parametrize("word", DTYPES)
def test_every_word_is_copied(word, extents, strides):
    copy = CopyConfig(word, width_for(extents[1]))
    kernel = compile_pad(copy)
    x = strided_matrix(*extents, word, strides(*extents))
    memory, y = padded_matrix(*extents, word)
    run_text(
        kernel.bytecode, "pad", (x[None], y[None]), **options(kernel, windows(copy, 1, *extents))
    )
    assert np.array_equal(x, y)
    assert (memory[:, extents[1] :] == 77).all()


def test_rows_without_padding_are_written_between_their_neighbours():
    copy = CopyConfig(2, 32)
    kernel = compile_pad(copy)
    x = strided_matrix(40, 27, 2, (32, 1))
    memory = np.full((40, 50), 77, np.int16)
    run_text(
        kernel.bytecode,
        "pad",
        (x[None], memory[None, :, 9:36]),
        **options(kernel, windows(copy, 1, 40, 27)),
    )
    assert np.array_equal(memory[:, 9:36], x)
    assert (memory[:, :9] == 77).all() and (memory[:, 36:] == 77).all()


@pytest.mark.parametrize("words", [(2, 2), (1, 8), (4, 1)], ids=str)
def test_two_matrices_are_copied_by_one_launch(words):
    extents = (70, 45), (33, 130)
    copies = [
        CopyConfig(word, width_for(columns))
        for word, (_, columns) in zip(words, extents, strict=True)
    ]
    kernel = compile_pad(*copies)
    x, u = (strided_matrix(*e, w, (e[1], 1), w) for e, w in zip(extents, words, strict=True))
    (_, y), (_, v) = (padded_matrix(*e, w) for e, w in zip(extents, words, strict=True))
    grid = sum(windows(copy, 1, *shape) for copy, shape in zip(copies, extents, strict=True))
    run_text(
        kernel.bytecode,
        "pad_both",
        tuple(matrix[None] for matrix in (x, y, u, v)),
        **options(kernel, grid),
    )
    assert np.array_equal(x, y) and np.array_equal(u, v)


def test_a_batch_is_copied():
    copy = CopyConfig(2, 32)
    kernel = compile_pad(copy)
    x = np.random.default_rng(3).integers(-99, 99, (3, 70, 45)).astype(np.int16)
    y = np.zeros((3, 70, 48), np.int16)
    grid = windows(copy, *x.shape)
    run_text(kernel.bytecode, "pad", (x, y[..., :45]), **options(kernel, grid))
    assert np.array_equal(y[..., :45], x) and not y[..., 45:].any()


def test_it_starts_while_the_kernel_before_it_ends():
    assert compile_pad(CopyConfig(2, 32)).manifest["kernels"][0]["programmatic"]


@pytest.mark.parametrize(
    "row, addressed, word",
    [
        (2002, (0x1000, 2002), 2),
        (2004, (0x1000, 2004), 4),
        (2008, (0x1000, 2008), 8),
        (2016, (0x1000, 2016), 8),
        (2016, (0x1001, 2016), 1),
        (2016, (0x1000, 2016, 0x8004, 2016), 4),
    ],
)
def test_the_word_has_the_alignment_of_both_matrices(row, addressed, word):
    assert word_bytes(row, *addressed) == word


@pytest.mark.parametrize(
    "copies, message",
    [
        ([], "0 matrices are copied; expected 1 or 2"),
        ([CopyConfig(2, 8)] * 3, "3 matrices are copied; expected 1 or 2"),
        ([CopyConfig(16, 8)], "word is 16 bytes; expected 1, 2, 4 or 8"),
        ([CopyConfig(2, 64)], "width is 64 words; expected 8, 32 or 128"),
    ],
)
def test_illegal_copies_are_refused(copies, message):
    with new_context(), pytest.raises(ConfigError, match=message):
        build_pad(copies)
