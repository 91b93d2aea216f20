"""Ops that several warpgroups execute: together where they must, on different bytes where they write.

The mma of a CTA pair is one: its instruction reads the tiles of both CTAs, so both must execute it.

No warpgroup waits forever at an `smem.order_wait`. It waits for the warpgroup before it, which may be
at any op before the same turn. Consider the warpgroup of a partition that is least far in the
program, the first one of several. The warpgroup before it is further, so it has ended the turn, and
it does not wait within a turn. So the least far one waits for other partitions alone. The others are
further, and have released and committed whatever it has. Where partitions do not wait for each other
in a circle, each of them being one thread of execution, the least far warpgroups do not either. This
needs turns without waits, and warpgroups that run the same ops.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...bindings.diagnostics import format_location, remark
from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.effects import Completion, Scope
from ...dialect.op import SmemOp
from ...dialect.ops import (
    ConsumerWaitOp,
    ElectOp,
    MapOp,
    OrderArriveOp,
    OrderWaitOp,
    PartitionOp,
    ProducerAcquireOp,
    ReduceOp,
    ScaleDOp,
    SemaphoreArriveOp,
    StageOp,
    SubviewOp,
    TileMma,
    ViewOp,
    WarpgroupBarrierOp,
    WarpSpecializeOp,
)
from ...dialect.smem import Smem
from ...dialect.types import is_in_flight
from ...ir.errors import OpError
from ...ir.kernel import ancestors_of, block_size, function_of, threads_of
from ...ir.subtiles import chain_of
from ...ir.walk import walk
from ...layout.fragments import WARPGROUP
from ..order.effects import accessed_tiles, is_harmless
from ..order.memory import starts_of
from ..order.report import label
from .polynomials import Divergence, Polynomial, number
from .tile_slices import AxisSlice, subtile_of
from .values import SymbolicValues


def check_warpgroups(function: Op) -> None:
    """Check that warpgroups that execute one op write different bytes; remarks state what is not proven.

    `pipelines` checks ops in partitions.

    Raises:
        OpError: if they write the same bytes.
    """
    threads = threads_of(function)
    if threads is None or threads <= WARPGROUP:
        return
    values = SymbolicValues(function)
    count = threads // WARPGROUP
    for op in walk(function, *filter(_writes_by_warpgroup, Smem.operations)):
        outer = list(ancestors_of(op))
        if any(isinstance(ancestor.opview, PartitionOp) for ancestor in outer):
            continue
        for tile, access in accessed_tiles(op):
            if access.writes:
                _check(op, tile, values, count, [ancestor.name for ancestor in outer])


def _writes_by_warpgroup(op: type[SmemOp]) -> bool:
    effects = op.effects
    return effects.scope is Scope.WARPGROUP and any(access.writes for access in effects.accesses)


def _check(op: Op, tile: Value, values: SymbolicValues, count: int, outer: list[str]) -> None:
    allocation, _, slices = subtile_of(tile, op, values)
    if any(_is_disjoint(axis_slice, values) for axis_slice in slices):
        return
    same = all(
        axis_slice.start is not None and axis_slice.start.divergence <= Divergence.BETWEEN_CTAS
        for axis_slice in slices
    )
    if same and not {"scf.if", "scf.while", "scf.index_switch"} & set(outer):
        raise OpError(
            op,
            f"is executed by {count} warpgroups, which write the same bytes of the {label(allocation)} "
            "at the same time; give each a different subtile with smem.subtile, or let only one "
            "execute it",
        )
    remark(
        op.location,
        f"cannot prove that the {count} warpgroups that execute it write different bytes of the "
        f"{label(allocation)}; begin the subtile at a multiple of gpu.thread_id x / {WARPGROUP}",
    )


def _is_disjoint(axis_slice: AxisSlice, values: SymbolicValues) -> bool:
    """Whether the slices of any two warpgroups are disjoint."""
    start = axis_slice.start or Polynomial()
    return any(
        axis_slice.is_disjoint_between(axis_slice, s)
        for s in start.symbols
        if values.is_warpgroup(s)
    )


#: Predicates of `arith.cmpi`: slt, sge, ult and uge.
_BELOW_OR_NOT = (2, 5, 6, 9)

#: How many operands of an op decide how often its regions are executed.
_DECIDING = {"scf.if": 1, "scf.index_switch": 1, "scf.for": 3}

#: Ops whose regions every thread executes once.
_STRAIGHT = (PartitionOp.OPERATION_NAME, WarpSpecializeOp.OPERATION_NAME)


def check_reductions(function: Op) -> None:
    """Emit a remark for each reduction, barrier of warpgroups and arrival at a semaphore that some of its
    warpgroups, or some threads of a warpgroup, may not execute."""
    values: SymbolicValues | None = None
    for op in walk(function, ReduceOp, SemaphoreArriveOp, WarpgroupBarrierOp):
        if isinstance(op, WarpgroupBarrierOp) and op.warpgroups == 1:
            continue
        values = values or SymbolicValues(function)
        if isinstance(op, SemaphoreArriveOp) or op.warpgroups == 1:
            _check_threads(op, values)
            continue
        reason = next(differences(op, values), None)
        if reason:
            remark(
                op.location,
                f"cannot prove that {op.warpgroups} warpgroups execute it together: {reason}",
            )


def _check_threads(op: Op, values: SymbolicValues) -> None:
    """Emit a remark if a condition or a loop may select only some threads of a warpgroup."""
    for outer in ancestors_of(op):
        deciding = list(outer.operands)[: _DECIDING.get(outer.name, 0)]
        unknown = isinstance(op, SemaphoreArriveOp) and outer.name not in (*_DECIDING, *_STRAIGHT)
        if unknown or not all(_is_same_in_warpgroup(value, values) for value in deciding):
            remark(
                op.location,
                "cannot prove that the threads of a warpgroup execute it together: the "
                f"'{outer.name}' at {format_location(outer.location)} may differ between them",
            )
            return


def _is_same_in_warpgroup(value: Value, values: SymbolicValues) -> bool:
    """Whether all threads of a warpgroup have the same value."""
    polynomial = values.polynomial(value)
    if all(
        symbol.divergence <= Divergence.BETWEEN_WARPGROUPS or values.is_warpgroup(symbol)
        for symbol in polynomial.symbols
    ):
        return True
    op = value.owner
    if isinstance(op, ir.Block) or not op.name.startswith("arith."):
        return False
    return _is_at_warpgroup(op, values) or all(
        _is_same_in_warpgroup(operand, values) for operand in op.operands
    )


def _is_at_warpgroup(op: Op, values: SymbolicValues) -> bool:
    """Whether an op compares the thread's index with that of the first thread of a warpgroup."""
    if op.name != "arith.cmpi" or op.attributes["predicate"].value not in _BELOW_OR_NOT:
        return False
    thread, first = op.operands[0].owner, values.polynomial(op.operands[1]).constant
    size = block_size(function_of(op))
    return (
        not isinstance(thread, ir.Block)
        and thread.name == "gpu.thread_id"
        and size is not None
        and size[1:] == (1, 1)
        and first is not None
        and first % WARPGROUP == 0
    )


