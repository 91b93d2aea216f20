"""One operand in shared memory: its chosen layout, descriptors, TMA box and bank conflicts."""

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
from ..layout.choice import LayoutCandidate
from ..layout.elements import UNIT_BYTES
from ..layout.fragment_access import a_fragment_access
from ..layout.tcgen05 import Chunks, Tcgen05Descriptor
from ..layout.tensor_box import TensorBox, least_alignment, tensor_box
from ..layout.transposition import Relayout
from ..layout.uses import FragmentUse, LayoutEvaluation, evaluate_copy
from ..layout.wgmma import INSTRUCTION_M
from .answer import Answer
from .fields import Field, matrix_fields
from .load import Load
from .mma_op import MmaOp, WgmmaOp
from .spec import TileSpec


@dataclass(frozen=True)
class MmaTile:
    """The subtile that one instruction reads.

    Attributes:
        mn, k: its first element along m/n and along K.
        extent: its elements along m/n.
        step: offset from the descriptor of the first MMA tile, in 16-byte units.
        second: start of the second chunk of its rows, in bytes from the tile's start; None where a row
            is one chunk.
    """

    mn: int
    k: int
    extent: int
    step: int
    second: int | None = None


@dataclass(frozen=True)
class ChosenOperand(Answer):
    """The layout of an operand's tile, and the reasons for it.

    Attributes:
        role: A or B.
        spec: the tile's shape and element type; with pipeline stages, they are the first extent.
        global_major: the contiguous dimension in global memory.
        loads: how the tile is filled and read.
        threads: threads that fill it with vector stores.
        choice: the candidates and their evaluations.
        picked: the chosen candidate.
        address: start of the tile in the examples, in bytes.
        op: the MMA operation.
    """

    role: Role
    spec: TileSpec
    global_major: Major
    loads: tuple[Load, ...]
    threads: int
    choice: Choice
    picked: LayoutCandidate
    address: int
    op: MmaOp

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
        """Bytes from one stage to the next; without stages, the bytes of the tile."""
        return self.layout.size_bytes // (self.spec.shape[0] if len(self.spec.shape) == 3 else 1)

    @property
    def alignment(self) -> int:
        """Alignment of the tile's start in bytes, for base offset 0 and, if TMA fills it, for TMA."""
        return least_alignment(self.tile) if Load.TMA in self.loads else self.layout.alignment

    @property
    def in_registers(self) -> bool:
        """Whether the MMA reads the operand from registers; it then has no descriptor."""
        return Load.LDMATRIX in self.loads

    @cached_property
    def mma_tiles(self) -> MmaTiles | Chunks | None:
        """The MMA tiles of one stage; None if the operand is read from registers."""
        return None if self.in_registers else self.op.mma_tiles(self.tile, self.role)

    @property
    def canonical(self) -> Canonical | None:
        """The canonical layout that the instructions read; None if they read registers."""
        return self.mma_tiles and self.mma_tiles.canonical

    @property
    def instruction_k(self) -> int:
        """K of one instruction, in elements."""
        return self.op.k_bytes * 8 // self.spec.element.bits

    @property
    def each_mma_tile(self) -> list[MmaTile]:
        """The MMA tiles in a list, K innermost; empty if the operand is read from registers."""
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
            MmaTile(mn, i * k, extent, step, second)
            for mn, extent, row, second_row in zip(begins, pieces, steps, seconds, strict=True)
            for i, (step, second) in enumerate(zip(row, second_row, strict=True))
        ]

    def descriptor(self, address: int = 0) -> Descriptor:
        """Return the descriptor of the first MMA tile of a tile (or stage) at a byte address.

        Raises:
            LayoutError: if the operand is read from registers.
        """
        if self.mma_tiles is None:
            raise LayoutError(f"{self.role.name} is read from registers; it has no descriptor")
        return self.mma_tiles.descriptor(address)

    def descriptor_of(self, mma_tile: MmaTile, address: int) -> Descriptor:
        """Return the descriptor of an MMA tile of a tile (or stage) at a byte address."""
        first = self.descriptor(address)
        start = first.start + mma_tile.step * UNIT_BYTES
        if mma_tile.second is None:
            return replace(first, start=start)
        return Tcgen05Descriptor(
            start, address + mma_tile.second, first.sbo, swizzle=first.swizzle, absolute=True
        )

    @property
    def major(self) -> Major:
        """The dimension that is contiguous in shared memory."""
        return Major.K if self.role.orient(self.tile).contiguous_dim == 1 else Major.MN

    @property
    def fields(self) -> list[Field]:
        """The descriptor's fields for a tile at address 0; empty if read from registers."""
        if self.mma_tiles is None:
            return []
        return list(matrix_fields(self.descriptor().encode(), self.op.arch))

    @cached_property
    def box(self) -> TensorBox | str:
        """The TMA box that fills one stage; if there is none, the reason."""
        try:
            return tensor_box(self.tile)
        except LayoutError as error:
            return str(error)

    @cached_property
    def stores(self) -> LayoutEvaluation:
        """Bank conflicts of 16-byte stores that fill the tile, whether or not it is filled so."""
        contiguous = contiguous_of(self.role, self.global_major)
        element, shape = self.spec.element, self.spec.shape[-2:]
        return evaluate_copy(self.tile, Relayout(element, shape, contiguous, self.threads))

    @cached_property
    def reads(self) -> LayoutEvaluation | None:
        """Bank conflicts of the loads of a 64-row `wgmma` A fragment (64 columns of B); None if the tile
        has fewer rows."""
        operand = self.role.orient(self.tile)
        if operand.shape[0] < INSTRUCTION_M or not isinstance(self.op, WgmmaOp):
            return None
        return FragmentUse("ldmatrix", a_fragment_access).evaluate(operand)

    @property
    def extents(self) -> tuple[str, str]:
        """The letters of the tile's rows and columns."""
        return ("M", "K") if self.role is Role.A else ("K", "N")

    def letter(self, major: Major) -> str:
        """Return the letter of the contiguous dimension: K, or M for A and N for B."""
        return "K" if major is Major.K else self.role.extent_name


def contiguous_of(role: Role, major: Major) -> int:
    """Return the contiguous dimension of a tile: (M, K) of A, or (K, N) of B."""
    return 1 if (major is Major.K) == (role is Role.A) else 0


def one_stage(layout: TileLayout) -> TileLayout:
    """Return the layout of the first stage; without stages, the layout itself."""
    return layout.stage(0).layout if len(layout.shape) == 3 else layout
