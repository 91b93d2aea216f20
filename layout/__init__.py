"""The mathematics of tiles in shared memory: plain Python and NumPy, no MLIR.

One representation carries everything: a `TileLayout`. From it come byte offsets, slices, the
canonical form, descriptors, bank conflicts and the choice of a layout.
"""

from .arch import Arch
from .atoms import Order, tile_of_atoms
from .banks import Access, warp_access
from .canonical import FORMS, Canonical, Form, Major, Mismatch, match
from .choice import Choice, OperandUse, TransferUse, choose
from .descriptor import Descriptor, base_offset
from .elements import ELEMENTS, Element, element
from .fragments import Fragment, fragment_a, fragment_d
from .mixes import ACCUMULATORS, MIXES, Accumulator, accumulators, partners
from .modes import LayoutError, Mode, Multiple, Term
from .notation import parse_layout, parse_origin
from .operand import OperandBlocks, Role, descriptor_of, operand_addresses, operand_blocks
from .path import Step
from .sparsity import compress, decompress, prune
from .swizzle import Swizzle
from .tile import Slice, TileLayout
from .tile_copy import TileCopy, TileCopyUse
from .transfer import Transfer
from .transposition import Relayout, Transposition, transposition

__all__ = [
    "ACCUMULATORS",
    "ELEMENTS",
    "FORMS",
    "MIXES",
    "Access",
    "Accumulator",
    "Arch",
    "Canonical",
    "Choice",
    "Descriptor",
    "Element",
    "Form",
    "Fragment",
    "LayoutError",
    "Major",
    "Mismatch",
    "Mode",
    "Multiple",
    "OperandBlocks",
    "OperandUse",
    "Order",
    "Relayout",
    "Role",
    "Slice",
    "Step",
    "Swizzle",
    "Term",
    "TileCopy",
    "TileCopyUse",
    "TileLayout",
    "Transfer",
    "TransferUse",
    "Transposition",
    "accumulators",
    "base_offset",
    "choose",
    "compress",
    "decompress",
    "descriptor_of",
    "element",
    "fragment_a",
    "fragment_d",
    "match",
    "operand_addresses",
    "operand_blocks",
    "parse_layout",
    "parse_origin",
    "partners",
    "prune",
    "tile_of_atoms",
    "transposition",
    "warp_access",
]
