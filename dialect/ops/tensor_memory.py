"""`smem.tensor_memory`: the columns in which a block's accumulators are; made by
`smem-place-accumulators`."""

from typing import Any

from ..bindings import ext, ir
from ..build import create
from ..builder import builder
from ..diagnostics import Invalid, verifier
from ..effects import Effects, Scope
from ..op import SmemOp
from ..optional_attributes import has_unit_attribute
from ..types import PipelineType
from .memory import check_offset, offset_of
from .mma_rules import PAIR
from .pipeline import MBARRIER_BYTES

#: Columns of tensor memory of a block, and the fewest that are allocated (PTX ISA 9.7.16.1).
MAX_COLUMNS, LEAST_COLUMNS = 512, 32

#: The fewest mma of a warpgroup that can be under way, and the most.
LEAST_DEPTH, MOST_DEPTH = 4, 16

#: Bytes in front of the mbarriers: the address of the columns, and padding.
ADDRESS_BYTES = MBARRIER_BYTES


class TensorMemoryOp(SmemOp, name="tensor_memory"):
    """Allocates tensor memory for the accumulators of each warpgroup, on architectures whose mma add
    there (tcgen05). All threads of the block execute it, at the top of the kernel; what it allocates is
    released where the kernel returns.

    Each of `warpgroups` warpgroups, of which `first` is the first, has `columns` 32-bit columns, and can
    have `depth` mma under way, a power of two. In shared memory the op takes the address that the
    allocation gives, and `depth` mbarriers for each warpgroup, by which mma say that they are over.

    With the unit attribute `pair`, all mma are of pairs of blocks, and so is the allocation. Then each
    warpgroup has another mbarrier, at which it meets the other block's.

    `smem-allocate` adds `offset`, the bytes from the start of dynamic shared memory.
    """

    columns: ir.IntegerAttr
    depth: ir.IntegerAttr
    first: ir.IntegerAttr
    warpgroups: ir.IntegerAttr
    barriers: ext.Result[PipelineType]

    i32 = ("columns", "depth", "first", "warpgroups")
    i64 = ("offset",)
    effects = Effects(Scope.BLOCK, barrier=Scope.BLOCK, allocates=True)

    offset = property(offset_of)

    @verifier
    def verify_region_invariants(self) -> None:
        columns, depth, first, warpgroups = (
            number.value for number in (self.columns, self.depth, self.first, self.warpgroups)
        )
        if first < 0:
            raise Invalid(f"has first = {first}; expected 0 or more")
        if columns < 1 or warpgroups < 1 or columns * warpgroups > MAX_COLUMNS:
            raise Invalid(
                f"has {columns} columns for each of {warpgroups} warpgroups; expected 1 or more, and "
                f"{MAX_COLUMNS} in all"
            )
        if depth & depth - 1 or not 1 <= depth <= MOST_DEPTH:
            raise Invalid(f"has depth = {depth}; expected a power of two from 1 to {MOST_DEPTH}")
        _ = self.pair
        check_offset(self, MBARRIER_BYTES, self.shared_bytes)

    @property
    def pair(self) -> bool:
        """Whether all mma are of pairs of blocks.

        Raises:
            Invalid: if the attribute has a value.
        """
        return has_unit_attribute(self, PAIR)

    @property
    def barriers_of_each(self) -> int:
        """How many mbarriers each warpgroup has."""
        return self.depth.value + self.pair

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that it takes."""
        return ADDRESS_BYTES + MBARRIER_BYTES * self.warpgroups.value * self.barriers_of_each


@builder
def tensor_memory(
    columns: int, warpgroups: int, first: int = 0, depth: int = LEAST_DEPTH, pair: bool = False
) -> Any:
    """Tensor memory of so many 32-bit columns for each of so many warpgroups from `first` on, each of
    which can have `depth` mma under way, of pairs of blocks or of one."""
    return create(
        TensorMemoryOp,
        results=[PipelineType.get()],
        columns=columns,
        depth=depth,
        first=first,
        warpgroups=warpgroups,
        pair=pair,
    ).result
