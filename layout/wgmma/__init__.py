"""The instruction set `wgmma` (Hopper): types, shapes, operands, their descriptors, and sparse A.

The reads of operands and metadata were measured on an H200.
"""

from .descriptor import WgmmaDescriptor
from .isa import Wgmma, WgmmaInstruction
from .operand import (
    SPARSE_B_FORMS,
    descriptor_of,
    mma_tiles,
    operand_addresses,
)
from .shapes import INSTRUCTION_M, legal_n, n_pieces, n_rule
from .sparsity import SPARSITY, compress, decompress, metadata_words, prune, selector, sparse_k
from .types import MN_MAJOR, MULTIPLICANDS, SPARSE, TYPE_PAIRS

__all__ = [
    "INSTRUCTION_M",
    "MN_MAJOR",
    "MULTIPLICANDS",
    "SPARSE",
    "SPARSE_B_FORMS",
    "SPARSITY",
    "TYPE_PAIRS",
    "Wgmma",
    "WgmmaDescriptor",
    "WgmmaInstruction",
    "compress",
    "decompress",
    "descriptor_of",
    "legal_n",
    "metadata_words",
    "mma_tiles",
    "n_pieces",
    "n_rule",
    "operand_addresses",
    "prune",
    "selector",
    "sparse_k",
]
