"""The instruction set `tcgen05` (Blackwell): kinds, shapes, operands, scale factors and descriptors.

It follows the PTX ISA and, where that states nothing, CuTe, and is tested against both. No such chip was
available: nothing here was measured.
"""

from .chunks import Chunks, chunked_mma_tiles
from .descriptor import LBO_MODE, TCGEN05_WIDEST_FIRST, VERSION, Tcgen05Descriptor
from .instruction import Tcgen05Instruction
from .instruction_descriptor import InstructionDescriptor
from .isa import Tcgen05
from .kinds import KINDS, Kind, kind_of, scaled_kind
from .operand import swizzles_of, tcgen05_addresses, tcgen05_mma_tiles
from .scales import (
    SCALE_ELEMENTS,
    ScaleBlocks,
    ScaleUse,
    blocked,
    check_scale_id,
    scale_blocks,
    scale_factors,
    scale_layout,
    scale_step,
    unblocked,
)
from .scaling import BlockScaling, ScaledUse, scaled_rows
from .shapes import LONG_K_BYTES, TCGEN05_M, MmaShape, MmaShapeError, check_shape

__all__ = [
    "KINDS",
    "LBO_MODE",
    "LONG_K_BYTES",
    "SCALE_ELEMENTS",
    "TCGEN05_M",
    "TCGEN05_WIDEST_FIRST",
    "VERSION",
    "BlockScaling",
    "Chunks",
    "InstructionDescriptor",
    "Kind",
    "MmaShape",
    "MmaShapeError",
    "ScaleBlocks",
    "ScaleUse",
    "ScaledUse",
    "Tcgen05",
    "Tcgen05Descriptor",
    "Tcgen05Instruction",
    "blocked",
    "check_scale_id",
    "check_shape",
    "chunked_mma_tiles",
    "kind_of",
    "scale_blocks",
    "scale_factors",
    "scale_layout",
    "scale_step",
    "scaled_kind",
    "scaled_rows",
    "swizzles_of",
    "tcgen05_addresses",
    "tcgen05_mma_tiles",
    "unblocked",
]
