"""Copies of matrices between any strides and alignments, by the kernel of `generator/pad.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from ....dialect import new_context
from ....runtime import Kernel, Matrix, cached_compile
from ....runtime.plans import LaunchPlan
from ..generator.pad import CopyConfig, build_pad, width_for, windows, word_bytes
from .operands import matrix_at

#: Bytes of two matrices that are copied by one launch at most. It copies both by the smaller word, which
#: costs less than a launch only while neither fills the GPU.
_SHARED_BYTES = 4 << 20


class _CopyPart(NamedTuple):
    """Matrices (L, rows, words) that one launch can copy.

    Attributes:
        source, target: in elements.
        word: bytes of the largest word that fits both.
        is_divisible: whether a smaller word fits, too.
    """

    source: Matrix
    target: Matrix
    word: int
    is_divisible: bool

    def in_words(self, word: int) -> tuple[Matrix, Matrix]:
        """Return the matrices with words as their elements."""
        if not self.is_divisible:
            return self.source, self.target
        return _in_words(self.source, word), _in_words(self.target, word)


class _PartOffset(NamedTuple):
    """The offset of a part: the number of its pair, and bytes from the begins of source and target."""

    pair: int
    source: int
    target: int


class MatrixCopies:
    """Copies of matrices (..., rows, columns) to others of the same shape and size of elements.

    Their addresses may change between starts, but not whether these are multiples of 16 bytes.

    Args:
        pairs: sources and targets; a launch copies two if they are small.
        device: the number of the GPU.
    """

    def __init__(self, pairs: Sequence[tuple[Matrix, Matrix]], device: int) -> None:
        self._launches: list[tuple[LaunchPlan, list[_PartOffset]]] = []
        entries: list[tuple[_PartOffset, _CopyPart]] = []
        for number, (source, target) in enumerate(pairs):
            for part in _parts(source, target):
                distances = (
                    part.source.pointer - source.pointer,
                    part.target.pointer - target.pointer,
                )
                entries.append((_PartOffset(number, *distances), part))
        parts = [part for _, part in entries]
        if len(parts) == 2 and sum(part.source.bytes for part in parts) <= _SHARED_BYTES:
            word = min(part.word for part in parts)
            if all(part.is_divisible or part.word == word for part in parts):
                self._add(entries, word, device)
                return
        for offset, part in entries:
            self._add([(offset, part)], part.word, device)

    def _add(
        self, entries: Sequence[tuple[_PartOffset, _CopyPart]], word: int, device: int
    ) -> None:
        """Add a launch that copies one or two parts."""
        in_words = [part.in_words(word) for _, part in entries]
        copy = CopyConfig(word, max(width_for(source.shape[-1]) for source, _ in in_words))
        ctas = sum(windows(copy, *source.shape) for source, _ in in_words)
        kernel = _kernel((copy,) * len(entries), device)
        # Copies of equal strides and extents share a plan, also those that are started once.
        plan, *_ = kernel.planned([matrix for pair in in_words for matrix in pair], (ctas,))
        self._launches.append((plan, [offset for offset, _ in entries]))

    def start(self, addresses: Sequence[tuple[int, int]], stream: int) -> None:
        """Start the copies.

        Args:
            addresses: of the sources and the targets.
            stream: the stream's handle.

        Raises:
            LaunchError: if the driver refuses a launch.
        """
        for plan, offsets in self._launches:
            pointers: list[int] = []
            for pair, source, target in offsets:
                pointers += addresses[pair][0] + source, addresses[pair][1] + target
            plan.start(pointers, (), stream)


def copy_matrices(pairs: Sequence[tuple[Matrix, Matrix]], device: int, stream: int) -> None:
    """Copy matrices once; see `MatrixCopies`."""
    addresses = [(source.pointer, target.pointer) for source, target in pairs]
    MatrixCopies(pairs, device).start(addresses, stream)


def _parts(source: Matrix, target: Matrix) -> Iterator[_CopyPart]:
    """Return the copies of matrices with one leading dimension: as few as the strides allow."""
    source, target = _join_dims(source, target)
    for index in product(*map(range, source.shape[:-3])):
        first, second = (
            _normalize_strides(matrix_at(matrix, index)) for matrix in (source, target)
        )
        yield _CopyPart(first, second, *_word(first, second))


def _join_dims(source: Matrix, target: Matrix) -> tuple[Matrix, Matrix]:
    """Return the matrices with adjacent leading dimensions joined where both step through them evenly."""
    dims: list[tuple[int, int, int]] = []
    leading = (values[:-2] for values in (source.shape, source.strides, target.strides))
    for extent, step, to in zip(*leading, strict=True):
        if extent == 1:
            continue
        if dims and dims[-1][1:] == (extent * step, extent * to):
            dims[-1] = dims[-1][0] * extent, step, to
        else:
            dims.append((extent, step, to))
    shape, steps, towards = zip(*(dims or [(1, 0, 0)]), strict=True)
    return (
        replace(source, shape=shape + source.shape[-2:], strides=(*steps, *source.strides[-2:])),
        replace(target, shape=shape + target.shape[-2:], strides=(*towards, *target.strides[-2:])),
    )


def _normalize_strides(matrix: Matrix) -> Matrix:
    """Return matrices (L, rows, columns), without the strides of extents of 1."""
    strides = [
        0 if extent == 1 else stride
        for extent, stride in zip(matrix.shape[:-1], matrix.strides[:-1], strict=True)
    ]
    along = 1 if matrix.shape[-1] == 1 else matrix.strides[-1]
    return replace(matrix, strides=(*strides, along))


def _word(source: Matrix, target: Matrix) -> tuple[int, bool]:
    """Return the bytes of the largest word by which a matrix is copied, and whether smaller ones fit."""
    size = source.item_bytes
    if (source.strides[-1], target.strides[-1]) != (1, 1):
        return size, False
    steps = (*source.strides[:-1], *target.strides[:-1])
    addressed = source.pointer, target.pointer, *(step * size for step in steps)
    return word_bytes(source.shape[-1] * size, *addressed), True


def _in_words(matrix: Matrix, word: int) -> Matrix:
    """Return matrices of contiguous rows with words as their elements."""
    size = matrix.item_bytes
    (*outer, columns), (*steps, _) = matrix.shape, matrix.strides
    shape = (*outer, columns * size // word)
    return Matrix(matrix.pointer, shape, (*(step * size // word for step in steps), 1), word)


@lru_cache(maxsize=64)
def _kernel(copies: tuple[CopyConfig, ...], device: int) -> Kernel:
    with new_context():
        text = str(build_pad(copies))
    return Kernel(cached_compile(text), device=device)
