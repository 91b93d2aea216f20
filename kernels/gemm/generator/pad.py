"""A kernel that copies matrices of any strides and alignment to or from rows that TMA reads and writes.

TMA takes matrices whose rows begin at multiples of 16 bytes. This kernel copies other operands to such
rows first, and a padded result to rows that are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

from .... import language as sl
from ....bindings.mlir import nvvm
from ....language.options import KernelOptions
from ....language.traced_function import TracedFunction
from .config import ConfigError

#: Threads of a CTA, and words that each of them copies. The words are loaded before the first is stored,
#: so a full multiprocessor has 2048 x 8 loads in flight: 32 KiB of 2-byte words, more than the latency
#: of memory times its bandwidth for a multiprocessor (4.8 TB/s / 132 x 0.7 us = 25 KiB).
_THREADS, _WORDS = 256, 8

#: Words of a window along the rows, which neighbouring threads copy; the smallest that covers the rows
#: leaves the fewest threads without a word.
WIDTHS = (8, 32, 128)

#: Bytes of a word, and MLIR's type of it. 16 bytes are not needed: TMA reads such rows.
_WORD_TYPES = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


class CopyConfig(NamedTuple):
    """The part of the kernel that copies one matrix.

    Attributes:
        word: bytes of a word.
        width: words of a window along a row.
    """

    word: int
    width: int

    @property
    def height(self) -> int:
        """Rows of a window.

        Example:
            >>> CopyConfig(word=2, width=128).height
            16
        """
        return _THREADS * _WORDS // self.width


def word_bytes(row: int, *addressed: int) -> int:
    """Return the bytes of the largest word by which rows can be copied: 1, 2, 4 or 8.

    Args:
        row: the bytes of a row.
        addressed: addresses and strides in bytes, of both matrices.

    Example:
        >>> word_bytes(2004, 0x1000, 2004)
        4
    """
    return gcd(8, row, *addressed)


def width_for(words: int) -> int:
    """Return the width of the windows for rows of that many words.

    Example:
        >>> width_for(20), width_for(1000)
        (32, 128)
    """
    return next((width for width in WIDTHS if width >= words), WIDTHS[-1])


def build_pad(copies: Sequence[CopyConfig]) -> Any:
    """Build a module with the kernel `pad(X, Y)`: Y = X of any extents and strides, in words.

    X and Y are batches of matrices (L, M, N). For two copies it is `pad_both(X, Y, U, V)`, with V = U. A
    CTA copies one window; the windows of the first copy come first.

    Args:
        copies: one or two.

    Raises:
        ConfigError: for another number of copies, or a word or a width that is not supported.
    """
    if len(copies) not in (1, 2):
        raise ConfigError(f"{len(copies)} matrices are copied; expected 1 or 2")
    for copy in copies:
        if copy.word not in _WORD_TYPES:
            raise ConfigError(f"word is {copy.word} bytes; expected 1, 2, 4 or 8")
        if copy.width not in WIDTHS:
            raise ConfigError(f"width is {copy.width} words; expected 8, 32 or 128")
    types = [_WORD_TYPES[copy.word] for copy in copies for _ in "XY"]
    first, second = (", ".join([f"({extents}):(?,?,?)"] * 2) for extents in ("L,M,N", "O,P,Q"))
    options = KernelOptions(_THREADS // 128)
    if len(copies) == 1:
        return TracedFunction(pad, first, options).trace(*types, copies=tuple(copies))
    return TracedFunction(pad_both, f"{first}, {second}", options).trace(
        *types, copies=tuple(copies)
    )


def windows(copy: CopyConfig, matrices: int, rows: int, words: int) -> int:
    """Return how many windows cover a batch of matrices: the CTAs that copy it.

    Example:
        >>> windows(CopyConfig(2, 128), 1, 100, 1001)
        56
    """
    return matrices * -(-rows // copy.height) * -(-words // copy.width)


def pad(X: sl.Array, Y: sl.Array, *, copies: tuple[CopyConfig, ...]) -> None:  # noqa: N803
    """Copy X (L, M, N) to Y (L, M, N)."""
    _follow()
    _copy_window(X, Y, sl.block_id(0), copies[0])


def pad_both(
    X: sl.Array,  # noqa: N803
    Y: sl.Array,  # noqa: N803
    U: sl.Array,  # noqa: N803
    V: sl.Array,  # noqa: N803
    *,
    copies: tuple[CopyConfig, ...],
) -> None:
    """Copy X (L, M, N) to Y (L, M, N), and U (O, P, Q) to V (O, P, Q)."""
    _follow()
    matrices, rows, words = X.shape
    first = matrices * sl.cdiv(rows, copies[0].height) * sl.cdiv(words, copies[0].width)
    with sl.when(sl.block_id(0) < first):
        _copy_window(X, Y, sl.block_id(0), copies[0])
    with sl.otherwise():
        _copy_window(U, V, sl.unsigned(sl.block_id(0) - first), copies[1])


def _follow() -> None:
    """Let the next kernel start early, and wait for earlier ones (programmatic dependent launch)."""
    sl.op(nvvm.griddepcontrol, nvvm.GridDepActionKind.launch_dependents)
    sl.op(nvvm.griddepcontrol, nvvm.GridDepActionKind.wait)


def _copy_window(X: sl.Array, Y: sl.Array, number: sl.Index, copy: CopyConfig) -> None:  # noqa: N803
    """Copy a window; its words beyond the edges are loaded from the last row or column, and dropped."""
    _, rows, words = X.shape
    across, down = sl.cdiv(words, copy.width), sl.cdiv(rows, copy.height)
    thread = sl.thread_id()
    column = number % across * copy.width + thread % copy.width
    row = number // across % down * copy.height + thread // copy.width
    matrix = number // across // down
    places = [row + i * (_THREADS // copy.width) for i in range(_WORDS)]
    inside = sl.where(column < words, column, words - 1)
    loaded = [
        X[matrix, sl.where(row_of_word < rows, row_of_word, rows - 1), inside]
        for row_of_word in places
    ]
    for row_of_word, word in zip(places, loaded, strict=True):
        with sl.when((row_of_word < rows) & (column < words)):
            Y[matrix, row_of_word, column] = word
