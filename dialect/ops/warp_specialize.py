"""`smem.warp_specialize`, `smem.elect`, `smem.warpgroup_barrier`: code of some warpgroups or threads."""

from collections.abc import Callable
from typing import Any

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ext, ir
from ...layout.fragments import MAX_THREADS, WARPGROUP
from ..build import create
from ..builder import builder
from ..effects import Effects, Scope
from ..op import SmemOp
from ..verifier import verifier
from .pipeline import WARPS

#: Register counts that `setmaxnreg` accepts: multiples of 8 from 24 to 256 (PTX ISA 9.7.19.5).
REGISTER_STEP, MIN_REGISTERS, MAX_REGISTERS = 8, 24, 256

#: Maximum warpgroups of a CTA.
MAX_WARPGROUPS = MAX_THREADS // WARPGROUP

#: Values of `scope` of `smem.elect`: the threads of which one is elected.
SCOPES = ("warpgroup", "cta")


class WarpSpecializeOp(SmemOp, name="warp_specialize", traits=[ir.NoTerminatorTrait]):
    """Divides the warpgroups of the CTA among the `smem.partition` ops in its region, in their order.

    All threads of the CTA execute the op.
    """

    body: ext.Region

    effects = Effects(Scope.CTA)

    @property
    def partitions(self) -> list[Any]:
        """The `smem.partition` ops.

        Raises:
            Invalid: if the region does not have one block.
        """
        return list(_block(self).operations)

    @verifier
    def verify_region_invariants(self) -> None:
        partitions = self.partitions
        for partition in partitions:
            if partition.operation.name != PartitionOp.OPERATION_NAME:
                raise Invalid(f"holds '{partition.operation.name}'; expected smem.partition alone")
        if not partitions:
            raise Invalid("holds no smem.partition")
        total = sum(partition.warpgroups.value for partition in partitions)
        if total > MAX_WARPGROUPS:
            raise Invalid(
                f"has {total} warpgroups; a CTA has at most {MAX_WARPGROUPS}, of {WARPGROUP} threads "
                "each"
            )


class PartitionOp(SmemOp, name="partition", traits=[ir.NoTerminatorTrait]):
    """The code of `warpgroups` warpgroups. The region can have an argument of type index: the index of
    the warpgroup in the partition, from 0.

    The optional attribute `registers` is the number of registers per thread (`setmaxnreg`). At the
    start, all threads of the CTA have the same number; partitions that release registers let others have
    more.
    """

    warpgroups: ir.IntegerAttr
    body: ext.Region

    i32 = ("warpgroups", "registers")
    effects = Effects(Scope.WARPGROUP)

    @property
    def registers(self) -> int | None:
        """The registers per thread; None if the attribute is absent.

        Raises:
            Invalid: if `setmaxnreg` does not accept the number.
        """
        if "registers" not in self.attributes:
            return None
        attribute = self.attributes["registers"].maybe_downcast()
        number = attribute.value if isinstance(attribute, ir.IntegerAttr) else -1
        if number % REGISTER_STEP or not MIN_REGISTERS <= number <= MAX_REGISTERS:
            raise Invalid(
                f"has registers = {attribute}; expected a multiple of {REGISTER_STEP} from "
                f"{MIN_REGISTERS} to {MAX_REGISTERS}"
            )
        return number

    @verifier
    def verify_region_invariants(self) -> None:
        parent = self.operation.parent
        if parent is None or parent.operation.name != WarpSpecializeOp.OPERATION_NAME:
            raise Invalid("is not directly in an smem.warp_specialize")
        if self.warpgroups.value < 1:
            raise Invalid(f"has warpgroups = {self.warpgroups.value}; expected 1 or more")
        for name in self.attributes:
            if name not in ("warpgroups", "registers") and "." not in name:
                raise Invalid(f"has the attribute {name}; expected warpgroups or registers")
        _ = self.registers
        arguments = [a.type for a in _block(self).arguments]
        if arguments not in ([], [ir.IndexType.get()]):
            types = ", ".join(map(str, arguments))
            raise Invalid(f"has a region with arguments ({types}); expected none, or one index")


class ElectOp(SmemOp, name="elect", traits=[ir.NoTerminatorTrait]):
    """The code of one elected thread: of each warpgroup that executes the op (`scope = "warpgroup"`), or
    of the CTA (`scope = "cta"`). All threads of the warpgroup, or of the CTA, execute the op together.

    The optional attribute `warp` is the index of the elected thread's warp, 0 by default. Ops with
    different warps run concurrently.
    """

    scope: ir.StringAttr
    body: ext.Region

    i32 = ("warp",)
    effects = Effects(Scope.WARPGROUP)

    @property
    def warp(self) -> int:
        """The index of the elected thread's warp in the warpgroup, or in the CTA.

        Raises:
            Invalid: if there is no such warp.
        """
        if "warp" not in self.attributes:
            return 0
        attribute, in_warpgroup = (
            self.attributes["warp"].maybe_downcast(),
            self.scope.value == "warpgroup",
        )
        number = attribute.value if isinstance(attribute, ir.IntegerAttr) else -1
        if number < 0 or (number >= WARPS and in_warpgroup):
            range_text = f" to {WARPS - 1}" if in_warpgroup else ""
            raise Invalid(f"has warp = {attribute}; expected a number from 0{range_text}")
        return number

    @verifier
    def verify_region_invariants(self) -> None:
        scope = self.scope.value
        if scope not in SCOPES:
            raise Invalid(f'has scope = "{scope}"; expected "warpgroup" or "cta"')
        for name in self.attributes:
            if name not in ("scope", "warp") and "." not in name:
                raise Invalid(f"has the attribute {name}; expected scope or warp")
        _ = self.warp
        if len(_block(self).arguments):
            raise Invalid("has a region with arguments; expected none")


