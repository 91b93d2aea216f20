"""How a fragment is held in registers: LLVM structs, one for each instruction's share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...dialect.bindings import ir
from ...dialect.caching import cached_in_context
from ...dialect.ops.mma_rules import operand_element
from ...dialect.types import (
    check_fragment,
    fragment_accumulator,
    is_metadata,
    shape_of,
)
from ...ir import emit
from ...layout import Accumulator
from ...layout.accumulators import ACC_F32
from ...layout.fragments import A_FRAGMENT_REGISTERS, first_rows, rows_of_warp
from ...layout.instruction import instruction_k
from ...layout.wgmma import INSTRUCTION_M, metadata_words


@dataclass(frozen=True)
class Registers:
    """The registers of an accumulator of shape (M, N).

    Blocks of 64 rows come first, the pieces of N within. A fragment of one block is its struct; one
    of several is a struct of structs. Registers are f32 or i32; two f16 share an i32.

    Attributes:
        accumulator: what the elements are.
        blocks: for each block (first row, first column, columns).
        rows: rows of an instruction: those of a block, or of two blocks that share their warps' rows
            (`fragments.first_rows`).
    """

    accumulator: Accumulator
    blocks: tuple[tuple[int, int, int], ...]
    rows: int = INSTRUCTION_M

    @cached_property
    def type(self) -> Any:
        """The LLVM type of the whole fragment."""
        return _struct_type(self.register, tuple(map(self.count, range(len(self.blocks)))))

    @cached_property
    def columns(self) -> int:
        """Columns of the fragment."""
        return sum(n for row, _, n in self.blocks if row == 0)

    @cached_property
    def across(self) -> int:
        """How many blocks have the same rows."""
        return sum(row == 0 for row, _, _ in self.blocks)

    @cached_property
    def instructions(self) -> list[tuple[int, int, int]]:
        """First row, first column and columns of what each instruction computes."""
        return [block for block in self.blocks if block[0] % self.rows == 0]

    def k_blocks(self, wgmma: Any) -> int:
        """How many instructions of an `smem.mma_desc` follow each other along K."""
        return len(wgmma.b_steps) // self.across

    @property
    def warp_rows(self) -> int:
        """Rows from what one warp holds to what the next does."""
        return rows_of_warp(self.rows)

    @cached_property
    def register(self) -> str:
        """The type of one register."""
        return "f32" if self.accumulator is ACC_F32 else "i32"

    def count(self, block: int) -> int:
        """Registers of a thread for one block: 64 x n elements over 128 threads."""
        return self.blocks[block][2] // 2 // self.accumulator.per_register

    def block_type(self, block: int) -> Any:
        """The LLVM type of one block's accumulator."""
        return _struct_type(self.register, (self.count(block),))

    def split(self, fragment: Any) -> list[Any]:
        """Each block's struct of a fragment; those that it was joined from, if it was."""
        if len(self.blocks) == 1:
            return [fragment]
        subtiles: list[Any] = []
        whole = fragment
        while len(subtiles) < len(self.blocks):
            owner = whole.owner
            if isinstance(owner, ir.Block) or owner.name != "llvm.insertvalue":
                return [extract(fragment, i, self.block_type(i)) for i in range(len(self.blocks))]
            whole, subtile = owner.operands
            subtiles.append(subtile)
        return subtiles[::-1]

    def join(self, subtiles: list[Any]) -> Any:
        """The fragment made of all blocks' structs."""
        if len(subtiles) == 1:
            return subtiles[0]
        return struct_of(self.type, subtiles)

    def scalars(self, fragment: Any) -> Iterator[tuple[int, list[Any]]]:
        """Each block's index and its registers, one value each."""
        type_ = ir.F32Type.get() if self.register == "f32" else emit.i32()
        for position, struct in enumerate(self.split(fragment)):
            yield position, [extract(struct, i, type_) for i in range(self.count(position))]


@cached_in_context
def registers_of(fragment: Any, rows: int = INSTRUCTION_M) -> Registers:
    """The registers that an accumulator is held in.

    Args:
        fragment: its type.
        rows: rows of the instructions that it comes from.

    Raises:
        Invalid: if none can hold it.
    """
    check_fragment(fragment)
    m, n = shape_of(fragment)
    accumulator = fragment_accumulator(fragment)
    pieces = accumulator.pieces(n)
    assert pieces is not None
    blocks = []
    for row in first_rows(m, rows):
        column = 0
        for piece in pieces:
            blocks.append((row, column, piece))
            column += piece
    return Registers(accumulator, tuple(blocks), rows)


def words_type(fragment: Any) -> Any:
    """The LLVM type of the registers of a multiplicand or of metadata.

    Raises:
        Invalid: if none can hold it.
    """
    check_fragment(fragment)
    return _struct_type("i32", (word_count(fragment),))


def word_count(fragment: Any) -> int:
    """32-bit registers of a thread for a multiplicand, or for metadata."""
    m, k = shape_of(fragment)
    element = operand_element(fragment)
    if is_metadata(fragment):
        return m // INSTRUCTION_M * metadata_words(element, k)
    return m // INSTRUCTION_M * (k // instruction_k(element)) * A_FRAGMENT_REGISTERS


def words_of(fragment: Any, count: int) -> list[Any]:
    """The 32-bit registers of a multiplicand or of metadata, by blocks of 64 rows, then along K."""
    return [extract(fragment, i, emit.i32()) for i in range(count)]


def of_words(words: list[Any]) -> Any:
    """The multiplicand or metadata made of those registers."""
    return struct_of(_struct_type("i32", (len(words),)), words)


def extract(struct: Any, position: int, type_: Any) -> Any:
    """One member of a struct."""
    at = _position(ir.Context.current, position)
    return emit.value("llvm.extractvalue", (struct,), type_, position=at)


def struct_of(type_: Any, members: Iterable[Any]) -> Any:
    """A struct of an LLVM type, with those members."""
    struct = emit.value("llvm.mlir.poison", (), type_)
    for position, member in enumerate(members):
        at = _position(ir.Context.current, position)
        struct = emit.value("llvm.insertvalue", (struct, member), type_, position=at)
    return struct


@cached_in_context
def _position(context: Any, position: int) -> Any:
    return ir.DenseI64ArrayAttr.get([position], context)


def _struct_type(register: str, counts: tuple[int, ...]) -> Any:
    return _parse_struct(ir.Context.current, register, counts)


@cached_in_context
def _parse_struct(context: Any, register: str, counts: tuple[int, ...]) -> Any:
    structs = [f"struct<({', '.join([register] * count)})>" for count in counts]
    text = structs[0] if len(structs) == 1 else f"struct<({', '.join(structs)})>"
    return ir.Type.parse(f"!llvm.{text}", context)
