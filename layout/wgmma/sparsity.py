"""Sparse A: the compressed matrix, and the metadata as the threads of a kernel load it.

A sparse `wgmma` has twice the K of a dense one. Of each group of elements of a row of A, half are kept:
two of four, or one of two for tf32. The kept elements are the compressed A, (M, K / 2). A nibble of
metadata holds their indices within the group: the first in the low two bits, the second in the high two.
For tf32, an element counts as two halves.

The part of the metadata that each thread provides is not in the ISA's text; it was measured on an H200,
one nibble at a time. In all shapes below, M is a multiple of 64 and K one of a sparse instruction's.
"""

from __future__ import annotations

import numpy as np

from ..elements import Element
from ..elements import element as element_named
from ..fragments import WARPGROUP
from ..instruction import instruction_k
from .shapes import INSTRUCTION_M
from .types import SPARSE

#: Ratio of the K of a sparse to a dense `wgmma`: half of A's elements are kept (PTX ISA 9.7.15.6).
SPARSITY = 2

#: The nibble that keeps the first elements of a group; it is legal for every type.
_FIRST = 0b0100

#: Nibbles in the 32-bit word of one thread.
_PER_WORD = 8


def compress(matrix: np.ndarray, element: Element | str) -> tuple[np.ndarray, np.ndarray]:
    """Compress a matrix with enough zeros for a sparse `wgmma`.

    Args:
        matrix: [M, K].
        element: its type in shared memory, for example "bf16".

    Returns:
        The kept elements, [M, K / 2] of the matrix's dtype, and the metadata, int32[M / 64, words, 128]:
        the words that each thread of a warpgroup loads (see `selector`). A group with fewer nonzero
        elements than are kept keeps zeros.

    Raises:
        ValueError: if a group has too many nonzero elements, if M or K do not fit the instruction, or if
            there is no sparse `wgmma` of that type.

    Example:
        >>> matrix = prune(np.arange(64 * 32, dtype=np.float32).reshape(64, 32), "bf16")
        >>> values, words = compress(matrix, "bf16")
        >>> values.shape, words.shape
        ((64, 16), (1, 1, 128))
    """
    element = _sparse_element(element)
    groups = _groups(matrix, element)
    keeps = groups.shape[2] // SPARSITY
    counts = np.count_nonzero(groups, axis=2)
    if (counts > keeps).any():
        row, group = (int(i) for i in np.argwhere(counts > keeps)[0])
        first = group * groups.shape[2]
        raise ValueError(
            f"elements {first} to {first + groups.shape[2] - 1} of row {row} hold "
            f"{counts[row, group]} that are not zero; at most {keeps} of {groups.shape[2]} are kept "
            f"of {element} (layout.prune zeroes the smallest)"
        )
    indices = np.sort(np.argsort(groups == 0, axis=2, kind="stable")[:, :, :keeps], axis=2)
    values = np.take_along_axis(groups, indices, axis=2).reshape(len(matrix), -1)
    # An element of tf32 is two halves: index 0 is halves 0 and 1, index 1 is halves 2 and 3.
    first, second = (
        (indices[:, :, 0], indices[:, :, 1]) if keeps == 2 else _halves(indices[:, :, 0])
    )
    return values, pack((first | second << 2).astype(np.uint8), element)