def differences(op: Op, values: SymbolicValues) -> Iterator[str]:
    """Yield why some warpgroups may execute an op less often than others, innermost region first."""
    inner = op.operation
    for outer in (*ancestors_of(op), function_of(op)):
        # All threads that execute a region execute its first block, to which no op branches.
        if inner.block != inner.block.region.blocks[0]:
            yield (
                f"it is not in the first block of the '{outer.name}' at "
                f"{format_location(outer.location)}, and branches may differ between them"
            )
        if outer == function_of(op):
            return
        if outer.name not in _STRAIGHT and not _is_same_for_warpgroups(outer, values):
            yield (
                f"the '{outer.name}' at {format_location(outer.location)} may differ between them"
            )
        inner = outer


def _is_same_for_warpgroups(op: Op, values: SymbolicValues) -> bool:
    """Whether all warpgroups execute the regions of an op equally often."""
    if op.name not in _DECIDING:
        return False
    deciding = list(op.operands)[: _DECIDING[op.name]]
    return all(values.polynomial(v).divergence <= Divergence.BETWEEN_CTAS for v in deciding)


def check_order(function: Op) -> None:
    """Check the ordered turns of warpgroups (`smem.order_wait` to `smem.order_arrive`). A remark states
    where some warpgroup may not take a turn.

    Raises:
        OpError: if a turn has no begin or no end in its block, or an op in it may wait for other threads.
    """
    turns = list(walk(function, OrderWaitOp, OrderArriveOp))
    for block in dict.fromkeys(op.operation.block for op in turns):
        _check_block(block)
    values = SymbolicValues(function) if turns else None
    for op in turns:
        if values is None or not isinstance(op, OrderWaitOp):
            continue
        if reason := next(differences(op, values), None):
            remark(
                op.location,
                f"cannot prove that all warpgroups of its smem.partition take turns: {reason}",
            )


def _check_block(block: Block) -> None:
    """Check that turns of a block end in it, do not nest, and contain no op that may wait."""
    turn_begin: Op | None = None
    for op in block.operations:
        if isinstance(op, OrderWaitOp):
            if turn_begin is not None:
                raise OpError(op, f"is in the turn that begins {_at(turn_begin)}; {_END} before it")
            turn_begin = op
        elif isinstance(op, OrderArriveOp):
            if turn_begin is None:
                raise OpError(
                    op, "ends a turn that no smem.order_wait before it in its block begins"
                )
            turn_begin = None
        elif turn_begin is not None and _may_wait(op):
            raise OpError(
                op,
                f"may wait for other warpgroups in the turn that begins {_at(turn_begin)}; put it before "
                "that, or behind its smem.order_arrive",
            )
    if turn_begin is not None:
        raise OpError(turn_begin, f"begins a turn that does not end in its block; {_END} behind it")


