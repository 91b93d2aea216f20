"""Sparse A: decompression inverts compression, and threads load the metadata that the hardware reads."""

import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mlir_smem.layout import compress, decompress, element, prune
from mlir_smem.layout.wgmma import SPARSE, metadata_words, selector, sparse_k
from mlir_smem.layout.wgmma.sparsity import pack, unpack

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
}
SPARSE_K = {"f16": 32, "bf16": 32, "tf32": 16, "e4m3": 64, "e5m2": 64, "s8": 64, "u8": 64}

every_type = pytest.mark.parametrize("name", DTYPES)
element_types = st.sampled_from(list(DTYPES))


def group(name):
    return 2 if name == "tf32" else 4


@st.composite
def matrices(draw):
    """(type, a matrix of it): M of 64 or 128, K of one to five instructions, with or without zeros."""
    name = draw(element_types)
    shape = (64 * draw(st.integers(1, 2)), SPARSE_K[name] * draw(st.integers(1, 5)))
    seed, zeros = draw(st.integers(0, 1 << 32)), draw(st.sampled_from([0.0, 0.4, 0.8, 1.0]))
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 100, shape) if name == "u8" else rng.integers(-100, 100, shape)
    return name, np.where(rng.random(shape) < zeros, 0, numbers).astype(DTYPES[name])