def decompress(values: np.ndarray, words: np.ndarray, element: Element | str) -> np.ndarray:
    """Return the matrix, [M, K], of its compressed values, [M, K / 2], and metadata: inverts `compress`.

    Args:
        values: [M, K / 2].
        words: the metadata, int32[M / 64, words, 128].
        element: the element type, or its name.

    Raises:
        ValueError: if the shape of the metadata does not fit the values, or a nibble is undefined.

    Example:
        >>> matrix = prune(np.arange(64 * 32, dtype=np.float32).reshape(64, 32), "bf16")
        >>> np.array_equal(decompress(*compress(matrix, "bf16"), "bf16"), matrix)
        True
    """
    element = _sparse_element(element)
    if values.ndim != 2:
        raise ValueError(f"the values have the shape {list(values.shape)}; expected [M, K / 2]")
    rows, k = values.shape[0], values.shape[1] * SPARSITY
    nibbles = unpack(words, element, k)
    if nibbles.shape[0] != rows:
        raise ValueError(
            f"the metadata is that of {nibbles.shape[0]} rows, but the values have {rows}"
        )
    first, second = nibbles & 3, nibbles >> 2
    size = _group_size(element)
    legal = first < second if size == 4 else np.isin(nibbles, _nibbles_of_tf32())
    if not legal.all():
        row, group = (int(i) for i in np.argwhere(~legal)[0])
        raise ValueError(
            f"the metadata of elements {group * size} to {group * size + size - 1} of row {row} is "
            f"{nibbles[row, group]:#06b}, which is undefined for {element}"
        )
    indices = np.stack([first, second] if size == 4 else [first // 2], axis=2).astype(np.int64)
    matrix = np.zeros((*nibbles.shape, size), values.dtype)
    np.put_along_axis(matrix, indices, values.reshape(indices.shape), axis=2)
    return matrix.reshape(rows, k)


def prune(matrix: np.ndarray, element: Element | str) -> np.ndarray:
    """Return the matrix with all but the largest magnitudes of each group set to zero, for `compress`.

    Of equal magnitudes the first is kept; NaN counts as larger than any number.

    Args:
        matrix: [M, K].
        element: its type in shared memory, or the name of the type.

    Raises:
        ValueError: as `compress`, except for the number of nonzero elements.

    Example:
        >>> prune(np.tile(np.float32([1, 4, 3, 2]), (64, 8)), "bf16")[0, :4].tolist()
        [0.0, 4.0, 3.0, 0.0]
    """
    groups = _groups(matrix, _sparse_element(element))
    magnitude = np.abs(groups.astype(np.float64))
    magnitude[np.isnan(magnitude)] = np.inf
    order = np.argsort(-magnitude, axis=2, kind="stable")
    pruned = groups.copy()
    np.put_along_axis(pruned, order[:, :, groups.shape[2] // SPARSITY :], 0, axis=2)
    return pruned.reshape(matrix.shape)


def sparse_k(element: Element | str) -> int:
    """Return K of one sparse `wgmma`, in elements of the uncompressed matrix.

    Raises:
        ValueError: if there is no sparse `wgmma` of that type.
    """
    return instruction_k(_sparse_element(element)) * SPARSITY


def metadata_words(element: Element | str, k: int) -> int:
    """Return the words of metadata that each thread loads for 64 rows of A of that K.

    Raises:
        ValueError: if K is not a multiple of the instruction's.
    """
    element = _sparse_element(element)
    if k % sparse_k(element):
        raise ValueError(
            f"K is {k}, not a multiple of {sparse_k(element)}, that of a sparse wgmma of {element}"
        )
    return -(-k // sparse_k(element) // _selectors(element))


def selector(element: Element | str, instruction: int) -> tuple[int, int]:
    """Return (word, sparsity selector) of the metadata of an instruction.

    For 8-bit types an instruction reads the word of every thread. For the others it reads the words of
    two threads of every four, 0 and 1 or 2 and 3, according to the selector; two instructions thus share
    a word, and every word that a thread loads is used.

    Args:
        element: the element type of A.
        instruction: the K block of the instruction.
    """
    return divmod(instruction, _selectors(_sparse_element(element)))


def pack(nibbles: np.ndarray, element: Element | str) -> np.ndarray:
    """Return the metadata as threads load it, int32[M / 64, words, 128], of nibbles, uint8[M, groups].

    Unused halves of words are filled with legal nibbles.

    Raises:
        ValueError: if the nibbles do not fill whole instructions.
    """
    element = _sparse_element(element)
    rows, groups = nibbles.shape
    if rows % INSTRUCTION_M:
        raise ValueError(f"M is {rows}, not a multiple of {INSTRUCTION_M}")
    words = metadata_words(element, groups * _group_size(element))
    padded = np.full((rows, words * _groups_of_words(element)), _FIRST, np.uint32)
    padded[:, :groups] = nibbles
    blocks = padded.reshape(rows // INSTRUCTION_M, 4, 2, 8, words, *_word_axes(element))
    ordered = blocks.transpose(_by_thread(element)).reshape(-1, words, WARPGROUP, _PER_WORD)
    return np.bitwise_or.reduce(ordered << _SHIFTS, axis=3).view(np.int32)


def unpack(words: np.ndarray, element: Element | str, k: int) -> np.ndarray:
    """Return the nibbles, uint8[M, groups], of the metadata of a matrix of that K: inverts `pack`.

    Raises:
        ValueError: if the shape of the words does not fit K.
    """
    element = _sparse_element(element)
    count = metadata_words(element, k)
    if words.ndim != 3 or words.shape[1:] != (count, WARPGROUP):
        raise ValueError(
            f"the metadata has the shape {list(words.shape)}; expected [M / {INSTRUCTION_M}, {count}, "
            f"{WARPGROUP}] for K = {k} of {element}"
        )
    by_thread = _by_thread(element)
    nibbles = (words.astype(np.uint32)[..., None] >> _SHIFTS & 15).astype(np.uint8)
    extents = (len(words), 4, 2, 8, count, *_word_axes(element))
    blocks = nibbles.reshape([extents[axis] for axis in by_thread]).transpose(np.argsort(by_thread))
    return blocks.reshape(len(words) * INSTRUCTION_M, -1)[:, : k // _group_size(element)]


_SHIFTS = np.arange(0, 32, 4, dtype=np.uint32)

# Axes of the nibbles of 64 rows. A row is warp, half and lane / 4 (axes 1, 2, 3); a group of a row is the
# word (axis 4) and:
# - for 8-bit types, thread / 2 % 2 and one of eight groups (axes 5, 6); the half is thread % 2;
# - for others, the selector, thread % 2 and one of four groups (axes 5, 6, 7); the half is that of the
#   word.


def _word_axes(element: Element) -> tuple[int, ...]:
    return (2, 8) if element.bits == 8 else (2, 2, 4)


def _by_thread(element: Element) -> tuple[int, ...]:
    """Return the axes in the order block of 64 rows, word, thread, nibble."""
    return (0, 4, 1, 3, 5, 2, 6) if element.bits == 8 else (0, 4, 1, 3, 5, 6, 2, 7)


def _groups_of_words(element: Element) -> int:
    """Return the groups of one row whose nibbles are in one word of all threads."""
    return _selectors(element) * sparse_k(element) // _group_size(element)


def _selectors(element: Element) -> int:
    """Return the instructions that share a word."""
    return 1 if element.bits == 8 else 2


def _group_size(element: Element) -> int:
    """Return the elements of a group."""
    return 2 if element.bits == 32 else 4


def _halves(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return 2 * index, 2 * index + 1


def _nibbles_of_tf32() -> list[int]:
    first, second = _halves(np.arange(2))
    return list(first | second << 2)


def _groups(matrix: np.ndarray, element: Element) -> np.ndarray:
    """Return the matrix as [M, groups, elements of a group]."""
    if matrix.ndim != 2:
        raise ValueError(f"the matrix has the shape {list(matrix.shape)}; expected [M, K]")
    rows, k = matrix.shape
    if rows % INSTRUCTION_M:
        raise ValueError(f"M is {rows}, not a multiple of {INSTRUCTION_M}")
    metadata_words(element, k)  # raises for a K that does not fit
    return matrix.reshape(rows, -1, _group_size(element))


def _sparse_element(element: Element | str) -> Element:
    type_ = element if isinstance(element, Element) else element_named(element)
    if type_ not in SPARSE:
        names = ", ".join(map(str, SPARSE))
        raise ValueError(f"wgmma does not multiply {type_} sparse; expected one of {names}")
    return type_
