"""`smem.warp_specialize`, `smem.elect`, `smem.warpgroup_barrier`: which warpgroups and threads do what."""

from collections.abc import Callable
from typing import Any

from ...layout.fragments import MAX_THREADS, WARPGROUP
from ..bindings import ext, ir
from ..build import create
from ..builder import builder
from ..diagnostics import Invalid, verifier
from ..effects import Effects, Scope
from ..op import SmemOp
from .pipeline import WARPS

#: Registers of a thread that `setmaxnreg` takes: multiples of 8 (PTX ISA 9.7.19.5).
REGISTER_STEP, MIN_REGISTERS, MAX_REGISTERS = 8, 24, 256

#: Warpgroups of the largest block.
MAX_WARPGROUPS = MAX_THREADS // WARPGROUP

#: Threads of which `smem.elect` takes one.
SCOPES = ("warpgroup", "block")


class WarpSpecializeOp(SmemOp, name="warp_specialize", traits=[ir.NoTerminatorTrait]):
    """Divides the warpgroups of the block among partitions; each `smem.partition` in it takes the next ones.

    All threads of the block execute it.
    """

    body: ext.Region

    effects = Effects(Scope.BLOCK)

    @property
    def partitions(self) -> list[Any]:
        """The ops in it.

        Raises:
            Invalid: if its region is not of one block.
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
                f"has {total} warpgroups; a block has at most {MAX_WARPGROUPS}, of {WARPGROUP} threads "
                "each"
            )


class PartitionOp(SmemOp, name="partition", traits=[ir.NoTerminatorTrait]):
    """What `warpgroups` warpgroups do. The region may have an argument of index type: which of them it
    is, from 0.

    `registers` is the number of registers of each of its threads (`setmaxnreg`). The block begins with
    as many for all threads as fit the multiprocessor; partitions that give some up let others have more.
    """

    warpgroups: ir.IntegerAttr
    body: ext.Region

    i32 = ("warpgroups", "registers")
    effects = Effects(Scope.WARPGROUP)

    @property
    def registers(self) -> int | None:
        """The registers of each thread; None if nothing is said of them.

        Raises:
            Invalid: if `setmaxnreg` does not take the number.
        """
        if "registers" not in self.attributes:
            return None
        given = self.attributes["registers"].maybe_downcast()
        number = given.value if isinstance(given, ir.IntegerAttr) else -1
        if number % REGISTER_STEP or not MIN_REGISTERS <= number <= MAX_REGISTERS:
            raise Invalid(
                f"has registers = {given}; expected a multiple of {REGISTER_STEP} from "
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
            said = ", ".join(map(str, arguments))
            raise Invalid(f"has a region with arguments ({said}); expected none, or one index")


class ElectOp(SmemOp, name="elect", traits=[ir.NoTerminatorTrait]):
    """What one thread does: of each warpgroup that executes the op, or of the block. All threads of the
    warpgroup, or of the block, execute it together.

    `scope` is "warpgroup" or "block". The thread is one of the first warp, or of the `warp` that is said:
    threads of several warps then do several things at a time.
    """

    scope: ir.StringAttr
    body: ext.Region

    i32 = ("warp",)
    effects = Effects(Scope.WARPGROUP)

    @property
    def warp(self) -> int:
        """The warp of the warpgroup, or of the block, of which the thread is one.

        Raises:
            Invalid: if there is no such warp.
        """
        if "warp" not in self.attributes:
            return 0
        given, in_warpgroup = (
            self.attributes["warp"].maybe_downcast(),
            self.scope.value == "warpgroup",
        )
        number = given.value if isinstance(given, ir.IntegerAttr) else -1
        if number < 0 or (number >= WARPS and in_warpgroup):
            most = f" to {WARPS - 1}" if in_warpgroup else ""
            raise Invalid(f"has warp = {given}; expected a number from 0{most}")
        return number

    @verifier
    def verify_region_invariants(self) -> None:
        scope = self.scope.value
        if scope not in SCOPES:
            raise Invalid(f'has scope = "{scope}"; expected "warpgroup" or "block"')
        for name in self.attributes:
            if name not in ("scope", "warp") and "." not in name:
                raise Invalid(f"has the attribute {name}; expected scope or warp")
        _ = self.warp
        if len(_block(self).arguments):
            raise Invalid("has a region with arguments; expected none")


class WarpgroupBarrierOp(SmemOp, name="warpgroup_barrier"):
    """Each warpgroup that executes it waits until all of its threads have, and what they wrote to shared
    memory is visible to all of them. Warpgroup i uses the block's named barrier i + 1.
    """

    effects = Effects(Scope.WARPGROUP, barrier=Scope.WARPGROUP)


def _block(op: Any) -> Any:
    blocks = list(op.regions[0].blocks)
    if len(blocks) != 1:
        raise Invalid(f"has a region of {len(blocks)} blocks; expected one")
    return blocks[0]


@builder
def warp_specialize(*each: tuple[int, int | None, Callable[[Any], None]]) -> None:
    """Divides the warpgroups of the block.

    Args:
        each: for each partition its warpgroups, the registers of a thread (None to leave them), and what
            builds its region, called with the index of the warpgroup in the partition.
    """
    made = create(WarpSpecializeOp, regions=1)
    with ir.InsertionPoint(ir.Block.create_at_start(made.regions[0], [])):
        for warpgroups, registers, build in each:
            partition = create(PartitionOp, regions=1, warpgroups=warpgroups, registers=registers)
            block = ir.Block.create_at_start(partition.regions[0], [ir.IndexType.get()])
            with ir.InsertionPoint(block):
                build(block.arguments[0])


@builder
def elect(build: Callable[[], None], scope: str = "warpgroup", warp: int = 0) -> None:
    """What one thread of each warpgroup ("warpgroup"), or of the block ("block"), does: one of `warp`."""
    made = create(ElectOp, regions=1, scope=scope, warp=warp or None)
    with ir.InsertionPoint(ir.Block.create_at_start(made.regions[0], [])):
        build()


@builder
def warpgroup_barrier() -> None:
    """A barrier among the threads of a warpgroup."""
    create(WarpgroupBarrierOp)
