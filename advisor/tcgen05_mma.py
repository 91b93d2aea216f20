"""The `tcgen05.mma` instructions that multiply two tiles."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from ..layout import LayoutError, Major
from ..layout.elements import BF16
from ..layout.tcgen05 import InstructionDescriptor
from .answer import Answer
from .chosen_operand import ChosenOperand
from .instruction import DecodedInstruction
from .multiplier import Tcgen05
from .scaled import Factors

#: Columns of a block's tensor memory, each 32 bits of 128 lanes, and the fewest that are allocated; the
#: number is a power of two (PTX ISA 9.7.16.1).
TENSOR_MEMORY_COLUMNS = 512
FEWEST_COLUMNS = 32


@dataclass(frozen=True)
class Tcgen05Mma(Answer):
    """D = A * B, as one block computes it, or two together.

    Attributes:
        a, b: the operands, of one block.
        by: the kind, the blocks and K.
    """

    a: ChosenOperand
    b: ChosenOperand
    by: Tcgen05

    @property
    def m(self) -> int:
        """Rows of D, of all blocks."""
        return self.a.spec.shape[-2] * self.by.ctas

    @property
    def n(self) -> int:
        """Columns of D, of all blocks."""
        return self.b.spec.shape[-1] * self.by.ctas

    @property
    def k(self) -> int:
        """Elements that each element of D is a sum of products of."""
        return self.a.spec.shape[-1]

    @property
    def shapes(self) -> dict[tuple[int, int], int]:
        """(M, N) of the instructions, and how often D holds one of that shape."""
        assert self.a.mma_tiles and self.b.mma_tiles
        rows, widths = self.a.mma_tiles.pieces, self.b.mma_tiles.pieces
        return Counter((m * self.by.ctas, n * self.by.ctas) for m in rows for n in widths)

    @property
    def columns(self) -> int:
        """Columns of tensor memory that D takes in each block."""
        halves = {(m, n): m == 128 and self.by.ctas == 2 for m, n in self.shapes}
        return sum(count * (n // 2 if halves[m, n] else n) for (m, n), count in self.shapes.items())

    @cached_property
    def factors(self) -> Factors | None:
        """The scale factors; None without them."""
        if self.by.block is None:
            return None
        instructions = tuple(self.descriptor(m, n) for m, n in self.shapes)
        return Factors(self.by, self.m, self.n, self.k, self.a.instruction_k, instructions)

    @property
    def allocated(self) -> int:
        """The columns to allocate for D and scale factors: a power of two."""
        every = self.columns + (self.factors.columns if self.factors else 0)
        return max(FEWEST_COLUMNS, 1 << (every - 1).bit_length())

    @property
    def opcode(self) -> str:
        """The instruction."""
        kind, scale = self.by.kind, ""
        if self.by.scale is not None:
            scale = f".block_scale.block{self.by.block}"
        return f"tcgen05.mma.cta_group::{self.by.ctas}.kind::{kind}{scale}"

    def commit_mask(self, rank: int) -> int | None:
        """The mask by which the commit of a pair arrives in both its blocks, one of which has that rank
        in the cluster; None for one block, whose commit needs none."""
        return 3 << (rank & ~1) if self.by.ctas == 2 else None

    def descriptor(self, m: int, n: int, scale_id: int = 0) -> InstructionDescriptor:
        """The instruction descriptor of that M and N, whose scale factors begin at that byte of their
        words."""
        return InstructionDescriptor(
            self.by.kind,
            self.a.spec.element,
            self.b.spec.element,
            m,
            n,
            self.accumulators[0],
            self.a.major is Major.MN,
            self.b.major is Major.MN,
            scale=self.by.scale,
            a_scale=scale_id,
            b_scale=scale_id,
            k_bytes=self.by.k_bytes,
        )

    def decoded(self, m: int, n: int) -> DecodedInstruction:
        """The fields of the instruction descriptor of that M and N."""
        descriptor = self.descriptor(m, n)
        return DecodedInstruction(descriptor.encode(), descriptor, (), self.by.arch)

    @property
    def accumulators(self) -> tuple[str, ...]:
        """The types that D can have, the usual one first."""
        types = self.by.kind.accumulators
        # The ISA's table of kinds adds in f16 what is f16, and no bf16.
        return types[:1] if self.a.spec.element == BF16 else types

    def check(self) -> None:
        """Checks that there are such instructions, and room for D.

        Raises:
            LayoutError: if not, with what would fit.
        """
        for m, n in self.shapes:
            try:
                self.descriptor(m, n).check(self.by.ctas)
            except ValueError as error:
                raise LayoutError(str(error)) from None
        if self.allocated > TENSOR_MEMORY_COLUMNS:
            more = f", and scale factors {self.factors.columns}" if self.factors else ""
            raise LayoutError(
                f"D takes {self.columns} columns of tensor memory{more}; a block has "
                f"{TENSOR_MEMORY_COLUMNS}: expected smaller tiles"
            )

    @property
    def steps(self) -> int:
        """Instructions along K."""
        return self.k // self.a.instruction_k


def tcgen05_mma_of(a: ChosenOperand, b: ChosenOperand, by: Tcgen05) -> Tcgen05Mma:
    """The product of two operands that go together.

    Raises:
        LayoutError: if there is no room for D.
    """
    product = Tcgen05Mma(a, b, by)
    product.check()
    return product
