"""One operand in shared memory: the layout that is chosen, and all that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from ..layout import (
    Canonical,
    Choice,
    Descriptor,
    LayoutError,
    Major,
    MmaTiles,
    Role,
    TileLayout,
)
from ..layout.choice import Candidate
from ..layout.elements import UNIT_BYTES
from ..layout.fragment_access import a_fragment_access
from ..layout.tcgen05 import Chunks, Tcgen05Descriptor
from ..layout.tensor_box import TensorBox, least_alignment, tensor_box
from ..layout.transposition import Relayout
from ..layout.uses import Evaluation, FragmentUse, evaluate_copy
from ..layout.wgmma import INSTRUCTION_M
from .answer import Answer
from .fields import Field, matrix_fields
from .load import Load
from .multiplier import Multiplier, Wgmma, canonical_of, first_descriptor
from .spec import TileSpec


@dataclass(frozen=True)
class Block:
    """What one instruction reads of a tile.

    Attributes:
        mn, k: where it begins, in elements.
        extent: its elements along m/n.
        step: what is added to the descriptor of the first block, in 16-byte units.
        second: where the second chunk of its rows begins, in bytes from the tile's start; None where
            each has one chunk.
    """

    mn: int
    k: int
    extent: int
    step: int
    second: int | None = None


@dataclass(frozen=True)
class ChosenOperand(Answer):
    """The layout of an operand's tile, and why.

    Attributes:
        role: A or B.
        spec: the tile's shape and element type, stages in front if there are any.
        lies: which dimension is contiguous in global memory.
        loads: how it is filled and read.
        threads: threads that fill it, where threads do.
        choice: the candidates, and the one picked.
        picked: that one.
        address: where the tile begins in the examples, in bytes.
        by: what multiplies it.
    """

    role: Role
    spec: TileSpec
    lies: Major
    loads: tuple[Load, ...]
    threads: int
    choice: Choice
    picked: Candidate
    address: int
    by: Multiplier

    @property
    def layout(self) -> TileLayout:
        """The layout of the whole tile, stages included."""
        return self.picked.layout

    @cached_property
    def tile(self) -> TileLayout:
        """The layout of one stage: (M, K) of A, (K, N) of B."""
        return one_stage(self.layout)

    @property
    def stage_bytes(self) -> int:
        """Bytes from one stage to the next; of the tile, if it has none."""
        return self.layout.size_bytes // (self.spec.shape[0] if len(self.spec.shape) == 3 else 1)

    @property
    def alignment(self) -> int:
        """What the tile's start is aligned to, in bytes: for base offset 0, and for TMA if that fills
        it."""
        return least_alignment(self.tile) if Load.TMA in self.loads else self.layout.alignment

    @property
    def in_registers(self) -> bool:
        """Whether it is multiplied from registers, so that it has no descriptor."""
        return Load.LDMATRIX in self.loads

    @cached_property
    def mma_tiles(self) -> MmaTiles | Chunks | None:
        """The instructions' shares; None if they are read from registers."""
        return None if self.in_registers else self.by.mma_tiles(self.tile, self.role)

    @property
    def canonical(self) -> Canonical | None:
        """The canonical layout that the instructions read; None if they read registers."""
        return self.mma_tiles and canonical_of(self.mma_tiles)

    @property
    def instruction_k(self) -> int:
        """K of one instruction, in elements."""
        return self.by.k_bytes * 8 // self.spec.element.bits

    @property
    def each_block(self) -> list[Block]:
        """The instructions' shares one by one, k first; none if they are read from registers."""
        if self.mma_tiles is None:
            return []
        pieces, k = self.mma_tiles.pieces, self.instruction_k
        begins = accumulate(pieces[:-1], initial=0)
        steps = self.mma_tiles.steps
        seconds = (
            self.mma_tiles.seconds
            if isinstance(self.mma_tiles, Chunks)
            else [[None] * len(row) for row in steps]
        )
        return [
            Block(mn, i * k, extent, step, second)
            for mn, extent, row, others in zip(begins, pieces, steps, seconds, strict=True)
            for i, (step, second) in enumerate(zip(row, others, strict=True))
        ]

    def descriptor(self, address: int = 0) -> Descriptor:
        """The descriptor of the first block of a tile, or stage, at that byte address.

        Raises:
            LayoutError: if the operand is read from registers.
        """
        if self.mma_tiles is None:
            raise LayoutError(f"{self.role.name} is read from registers; it has no descriptor")
        return first_descriptor(self.mma_tiles, address)

    def descriptor_of(self, block: Block, address: int) -> Descriptor:
        """The descriptor of one of `each_block` of a tile, or stage, at that byte address."""
        first = self.descriptor(address)
        start = first.start + block.step * UNIT_BYTES
        if block.second is None:
            return replace(first, start=start)
        return Tcgen05Descriptor(
            start, address + block.second, first.sbo, swizzle=first.swizzle, absolute=True
        )

    @property
    def major(self) -> Major:
        """The dimension that is contiguous in shared memory."""
        return Major.K if self.role.orient(self.tile).contiguous_dim == 1 else Major.MN

    @property
    def fields(self) -> list[Field]:
        """The fields of the descriptor of a tile at address 0; none if it is read from registers."""
        if self.mma_tiles is None:
            return []
        return list(matrix_fields(self.descriptor().encode(), self.by.arch))

    @cached_property
    def box(self) -> TensorBox | str:
        """The box by which TMA would fill one stage; why it cannot, if it cannot."""
        try:
            return tensor_box(self.tile)
        except LayoutError as error:
            return str(error)

    @cached_property
    def stores(self) -> Evaluation:
        """How writes of 16 bytes a thread would be served, whether or not the tile is filled so."""
        contiguous = contiguous_of(self.role, self.lies)
        element, shape = self.spec.element, self.spec.shape[-2:]
        return evaluate_copy(self.tile, Relayout(element, shape, contiguous, self.threads))

    @cached_property
    def reads(self) -> Evaluation | None:
        """How loads of 64 rows (columns of B) into registers would be served, from which `wgmma`
        multiplies; None if there are fewer."""
        operand = self.role.orient(self.tile)
        if operand.shape[0] < INSTRUCTION_M or not isinstance(self.by, Wgmma):
            return None
        return FragmentUse("ldmatrix", a_fragment_access).evaluate(operand)

    @property
    def extents(self) -> tuple[str, str]:
        """The letters of the tile's rows and columns."""
        return ("M", "K") if self.role is Role.A else ("K", "N")

    def letter(self, major: Major) -> str:
        """The letter of the dimension that is contiguous: K, or M of A and N of B."""
        return "K" if major is Major.K else self.role.extent_name


def contiguous_of(role: Role, major: Major) -> int:
    """The dimension of a tile, (M, K) of A or (K, N) of B, that is contiguous."""
    return 1 if (major is Major.K) == (role is Role.A) else 0


def one_stage(layout: TileLayout) -> TileLayout:
    """The layout of the first stage of a tile; its own, if it has no stages."""
    return layout.stage(0).layout if len(layout.shape) == 3 else layout
