"""Answers about layouts and descriptors, for people who write kernels in any language.

Each answer is a value that says itself: as text (`str`), as plain data for JSON (`data()`), and in
a notebook (`_repr_html_`, `_repr_svg_`). No MLIR is needed.
"""

from .chosen import ChosenOperands, choose_operands
from .chosen_operand import ChosenOperand
from .chunked import EncodedChunks, encode_chunks
from .cuda import cuda_source
from .decoded import Decoded, decode
from .diagnosed import Diagnosed, diagnose
from .encoded import Encoded, Operand, encode, encode_operand, operand_of
from .instruction import DecodedInstruction, decode_instruction
from .load import Load
from .matched import Matched, Nearest, match_map, match_tile
from .spec import TileSpec
from .strided import strided
from .suspicions import Suspicion
from .table import FormRow, TypeRow, forms, types

__all__ = [
    "ChosenOperand",
    "ChosenOperands",
    "Decoded",
    "DecodedInstruction",
    "Diagnosed",
    "Encoded",
    "EncodedChunks",
    "FormRow",
    "Load",
    "Matched",
    "Nearest",
    "Operand",
    "Suspicion",
    "TileSpec",
    "TypeRow",
    "choose_operands",
    "cuda_source",
    "decode",
    "decode_instruction",
    "diagnose",
    "encode",
    "encode_chunks",
    "encode_operand",
    "forms",
    "match_map",
    "match_tile",
    "operand_of",
    "strided",
    "types",
]
