"""Where an iteration is cut in two: its late part runs while the next iteration begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.effects import declared_accesses
from ...dialect.op import SmemOp
from ...dialect.ops import (
    BroadcastOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CopyAsyncOp,
    CopyOp,
    FillOp,
    StageOp,
    TileMma,
)
from ...dialect.ops.subview import SubviewOp
from ...dialect.types import FragmentType, shape_of, tensor_of
from ...ir.errors import OpError
from ...ir.kernel import function_of
from ...ir.walk import walk
from ..order.effects import base_of, is_constant_argument
from ..order.report import label
from .slices import is_repeatable

#: Ops with regions that may be in an iteration that is cut.
_CONTROL = ("scf.for", "scf.if", "scf.yield", "gpu.yield")

#: Ops of other dialects that a thread computes as it did before.
_OF_THREADS = ("gpu.block_dim", "gpu.lane_id", "gpu.thread_id", "llvm.intr.assume")


@dataclass(frozen=True)
class Cut:
    """The parts of an iteration of a loop. An op is in one of them, or computes what is computed again
    where it is taken: an index, a view of a tile, a constant fragment.

    Attributes:
        loop: the loop.
        early: the ops of the next iteration, up to its last product that is early.
        issues: the late ops up to the last product.
        rest: the other early ops; last, the waits for the stages that late ops read.
        end: the other late ops.
        crossing: the values of early ops, and the carried ones, that late ops take.
        late_arguments: the positions of the carried values that late ops compute.
        again: the positions of those that are computed again.
    """

    loop: Op
    early: tuple[Op, ...]
    issues: tuple[Op, ...]
    rest: tuple[Op, ...]
    end: tuple[Op, ...]
    crossing: tuple[Value, ...]
    late_arguments: frozenset[int]
    again: frozenset[int]


def products_of(loop: Op) -> list[Op]:
    """Return the products of a loop's body, in order; not those of loops and branches in it."""
    return [op.operation for op in loop.regions[0].blocks[0].operations if isinstance(op, TileMma)]


def cut(loop: Op, count: int) -> Cut:
    """Cut the iterations of a loop before their last products.

    Args:
        loop: the loop, in program order; its tiles are filled by other threads.
        count: how many products are late.

    Raises:
        OpError: at the op that hinders it.
    """
    return _Division(loop, count).cut()


def is_recomputed(op: Op) -> bool:
    """Whether an op computes something that is computed again where it is taken."""
    is_index = is_repeatable(op) or op.name == "gpu.shuffle"
    return is_index or isinstance(op.opview, BroadcastOp | FillOp | StageOp | SubviewOp)


def operands_of(op: Op) -> Iterator[Value]:
    """Yield the values that an op takes, and the ops in its regions."""
    for inner in walk(op):
        yield from inner.operands