_END = "put smem.order_arrive"


def _at(op: Op) -> str:
    return f"at {format_location(op.location)}"


def _may_wait(op: Op) -> bool:
    """Whether an op, or an op in its regions, may wait for threads of other warpgroups."""
    if isinstance(op, MapOp):
        return False
    if isinstance(op, ElectOp):
        return any(_may_wait(inner) for inner in op.regions[0].blocks[0].operations)
    if len(op.regions):
        return True
    if not isinstance(op, SmemOp):
        return not is_harmless(op.operation)
    effects = op.effects
    waits = (
        effects.awaits is Completion.MBARRIER or (effects.barrier or Scope.THREAD) > Scope.WARPGROUP
    )
    return waits or (isinstance(op, (ReduceOp, WarpgroupBarrierOp)) and op.warpgroups != 1)


#: Ops around an mma by which the threads of a CTA take different paths; threads of the same number take
#: the same path in both CTAs.
_PARTITIONS = (WarpSpecializeOp, PartitionOp)

#: Ops that wait for a pipeline index and return its stage.
_WAITS = (ConsumerWaitOp, ProducerAcquireOp)


def check_cta_pairs(function: Op) -> None:
    """Check that the CTAs of each pair execute the same mma, on the same addresses of shared memory.

    Remarks state what is not proven.

    Raises:
        OpError: if an mma reads different addresses in the two CTAs.
    """
    mmas = [op for op in walk(function, TileMma) if op.ctas > 1]
    if not mmas:
        return
    values = SymbolicValues(function)
    unknown: dict[tuple[Op, str], None] = {}
    for op in mmas:
        for tile, _ in accessed_tiles(op):
            unknown |= dict.fromkeys(_tile_remarks(values, op, tile))
    for op in walk(function, ScaleDOp):
        if not values.polynomial(op.keep).same_in_pair:
            unknown[op, "it is not known whether both CTAs keep the accumulator"] = None
    unknown |= dict.fromkeys(_path_remarks(values, function, mmas))
    for op, reason in unknown:
        remark(op.location, f"cannot prove that both CTAs of a pair execute the same mma: {reason}")


def _tile_remarks(values: SymbolicValues, op: Op, tile: Value) -> Iterator[tuple[Op, str]]:
    """Yield why it is not proven that both CTAs read the same subtile."""
    allocation, chain = chain_of(tile, op)
    starts = [start for subtile in chain for start in _starts(values, subtile)]
    if any(values.differs_in_pair(start) for start in starts):
        raise OpError(
            op,
            f"reads different subtiles of the {label(allocation)} in the two CTAs of a pair, but one "
            "instruction reads both CTAs at the same address; copy what each multiplies to the same "
            "subtile",
        )
    if isinstance(allocation, ViewOp):
        yield (
            op,
            f"it is not known whether the {label(allocation)} is at the same address in both CTAs",
        )
    elif not all(start.same_in_pair for start in starts):
        yield (
            op,
            f"it is not known whether it reads the same subtile of the {label(allocation)} in both CTAs",
        )


def _starts(values: SymbolicValues, subtile: SubviewOp) -> list[Polynomial]:
    """Return where a subtile begins in its tile; for a stage of a pipeline, the pipeline index."""
    if isinstance(subtile, StageOp) and isinstance(subtile.index.owner, _WAITS):
        return [values.polynomial(subtile.index.owner.index)]
    return [start for _, start in starts_of([subtile], values.polynomial, number)]


def _path_remarks(values: SymbolicValues, function: Op, mmas: list[Op]) -> Iterator[tuple[Op, str]]:
    """Yield the ops by which the CTAs of a pair may execute different mma, or use different
    accumulators."""
    outer = {op: None for mma in mmas for op in ancestors_of(mma)}
    for op in walk(function, "scf.for", "scf.if"):
        if any(is_in_flight(result.type) for result in op.results):
            outer[op.operation] = None
    for op in outer:
        if op.name == "scf.for":
            if not all(bound.same_in_pair for bound in values.loop(op).bounds):
                yield op, "it is not known whether both CTAs run the same number of iterations"
        elif op.name == "scf.if":
            if not values.polynomial(op.operands[0]).same_in_pair:
                yield op, "it is not known whether both CTAs take the same branch"
        elif not isinstance(op.opview, _PARTITIONS):
            yield op, "it is not known whether both CTAs execute it in the same way"
