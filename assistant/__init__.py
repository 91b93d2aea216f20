"""Answers about layouts and descriptors, for people who write kernels in any language.

Each answer is a value that says itself: as text (`str`), as plain data for JSON (`data()`), and in
a notebook (`_repr_html_`, `_repr_svg_`). No MLIR is needed.
"""

from .chosen import ChosenOperands, choose_operands
from .chosen_operand import ChosenOperand
from .cuda import cuda_source
from .load import Load
from .spec import TileSpec
from .table import FormRow, forms

__all__ = [
    "ChosenOperand",
    "ChosenOperands",
    "FormRow",
    "Load",
    "TileSpec",
    "choose_operands",
    "cuda_source",
    "forms",
]
