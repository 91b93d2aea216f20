"""Registers of the metadata of a sparse A: the positions of its nonzero elements."""

from ....bindings.irtypes import Value
from ....layout import Element
from ....layout.instruction import instruction_k
from ....layout.wgmma import SPARSITY, metadata_words, selector
from ..registers import words_of


class Metadata:
    """The metadata of an mma; None for a dense A."""

    def __init__(self, fragment: Value, element: Element, row_blocks: int, k_blocks: int) -> None:
        self._element = element
        self._words = None
        if fragment is not None:
            self._per_row = metadata_words(element, k_blocks * instruction_k(element) * SPARSITY)
            self._words = words_of(fragment, row_blocks * self._per_row)

    def of(self, row: int, k: int) -> tuple[Value, int] | None:
        """Return the register and the sparsity selector of an instruction; None if A is dense."""
        if self._words is None:
            return None
        word, threads = selector(self._element, k)
        return self._words[row * self._per_row + word], threads