class WarpgroupBarrierOp(SmemOp, name="warpgroup_barrier"):
    """A barrier of the threads of each warpgroup that executes it. Their earlier writes to shared memory
    are visible to all of them after it. Warpgroup i uses named barrier i + 1.

    With the optional attribute `warpgroups = n`, it is one of the threads of n adjacent warpgroups, such
    as all those of a partition. Each such group uses a named barrier of its own, counted from the last
    one of the CTA.
    """

    i32 = ("warpgroups",)
    effects = Effects(Scope.WARPGROUP, barrier=Scope.WARPGROUP)

    @property
    def warpgroups(self) -> int:
        """The number of adjacent warpgroups that wait for each other.

        Raises:
            Invalid: if no CTA has as many.
        """
        return warpgroups_attribute(self)

    @verifier
    def verify_region_invariants(self) -> None:
        for name in self.attributes:
            if name != "warpgroups" and "." not in name:
                raise Invalid(f"has the attribute {name}; expected warpgroups")
        _ = self.warpgroups


def warpgroups_attribute(op: SmemOp) -> int:
    """Return the attribute `warpgroups` of an op, 1 if it is absent: how many adjacent warpgroups execute
    it together.

    Raises:
        Invalid: if no CTA has as many.
    """
    if "warpgroups" not in op.attributes:
        return 1
    attribute = op.attributes["warpgroups"].maybe_downcast()
    count = attribute.value if isinstance(attribute, ir.IntegerAttr) else 0
    if not 1 <= count <= MAX_WARPGROUPS:
        raise Invalid(f"has warpgroups = {attribute}; expected 1 to {MAX_WARPGROUPS}")
    return count


def _block(op: Op) -> Block:
    blocks = list(op.regions[0].blocks)
    if len(blocks) != 1:
        raise Invalid(f"has a region of {len(blocks)} blocks; expected one")
    return blocks[0]


@builder
def warp_specialize(*partitions: tuple[int, int | None, Callable[[Value], None]]) -> None:
    """Build an `smem.warp_specialize` with its partitions.

    Args:
        partitions: (warpgroups, registers, build) for each partition. `registers` is per thread, None to
            keep them; `build` builds the region, and is called with the index of the warpgroup in the
            partition.

    Example:
        >>> smem.warp_specialize(
        ...     (1, 40, lambda _: smem.elect(lambda: smem.tma_store(a, A, (0, 0)))),
        ...     (2, 232, lambda warpgroup: smem.store(d, D)),
        ... )
    """
    op = create(WarpSpecializeOp, regions=1)
    with ir.InsertionPoint(ir.Block.create_at_start(op.regions[0], [])):
        for warpgroups, registers, build in partitions:
            partition = create(PartitionOp, regions=1, warpgroups=warpgroups, registers=registers)
            block = ir.Block.create_at_start(partition.regions[0], [ir.IndexType.get()])
            with ir.InsertionPoint(block):
                build(block.arguments[0])


@builder
def elect(build: Callable[[], None], scope: str = "warpgroup", warp: int = 0) -> None:
    """Build an `smem.elect` for a thread of `warp` of each warpgroup ("warpgroup") or of the CTA
    ("cta").

    `build` builds its region.

    Args:
        build: builds the region, without arguments.
        scope: "warpgroup" for a thread of each warpgroup, "cta" for a thread of the CTA.
        warp: the index of the elected thread's warp, in the warpgroup or CTA.

    Example:
        >>> smem.elect(lambda: smem.tma_store(a, A, (0, 0)))
    """
    op = create(ElectOp, regions=1, scope=scope, warp=warp or None)
    with ir.InsertionPoint(ir.Block.create_at_start(op.regions[0], [])):
        build()


@builder
def warpgroup_barrier(warpgroups: int = 1) -> None:
    """Build an `smem.warpgroup_barrier`.

    Args:
        warpgroups: the number of adjacent warpgroups that wait for each other.

    Example:
        >>> smem.store(d, a)
        >>> smem.warpgroup_barrier()
    """
    create(WarpgroupBarrierOp, warpgroups=None if warpgroups == 1 else warpgroups)
