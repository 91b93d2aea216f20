"""The `tcgen05.mma` instructions of an MMA of two tiles."""

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
from .mma_op import Tcgen05Op
from .scaled import ScaleFactors

#: Columns of a CTA's tensor memory, each 32 bits of 128 lanes, and the smallest allocation, which is a
#: power of two (PTX ISA 9.7.16.1).
TENSOR_MEMORY_COLUMNS = 512
FEWEST_COLUMNS = 32


@dataclass(frozen=True)
class Tcgen05Mma(Answer):
    """D = A * B of one CTA, or of a CTA pair.

    Attributes:
        a, b: the operands in one CTA.
        op: the MMA operation: its kind, CTAs and K.
    """

    a: ChosenOperand
    b: ChosenOperand
    op: Tcgen05Op

    @property
    def m(self) -> int:
        """Rows of D, over all CTAs."""
        return self.a.spec.shape[-2] * self.op.ctas

    @property
    def n(self) -> int:
        """Columns of D, over all CTAs."""
        return self.b.spec.shape[-1] * self.op.ctas

    @property
    def k(self) -> int:
        """Columns of A and rows of B."""
        return self.a.spec.shape[-1]

    @property
    def shapes(self) -> dict[tuple[int, int], int]:
        """(M, N) of the instructions, and the number of subtiles of D with that shape."""
        assert self.a.mma_tiles is not None and self.b.mma_tiles is not None
        rows, widths = self.a.mma_tiles.pieces, self.b.mma_tiles.pieces
        return Counter((m * self.op.ctas, n * self.op.ctas) for m in rows for n in widths)

    @property
    def columns(self) -> int:
        """Columns of tensor memory for D in each CTA."""
        halves = {(m, n): m == 128 and self.op.ctas == 2 for m, n in self.shapes}
        return sum(count * (n // 2 if halves[m, n] else n) for (m, n), count in self.shapes.items())

    @cached_property
    def factors(self) -> ScaleFactors | None:
        """The scale factors; None without them."""
        if self.op.block is None:
            return None
        instructions = tuple(self.descriptor(m, n) for m, n in self.shapes)
        return ScaleFactors(self.op, self.m, self.n, self.k, self.a.instruction_k, instructions)

    @property
    def allocated_columns(self) -> int:
        """Columns to allocate for D and scale factors, a power of two."""
        used = self.columns + (self.factors.columns if self.factors else 0)
        return max(FEWEST_COLUMNS, 1 << (used - 1).bit_length())

    @property
    def opcode(self) -> str:
        """The instruction."""
        kind, scale = self.op.kind, ""
        if self.op.scale is not None:
            scale = f".block_scale.block{self.op.block}"
        return f"tcgen05.mma.cta_group::{self.op.ctas}.kind::{kind}{scale}"

    def commit_mask(self, rank: int) -> int | None:
        """Return the CTA mask with which a CTA pair commits to both of its CTAs; None for one CTA.

        Args:
            rank: the rank in the cluster of either CTA of the pair.
        """
        return 3 << (rank & ~1) if self.op.ctas == 2 else None

    def descriptor(self, m: int, n: int, scale_id: int = 0) -> InstructionDescriptor:
        """Return the instruction descriptor with a given M, N and scale factor ID."""
        return InstructionDescriptor(
            self.op.kind,
            self.a.spec.element,
            self.b.spec.element,
            m,
            n,
            self.accumulators[0],
            self.a.major is Major.MN,
            self.b.major is Major.MN,
            scale=self.op.scale,
            a_scale=scale_id,
            b_scale=scale_id,
            k_bytes=self.op.k_bytes,
        )

    def decode_descriptor(self, m: int, n: int) -> DecodedInstruction:
        """Return the decoded instruction descriptor with a given M and N."""
        descriptor = self.descriptor(m, n)
        return DecodedInstruction(descriptor.encode(), descriptor, (), self.op.arch)

    @property
    def accumulators(self) -> tuple[str, ...]:
        """The legal types of D, the default first."""
        types = self.op.kind.accumulators
        # The ISA's table of kinds has a D of f16 for A and B of f16, and not for bf16.
        return types[:1] if self.a.spec.element == BF16 else types

    def check(self) -> None:
        """Check that the instructions are legal, and that D fits tensor memory.

        Raises:
            LayoutError: if not, with what would fit.
        """
        for m, n in self.shapes:
            try:
                self.descriptor(m, n).check(self.op.ctas)
            except ValueError as error:
                raise LayoutError(str(error)) from None
        if self.allocated_columns > TENSOR_MEMORY_COLUMNS:
            factors_text = f", and scale factors {self.factors.columns}" if self.factors else ""
            raise LayoutError(
                f"D takes {self.columns} columns of tensor memory{factors_text}; a CTA has "
                f"{TENSOR_MEMORY_COLUMNS}: expected smaller tiles"
            )

    @property
    def k_blocks(self) -> int:
        """The number of K blocks."""
        return self.k // self.a.instruction_k


def tcgen05_mma_of(a: ChosenOperand, b: ChosenOperand, op: Tcgen05Op) -> Tcgen05Mma:
    """Return the MMA of two operands with compatible types and equal K.

    Raises:
        LayoutError: if the instructions are not legal, or D does not fit tensor memory.
    """
    mma = Tcgen05Mma(a, b, op)
    mma.check()
    return mma