class _Division:
    """The division of an iteration.

    Args:
        loop: the loop.
        count: how many products are late.
    """

    def __init__(self, loop: Op, count: int) -> None:
        self._loop = loop
        self._body: Block = loop.regions[0].blocks[0]
        *ops, terminator = (op.operation for op in self._body.operations)
        self._yields = list(terminator.operands)
        self._ops = [op for op in ops if not is_recomputed(op)]
        #: The values of the body that each op is made of.
        self._taken = {op: self._leaves(operands_of(op)) for op in self._ops}
        products = products_of(loop)
        if not 0 < count <= len(products):
            s = "" if len(products) == 1 else "s"
            raise OpError(loop, f"has {len(products)} product{s}; {count} of them cannot be late")
        self._early_products = products[: len(products) - count]
        self._late_products = products[len(products) - count :]
        self._late = set(self._late_products)
        self._late_arguments: set[int] = set()

    def cut(self) -> Cut:
        """Return the parts.

        Raises:
            OpError: at the op that hinders it.
        """
        for op in self._ops:
            _check(op)
        self._add_dependent()
        for op in self._early_products:
            if op in self._late:
                message = "takes what products yield that the next iteration would begin before"
                raise OpError(op, message)
        self._add_what_late_ops_take()
        self._place_releases()
        waits = [op for op in self._ops if self._is_late_wait(op)]
        late = [op for op in self._ops if op in self._late and op not in waits]
        early = [op for op in self._ops if op not in self._late]
        if not any(_works(op) for op in early):
            raise OpError(self._loop, "has nothing that could run beside its products")
        first, issued = _until(early, self._early_products), _until(late, self._late_products)
        # Before the next iteration's stages are waited for.
        issued += [op for op in late[len(issued) :] if self._releases_earlier(op)]
        end = [op for op in late if op not in issued]
        rest = (*early[len(first) :], *waits)
        crossing = self._crossing(late)
        return Cut(
            self._loop,
            tuple(first),
            tuple(issued),
            rest,
            tuple(end),
            crossing,
            frozenset(self._late_arguments),
            self._repeat_positions(),
        )

    # What the parts take.

    def _leaves(self, values: Iterable[Value]) -> dict[Value, None]:
        """Return the values of the body that others are made of: those that it carries, the loop's
        variable, and results of ops that are not computed again."""
        leaves: dict[Value, None] = {}
        remaining = list(values)
        while remaining:
            value = remaining.pop()
            owner = value.owner
            if isinstance(owner, ir.Block):
                if owner == self._body:
                    leaves[value] = None
            elif owner.operation.block == self._body:
                if is_recomputed(owner.operation):
                    remaining += owner.operands
                else:
                    leaves[value] = None
        return leaves

    def _is_late_value(self, value: Value) -> bool:
        if isinstance(value.owner, ir.Block):
            return value.arg_number > 0 and value.arg_number - 1 in self._late_arguments
        return value.owner.operation in self._late

    def _add_dependent(self) -> None:
        """Add what takes results of late ops, in this iteration or in a later one."""
        changed = True
        while changed:
            before = len(self._late), len(self._late_arguments)
            for op in self._ops:
                if any(map(self._is_late_value, self._taken[op])):
                    self._late.add(op)
            for position, value in enumerate(self._yields):
                if any(map(self._is_late_value, self._leaves([value]))):
                    self._late_arguments.add(position)
            changed = before != (len(self._late), len(self._late_arguments))

    def _add_what_late_ops_take(self) -> None:
        """Add ops whose results only late ops take, unless fewer registers are carried otherwise."""
        for op in reversed(self._ops):
            if op in self._late or not len(op.results) or op in self._early_products:
                continue
            users = self._users(op)
            taken = [x for x in self._taken[op] if isinstance(x.type, FragmentType)]
            shrinks = sum(map(bits_of, op.results)) <= sum(map(bits_of, taken))
            if users and users <= self._late and not (taken and shrinks):
                self._late.add(op)

    def _users(self, op: Op) -> set[Op | None]:
        """Return the ops that take results of an op; None is the next iteration."""
        results = set(op.results)
        users: set[Op | None] = {x for x in self._ops if results & {*self._taken[x]}}
        if results & {*self._leaves(self._yields)}:
            users.add(None)
        return users

    def _place_releases(self) -> None:
        """Let a stage be released where its last reader is."""
        readers: dict[Value, list[Op]] = {}
        for op in self._ops:
            for wait in filter(None, map(wait_of, self._taken[op])):
                readers.setdefault(wait.pipeline, []).append(op)
        for op in self._ops:
            released = [x.pipeline for x in walk(op, ConsumerReleaseOp)]
            reading = [x for pipeline in released for x in readers.get(pipeline, [])]
            if any(x in self._late for x in reading):
                self._late.add(op)

    def _releases_earlier(self, op: Op) -> bool:
        """Whether an op releases stages, but none of its own iteration."""
        waits = [op.opview for op in self._ops if isinstance(op.opview, ConsumerWaitOp)]
        taken = {wait.pipeline: wait.index for wait in waits}
        released = list(walk(op, ConsumerReleaseOp))
        return bool(released) and not any(
            x.pipeline in taken and x.index == taken[x.pipeline] for x in released
        )

    def _is_late_wait(self, op: Op) -> bool:
        return isinstance(op.opview, ConsumerWaitOp) and op in self._late

    def _crossing(self, late: list[Op]) -> tuple[Value, ...]:
        """Return the values that late ops take of early ones. A stage is not among them: it follows from
        the pipeline index."""
        yields = [self._yields[i] for i in self._late_arguments]
        leaves = self._leaves([x for op in late for x in operands_of(op)] + yields)
        indices = [wait.index for x in leaves if (wait := wait_of(x)) is not None]
        leaves |= self._leaves(indices)
        of_late_ops = self._late_arguments | self._repeat_positions()

        def crosses(value: Value) -> bool:
            if isinstance(value.owner, ir.Block):
                return value.arg_number > 0 and value.arg_number - 1 not in of_late_ops
            return wait_of(value) is None and value.owner.operation not in self._late

        return tuple(filter(crosses, leaves))

    def _repeat_positions(self) -> frozenset[int]:
        """Return the positions of carried values that follow from the loop's variable, and from each
        other."""
        again = set(range(len(self._yields))) - self._late_arguments
        while True:
            left = {
                position
                for position in again
                if all(
                    isinstance(x.owner, ir.Block)
                    and (not x.arg_number or x.arg_number - 1 in again)
                    for x in self._leaves([self._yields[position]])
                )
            }
            if left == again:
                return frozenset(again)
            again = left


