"""Fragments in registers: LLVM structs, one for each block of an accumulator; of a slice, one struct."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...bindings.irtypes import Attribute, Context, Type, Value
from ...bindings.mlir import ir
from ...dialect.caching import cached_in_context
from ...dialect.elements import computed_type
from ...dialect.ops import DescriptorMma
from ...dialect.ops.mma_rules import operand_element
from ...dialect.slices import check_slice_type
from ...dialect.types import check_fragment, fragment_accumulator, is_metadata, shape_of, tensor_of
from ...ir import emit
from ...ir.i32 import I32
from ...layout import Accumulator
from ...layout.accumulators import ACC_F32
from ...layout.fragment_access import FragmentAccess
from ...layout.fragments import (
    A_FRAGMENT_REGISTERS,
    WARPGROUP,
    accumulator_column,
    accumulator_row,
    first_rows,
    rows_of_warp,
)
from ...layout.instruction import instruction_k
from ...layout.register_order import SLICE_STEPS
from ...layout.wgmma import INSTRUCTION_M, metadata_words


@dataclass(frozen=True)
class AccumulatorRegisters:
    """The registers of an accumulator of shape (M, N).

    A block is 64 rows and one piece of N. Blocks are ordered by rows, then by columns. A fragment of one
    block is its struct; a fragment of several is a struct of structs. Registers are f32 or i32; two f16
    share an i32.

    Attributes:
        accumulator: the type of the elements.
        blocks: (first row, first column, columns) of each block.
        rows: rows of an instruction: those of one block, or of two blocks with interleaved rows
            (`fragments.first_rows`).
    """

    accumulator: Accumulator
    blocks: tuple[tuple[int, int, int], ...]
    rows: int = INSTRUCTION_M

    @cached_property
    def type(self) -> Type:
        """The LLVM type of the whole fragment."""
        return _struct_type(self.register, tuple(map(self.count, range(len(self.blocks)))))

    @cached_property
    def columns(self) -> int:
        """Columns of the fragment."""
        return sum(n for row, _, n in self.blocks if row == 0)

    @cached_property
    def across(self) -> int:
        """Number of blocks with the same rows."""
        return sum(row == 0 for row, _, _ in self.blocks)

    @cached_property
    def instructions(self) -> list[tuple[int, int, int]]:
        """(First row, first column, columns) of the elements that each instruction computes."""
        return [block for block in self.blocks if block[0] % self.rows == 0]

    def k_blocks(self, mma: DescriptorMma) -> int:
        """Return the number of K blocks of an `smem.mma_desc`: its instructions along K."""
        return len(mma.b_steps) // self.across

    @property
    def warp_rows(self) -> int:
        """Rows between the first rows of consecutive warps."""
        return rows_of_warp(self.rows)

    @cached_property
    def register(self) -> str:
        """The type of a register: "f32" or "i32"."""
        return "f32" if self.accumulator is ACC_F32 else "i32"

    def count(self, block: int) -> int:
        """Return the registers of a thread for one block: 64 x n elements over 128 threads."""
        return self.blocks[block][2] // 2 // self.accumulator.per_register

    def block_type(self, block: int) -> Type:
        """Return the LLVM type of one block."""
        return _struct_type(self.register, (self.count(block),))

    def split(self, fragment: Value) -> list[Value]:
        """Return the struct of each block of a fragment: those that it was joined from, if it was."""
        if len(self.blocks) == 1:
            return [fragment]
        structs: list[Value] = []
        joined = fragment
        while len(structs) < len(self.blocks):
            owner = joined.owner
            if isinstance(owner, ir.Block) or owner.name != "llvm.insertvalue":
                return [extract(fragment, i, self.block_type(i)) for i in range(len(self.blocks))]
            joined, struct = owner.operands
            structs.append(struct)
        return structs[::-1]

    def join(self, structs: list[Value]) -> Value:
        """Return the fragment that consists of the structs of all blocks."""
        if len(structs) == 1:
            return structs[0]
        return struct_of(self.type, structs)

    def scalars(self, fragment: Value) -> Iterator[tuple[int, list[Value]]]:
        """Yield the index of each block and its registers, one value each."""
        type_ = ir.F32Type.get() if self.register == "f32" else emit.i32()
        for position, struct in enumerate(self.split(fragment)):
            yield position, [extract(struct, i, type_) for i in range(self.count(position))]


@cached_in_context
def registers_of(fragment: Type, rows: int = INSTRUCTION_M) -> AccumulatorRegisters:
    """Return the registers of an accumulator.

    Args:
        fragment: its type.
        rows: rows of the instructions that compute it.

    Raises:
        Invalid: if no registers can hold it.
    """
    check_fragment(fragment)
    m, n = shape_of(fragment)
    accumulator = fragment_accumulator(fragment)
    widths = accumulator.pieces(n)
    assert widths is not None
    blocks = []
    for row in first_rows(m, rows):
        column = 0
        for width in widths:
            blocks.append((row, column, width))
            column += width
    return AccumulatorRegisters(accumulator, tuple(blocks), rows)


def words_type(fragment: Type) -> Type:
    """Return the LLVM type of the registers of an A fragment or of metadata.

    Raises:
        Invalid: if no registers can hold it.
    """
    check_fragment(fragment)
    return _struct_type("i32", (word_count(fragment),))


def word_count(fragment: Type) -> int:
    """Return the number of 32-bit registers of a thread for an A fragment or for metadata."""
    m, k = shape_of(fragment)
    element = operand_element(fragment)
    if is_metadata(fragment):
        return m // INSTRUCTION_M * metadata_words(element, k)
    return m // INSTRUCTION_M * (k // instruction_k(element)) * A_FRAGMENT_REGISTERS


def words_of(fragment: Value, count: int) -> list[Value]:
    """Return the 32-bit registers of an A fragment or of metadata, by blocks of 64 rows, then along K."""
    return [extract(fragment, i, emit.i32()) for i in range(count)]


def fragment_of_words(words: list[Value]) -> Value:
    """Return the A fragment or the metadata that consists of these registers."""
    return struct_of(_struct_type("i32", (len(words),)), words)


def extract(struct: Value, position: int, type_: Type) -> Value:
    """Return one member of a struct."""
    index = _position(ir.Context.current, position)
    return emit.value("llvm.extractvalue", (struct,), type_, position=index)


def struct_of(type_: Type, members: Iterable[Value]) -> Value:
    """Return a struct of an LLVM type, with these members."""
    struct = emit.value("llvm.mlir.poison", (), type_)
    for position, member in enumerate(members):
        index = _position(ir.Context.current, position)
        struct = emit.value("llvm.insertvalue", (struct, member), type_, position=index)
    return struct


@cached_in_context
def _position(context: Context, position: int) -> Attribute:
    return ir.DenseI64ArrayAttr.get([position], context)


def _struct_type(register: str, counts: tuple[int, ...]) -> Type:
    return _parse_struct(ir.Context.current, register, counts)


@cached_in_context
def _parse_struct(context: Context, register: str, counts: tuple[int, ...]) -> Type:
    structs = [f"struct<({', '.join([register] * count)})>" for count in counts]
    text = structs[0] if len(structs) == 1 else f"struct<({', '.join(structs)})>"
    return ir.Type.parse(f"!llvm.{text}", context)


@dataclass(frozen=True)
class SliceRegisters:
    """The registers of a slice of an accumulator; each element is a member of a struct.

    Attributes:
        element: the MLIR type of the elements.
        dim: the reduced dimension: 1 if the slice has an element for each row.
        extent: the number of elements of the whole slice.
        indices: the row or column of each element, relative to the thread's first.
        warp_rows: rows between the first rows of consecutive warps.
    """

    element: Type
    dim: int
    extent: int
    indices: tuple[int, ...]
    warp_rows: int

    @cached_property
    def type(self) -> Type:
        """The LLVM type of the slice."""
        members = ", ".join([str(self.element)] * len(self.indices))
        return ir.Type.parse(f"!llvm.struct<({members})>", self.element.context)

    def scalars(self, value: Value) -> list[Value]:
        """Return the elements of a thread."""
        return [extract(value, i, self.element) for i in range(len(self.indices))]

    def join(self, elements: Sequence[Value]) -> Value:
        """Return the slice that consists of the elements of a thread."""
        return struct_of(self.type, elements)

    def start(self, thread: Value) -> I32:
        """Return the first row or column of a thread, from its index in the CTA (i32)."""
        starts = FragmentAccess(2, warp_rows=self.warp_rows).start(I32(thread) % WARPGROUP)
        return starts[1 - self.dim]

    def stores(self, thread: Value) -> Value:
        """Return whether a thread is the one that stores its elements (i1), given its index in the CTA.

        Of the threads that hold the same elements it is the first: of a quad, or of the warpgroup.
        """
        sharing = 4 if self.dim == 1 else WARPGROUP
        lane = I32(thread) % sharing
        return emit.compare("ult", lane.value, 1 if self.dim == 1 else 4)


def slice_registers(slice_: Type, rows: int) -> SliceRegisters:
    """Return the registers of a slice.

    Args:
        slice_: its type.
        rows: rows of the instructions that compute the accumulator.

    Raises:
        Invalid: if no registers can hold it.
    """
    dim, extent = check_slice_type(slice_), shape_of(slice_)[0]
    if dim == 1:
        # A thread holds two rows of each block of 64, in its registers 0 and 2.
        indices = [row + accumulator_row(i) for row in first_rows(extent, rows) for i in (0, 2)]
    else:
        # A thread holds two columns of each 8, in its registers 0 and 1 of 4.
        indices = [
            accumulator_column(4 * i + j) for i in range(extent // SLICE_STEPS[0]) for j in (0, 1)
        ]
    element = computed_type(tensor_of(slice_).element_type)
    return SliceRegisters(element, dim, extent, tuple(indices), rows_of_warp(rows))
