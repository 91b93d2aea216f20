"""The mathematics of tiles in shared memory: plain Python and NumPy, no MLIR.

A `TileLayout` represents a tile. Byte offsets, slices, the canonical form, descriptors, bank conflicts
and the choice of a layout are computed from it. An instruction set (`MmaIsa`) reads tiles; each
architecture (`Arch`) has one.
"""

from .accumulators import ACCUMULATORS, Accumulator
from .affine import affine_map
from .architectures import ARCHS, Arch
from .atoms import TileOrder, tile_of_atoms
from .banks import Access, warp_access
from .canonical import FORMS, Canonical, Form, Major, Mismatch, match
from .choice import Choice, choose
from .descriptor import Descriptor, base_offset
from .elements import ELEMENTS, Element, element
from .fragments import Fragment, fragment_a, fragment_d
from .instruction import instruction_k
from .isa import MmaInstruction, MmaIsa, OperandUse
from .mma_support import accumulators, operand_problem, partners
from .modes import LayoutError, Mode, Multiple, Term
from .nibbles import pack_nibbles
from .notation import parse_layout, parse_origin
from .operand import MmaTiles, Role
from .path import PathElement
from .register_order import a_fragment_coordinates, accumulator_coordinates, slice_coordinates
from .swizzle import Swizzle
from .tensor_map import TensorMap, tensor_map
from .tile import Slice, TileLayout
from .tile_copy import TileCopy, TileCopyUse
from .transfer import Transfer
from .transposition import Relayout, Transposition, transposition
from .uses import TransferUse
from .wgmma import (
    TYPE_PAIRS,
    WgmmaDescriptor,
    compress,
    decompress,
    descriptor_of,
    mma_tiles,
    operand_addresses,
    prune,
)

__all__ = [
    "ACCUMULATORS",
    "ARCHS",
    "ELEMENTS",
    "FORMS",
    "TYPE_PAIRS",
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
    "MmaInstruction",
    "MmaIsa",
    "MmaTiles",
    "Mode",
    "Multiple",
    "OperandUse",
    "PathElement",
    "Relayout",
    "Role",
    "Slice",
    "Swizzle",
    "TensorMap",
    "Term",
    "TileCopy",
    "TileCopyUse",
    "TileLayout",
    "TileOrder",
    "Transfer",
    "TransferUse",
    "Transposition",
    "WgmmaDescriptor",
    "a_fragment_coordinates",
    "accumulator_coordinates",
    "accumulators",
    "affine_map",
    "base_offset",
    "choose",
    "compress",
    "decompress",
    "descriptor_of",
    "element",
    "fragment_a",
    "fragment_d",
    "instruction_k",
    "match",
    "mma_tiles",
    "operand_addresses",
    "operand_problem",
    "pack_nibbles",
    "parse_layout",
    "parse_origin",
    "partners",
    "prune",
    "slice_coordinates",
    "tensor_map",
    "tile_of_atoms",
    "transposition",
    "warp_access",
]


def __dir__() -> list[str]:
    return __all__
