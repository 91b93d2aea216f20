"""Which register says which elements of a sparse A an instruction multiplies."""

from typing import Any

from ....layout import Element
from ....layout.elements import SPARSITY
from ....layout.sparsity import metadata_words, selector
from ..registers import words_of


class Metadata:
    """The metadata of an mma; without any, its A is dense."""

    def __init__(self, fragment: Any, element: Element, row_blocks: int, k_blocks: int) -> None:
        self._element = element
        self._words = None
        if fragment is not None:
            self._per_row = metadata_words(element, k_blocks * element.instruction_k * SPARSITY)
            self._words = words_of(fragment, row_blocks * self._per_row)

    def of(self, row: int, k: int) -> tuple[Any, int] | None:
        """The register and the sparsity selector of an instruction; None if A is dense."""
        if self._words is None:
            return None
        word, threads = selector(self._element, k)
        return self._words[row * self._per_row + word], threads