def wait_of(value: Value) -> ConsumerWaitOp | None:
    """Return the wait whose result a value is; None if it is none."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.opview
    return op if isinstance(op, ConsumerWaitOp) else None


def bits_of(value: Value) -> int:
    """Return the bits of a fragment in the registers of a warpgroup; 0 for other values."""
    if not isinstance(value.type, FragmentType):
        return 0
    return prod(shape_of(value.type)) * tensor_of(value.type).element_type.width


def _until(ops: list[Op], products: list[Op]) -> list[Op]:
    """Return the ops up to the last product."""
    last = max((ops.index(op) for op in products), default=-1)
    return ops[: last + 1]


def _works(op: Op) -> bool:
    """Whether an op computes something."""
    return any(isinstance(result.type, FragmentType) for result in op.results)


def _check(op: Op) -> None:
    """Check that an op may change places with those of other iterations.

    Raises:
        OpError: at an op that may not.
    """
    for inner in walk(op):
        view, around = inner.opview, "" if inner == op else f" in the {label(op)}"
        if isinstance(view, TileMma) and inner != op:
            raise OpError(inner, f"is{around}; write its products into the loop itself")
        if isinstance(view, ConsumerWaitOp | ConsumerReleaseOp | TileMma):
            continue
        if isinstance(view, CopyOp | CopyAsyncOp):
            message = "fills a tile in the loop itself; let a producer load it (smem.specialize)"
            raise OpError(inner, message)
        if isinstance(view, SmemOp):
            _check_accesses(view)
        elif not (is_recomputed(inner) or inner.name in (*_CONTROL, *_OF_THREADS)):
            raise OpError(inner, "must stay in the order of the iterations")


def _check_accesses(op: SmemOp) -> None:
    """Check that an op of the dialect only reads, and what no op of the loop writes.

    Raises:
        OpError: if it may not change places with others.
    """
    accesses = list(declared_accesses(op))
    is_statement = not len(op.operation.results)
    if is_statement or op.effects.orders or any(access.writes for _, access in accesses):
        raise OpError(op, "must stay in the order of the iterations")
    for value, _ in accesses:
        is_array = isinstance(value.type, ir.MemRefType)
        if is_array and not is_constant_argument(base_of(value), function_of(op.operation)):
            raise OpError(op, "reads an array that the kernel also writes")