def by_the_rule(name, words, k):
    """The nibble of each row and group, thread by thread, as measured."""
    nibbles = {}
    for instruction in range(k // SPARSE_K[name]):
        for t in range(128):
            row = 16 * (t // 32) + t % 32 // 4
            if element(name).bits == 8:
                word, c = words[instruction, t], t % 4
                for i in range(8):
                    index = row + 8 * (c % 2), 16 * instruction + 8 * (c // 2) + i
                    nibbles[index] = int(word) >> 4 * i & 15
            elif t % 4 // 2 == instruction % 2:
                word, q = words[instruction // 2, t], t % 2
                for i in range(8):
                    index = row + 8 * (i // 4), 8 * instruction + 4 * q + i % 4
                    nibbles[index] = int(word) >> 4 * i & 15
    return nibbles


@given(matrices())
def test_what_is_compressed_comes_back(matrix):
    name, dense = matrix
    pruned = prune(dense, name)
    values, words = compress(pruned, name)
    assert values.shape == (dense.shape[0], dense.shape[1] // 2)
    assert values.dtype == dense.dtype
    assert words.dtype == np.int32
    assert (decompress(values, words, name) == pruned).all()


@given(matrices())
def test_pruning_keeps_the_largest(matrix):
    name, dense = matrix
    pruned = prune(dense, name)
    assert ((pruned == dense) | (pruned == 0)).all()
    before, after = (
        np.sort(np.abs(m.astype(np.float64)).reshape(-1, group(name)), axis=1)
        for m in (dense, pruned)
    )
    half = group(name) // 2
    assert (after[:, half:] == before[:, half:]).all()
    assert (after[:, :half] == 0).all()


@given(matrices())
def test_what_has_enough_zeros_is_not_pruned(matrix):
    name, dense = matrix
    pruned = prune(dense, name)
    assert (prune(pruned, name) == pruned).all()


@given(matrices())
def test_each_thread_gives_the_metadata_of_its_rows(matrix):
    name, dense = matrix
    pruned = prune(dense, name)
    values, words = compress(pruned, name)
    size = group(name)
    for block in range(len(dense) // 64):
        nibbles = by_the_rule(name, words[block], dense.shape[1])
        assert len(nibbles) == 64 * dense.shape[1] // size
        for (row, index), nibble in nibbles.items():
            first, second = nibble & 3, nibble >> 2
            assert first < second
            positions = [first, second] if size == 4 else [{0b0100: 0, 0b1110: 1}[nibble]]
            whole = pruned[64 * block + row, index * size : (index + 1) * size]
            zeros = np.delete(whole, positions)
            assert (zeros == 0).all()
            have = values[64 * block + row, index * size // 2 : (index + 1) * size // 2]
            assert (whole[positions] == have).all()


@given(st.data(), element_types, st.integers(1, 2), st.integers(1, 5))
def test_words_and_nibbles_are_inverse(data, name, blocks, instructions):
    shape = (64 * blocks, instructions * SPARSE_K[name] // group(name))
    nibbles = data.draw(arrays.arrays(np.uint8, shape, elements=st.integers(0, 15)))
    words = pack(nibbles, name)
    assert (unpack(words, name, instructions * SPARSE_K[name]) == nibbles).all()


@every_type
def test_every_word_is_used(name):
    k = 4 * SPARSE_K[name]
    assert metadata_words(name, k) == (4 if element(name).bits == 8 else 2)
    nibbles = np.full((64, k // group(name)), 15, np.uint8)
    assert (pack(nibbles, name) == -1).all()


@every_type
def test_instructions_share_words(name):
    places = [selector(name, i) for i in range(4)]
    assert sparse_k(name) == SPARSE_K[name]
    if element(name).bits == 8:
        assert places == [(0, 0), (1, 0), (2, 0), (3, 0)]
    else:
        assert places == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("name", ["bf16", "tf32"])
def test_the_half_of_a_word_that_no_instruction_uses_is_legal(name):
    matrix = np.ones((64, 3 * SPARSE_K[name]), DTYPES[name])
    matrix[:, ::2] = 0
    _, words = compress(prune(matrix, name), name)
    assert words.shape == (1, 2, 128)
    unused = words[0, 1].reshape(32, 4)[:, 2:]
    assert (unused == 0x4444_4444).all()
    assert (words[0, 1].reshape(32, 4)[:, :2] != 0x4444_4444).all()


def test_a_matrix_by_hand():
    matrix = np.zeros((64, 32), np.float16)
    # Row 9 is the second half of warp 0; its last group is that of threads 5 (selector 0), bits 28-31.
    matrix[9, 29:31] = 5, 7
    values, words = compress(matrix, "f16")
    assert values[9].tolist() == [0] * 14 + [5, 7]
    assert words.view(np.uint32)[0, 0, 5] == 0x9444_4444
    assert set(np.delete(words[0, 0], 5).tolist()) == {0x4444_4444}


def test_nan_and_infinity_are_kept():
    matrix = np.zeros((64, 16), np.float32)
    matrix[0, :4] = np.nan, 1e30, -np.inf, 1
    values, words = compress(prune(matrix, "tf32"), "tf32")
    assert np.isnan(values[0, 0]) and values[0, 1] == -np.inf
    assert np.isnan(decompress(values, words, "tf32")[0, 0])


def test_the_smallest_integer_is_the_largest_magnitude():
    matrix = np.zeros((64, 64), np.int8)
    matrix[3, :4] = 127, -128, 126, 127
    assert prune(matrix, "s8")[3, :4].tolist() == [127, -128, 0, 0]


# Refusals.


def dense(*shape):
    return np.ones(shape, np.float32)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: compress(dense(64, 32), "bf16"),
            "elements 0 to 3 of row 0 hold 4 that are not zero; at most 2 of 4 are kept of bf16 "
            "(layout.prune zeroes the smallest)",
        ),
        (
            lambda: compress(np.arange(16) * (np.arange(64)[:, None] == 5), "tf32"),
            "elements 2 to 3 of row 5 hold 2 that are not zero; at most 1 of 2 are kept of tf32",
        ),
        (lambda: compress(dense(64), "bf16"), "the matrix has the shape [64]; expected [M, K]"),
        (lambda: prune(dense(96, 32), "bf16"), "M is 96, not a multiple of 64"),
        (
            lambda: prune(dense(64, 96), "s8"),
            "K is 96, not a multiple of 64, that of a sparse wgmma of s8",
        ),
        (
            lambda: compress(dense(64, 512), "b1"),
            "wgmma does not multiply b1 sparse; expected one of f16, bf16, tf32, e4m3, e5m2, s8, u8",
        ),
        (lambda: prune(dense(64, 32), "f64"), "unknown element type 'f64'"),
        (lambda: pack(np.zeros((32, 8), np.uint8), "f16"), "M is 32, not a multiple of 64"),
        (
            lambda: decompress(dense(64), np.zeros((1, 1, 128), np.uint32), "f16"),
            "the values have the shape [64]; expected [M, K / 2]",
        ),
        (
            lambda: decompress(dense(64, 16), np.zeros((1, 2, 128), np.uint32), "f16"),
            "the metadata has the shape [1, 2, 128]; expected [M / 64, 1, 128] for K = 32 of f16",
        ),
        (
            lambda: decompress(dense(64, 16), np.full((2, 1, 128), 0x4444_4444, np.uint32), "f16"),
            "the metadata is that of 128 rows, but the values have 64",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


@pytest.mark.parametrize("name, legal", [("f16", {4, 8, 12, 9, 13, 14}), ("tf32", {4, 14})])
@pytest.mark.parametrize("nibble", range(16))
def test_undefined_metadata(name, legal, nibble):
    nibbles = np.full((64, 8), 4, np.uint8)
    nibbles[10, 3] = nibble
    values = dense(64, SPARSE_K[name] // 2)
    if nibble in legal:
        decompressed = decompress(values, pack(nibbles, name), name)
        assert np.count_nonzero(decompressed) == values.size
        return
    size = group(name)
    message = (
        f"the metadata of elements {3 * size} to {3 * size + size - 1} of row 10 is {nibble:#06b}, "
        f"which is undefined for {name}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        decompress(values, pack(nibbles, name), name)


def test_every_type_but_b1_has_a_sparse_instruction():
    assert {element_type.name for element_type in SPARSE} == set(DTYPES)
