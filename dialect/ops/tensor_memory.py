"""`smem.tensor_memory`: allocates tensor memory for accumulators; `smem-place-accumulators` adds it."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Value
from ...bindings.mlir import ext, ir
from ..build import create
from ..builder import builder
from ..effects import Effects, Scope
from ..op import SmemOp
from ..optional_attributes import has_unit_attribute
from ..types import PipelineType
from ..verifier import verifier
from .memory import check_offset, offset_of
from .mma_rules import PAIR
from .pipeline import MBARRIER_BYTES

#: Columns of tensor memory of a CTA, and the minimum allocation (PTX ISA 9.7.16.1).
MAX_COLUMNS, LEAST_COLUMNS = 512, 32

#: Default and maximum number of unfinished mma of a warpgroup.
LEAST_DEPTH, MOST_DEPTH = 4, 16

#: Bytes before the mbarriers: the address of the columns, and padding.
ADDRESS_BYTES = MBARRIER_BYTES


class TensorMemoryOp(SmemOp, name="tensor_memory"):
    """Allocates tensor memory for the accumulators of each warpgroup (tcgen05 only). All threads of the
    CTA execute the op, at the top of the kernel. The allocation is freed where the kernel returns.

    Each of `warpgroups` warpgroups, beginning with warpgroup `first`, has `columns` 32-bit columns and
    can have `depth` unfinished mma, a power of two. The op also occupies shared memory: the address of
    the allocation, and `depth` mbarriers for each warpgroup, which signal that an mma is complete.

    With the unit attribute `pair`, CTA pairs execute all mma and the allocation (`.cta_group::2`). Each
    warpgroup then has one more mbarrier, for synchronization with the warpgroup of the other CTA.

    `smem-allocate` adds the attribute `offset`: bytes from the start of dynamic shared memory.
    """

    columns: ir.IntegerAttr
    depth: ir.IntegerAttr
    first: ir.IntegerAttr
    warpgroups: ir.IntegerAttr
    barriers: ext.Result[PipelineType]

    i32 = ("columns", "depth", "first", "warpgroups")
    i64 = ("offset",)
    effects = Effects(Scope.CTA, barrier=Scope.CTA, allocates=True)

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
        """Whether CTA pairs execute all mma.

        Raises:
            Invalid: if the attribute has a value.
        """
        return has_unit_attribute(self, PAIR)

    @property
    def barriers_of_each(self) -> int:
        """The number of mbarriers of each warpgroup."""
        return self.depth.value + self.pair

    @property
    def shared_bytes(self) -> int:
        """The bytes of shared memory that the op occupies."""
        return ADDRESS_BYTES + MBARRIER_BYTES * self.warpgroups.value * self.barriers_of_each


@builder
def tensor_memory(
    columns: int, warpgroups: int, first: int = 0, depth: int = LEAST_DEPTH, pair: bool = False
) -> Value:
    """Build an `smem.tensor_memory`, and return its result.

    Args:
        columns: 32-bit columns of each warpgroup.
        warpgroups: the number of warpgroups.
        first: the index of the first warpgroup.
        depth: unfinished mma of each warpgroup, a power of two.
        pair: whether CTA pairs execute the mma.

    Example:
        >>> print(smem.tensor_memory(columns=128, warpgroups=1).type)
        !smem.pipeline
    """
    return create(
        TensorMemoryOp,
        results=[PipelineType.get()],
        columns=columns,
        depth=depth,
        first=first,
        warpgroups=warpgroups,
        pair=pair,
    ).result
