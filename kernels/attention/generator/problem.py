"""The problem of an attention kernel: element type, head dimension, masks and layout of sequences."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, log2

from ...errors import ProblemError

#: By this the scale is multiplied that a kernel is given: it computes powers of two.
LOG2_E = log2(e)

#: Element types of queries, keys and values, and of their results.
RESULTS = {"bf16": "bf16", "f16": "f16", "f8E4M3FN": "bf16"}

#: Those of 16 bits.
ELEMENTS = ("bf16", "f16")

#: Head dimensions.
DIMS = (64, 96, 128, 192, 256)


@dataclass(frozen=True)
class Problem:
    """O = softmax(scale * Q * K^T) * V, for each query of each head.

    Attributes:
        element: MLIR's name of the element type.
        dim: the head dimension.
        left: whether a query sees a limited number of keys before its position.
        right: whether a query sees a limited number of keys behind its position; none if causal.
        lse: whether the logarithm of each query's sum of exponentials is a result.
        packed: whether sequences follow each other, of lengths that the kernel reads.
        split: whether the results are those of parts of the keys, which another kernel combines.
        heads: how many heads that share keys have their queries in one tile: packed along M.
        descaled: which of "q", "k" and "v", of e4m3, have a factor for each sequence and head of keys.

    Raises:
        ProblemError: for an element type or a head dimension of no kernel.
    """

    element: str = "bf16"
    dim: int = 128
    left: bool = False
    right: bool = False
    lse: bool = False
    packed: bool = False
    split: bool = False
    heads: int = 1
    descaled: str = ""

    def __post_init__(self) -> None:
        if self.element not in RESULTS:
            raise ProblemError(
                f"q, k and v have elements of {self.element}; expected {', '.join(RESULTS)}"
            )
        if self.dim not in DIMS:
            dims = ", ".join(map(str, DIMS))
            raise ProblemError(f"the head dimension is {self.dim}; expected one of {dims}")

    @property
    def result(self) -> str:
        """MLIR's name of the element type of the result."""
        return RESULTS[self.element]

    @property
    def is_8_bit(self) -> bool:
        """Whether elements are of 8 bits: they have factors, and values are read K-major."""
        return self.element not in ELEMENTS

    @property
    def item_bytes(self) -> int:
        """The bytes of an element of q, k and v."""
        return 1 if self.is_8_bit else 2

    @property
    def has_equal_tiles(self) -> bool:
        """Whether all tiles of a head read the same blocks of keys."""
        return not (self.left or self.right or self.packed or self.split)
