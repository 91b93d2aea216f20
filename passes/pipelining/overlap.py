"""`smem-overlap`: the last products of an iteration run while the next iteration begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...bindings.irtypes import Block, Module, Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.ops import PartitionOp
from ...dialect.ops.warp_specialize import MAX_REGISTERS
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import ancestors_of
from ...ir.loops import OVERLAP
from ...ir.walk import walk
from ..check_async.integer_ranges import IntegerRanges
from ..check_async.pipelines.ops import stages_of
from ..check_async.polynomials import number
from ..driver.base import option
from .costs import choose
from .cuts import Cut, cut, is_recomputed, products_of, wait_of
from .loop_pass import LoopPass
from .rewriting import loops_of, reason_of

#: The attribute's value of a loop whose cut is chosen.
_CHOSEN = -1

_NO_OVERLAP = "its iterations do not overlap:"


@dataclass(frozen=True)
class OverlapProducts(LoopPass):
    """Lets the last products of an iteration run while the next iteration begins.

    The next iteration's first products are issued before, and its arithmetic runs beside the last ones.
    So a part of the first iteration comes before the loop, and one of the last iteration behind it. The
    tiles of such a loop are filled by other threads: a loop that `smem-warp-specialize` has made, or one
    of a consumer. Nothing else in it writes memory. The products of an iteration that are to run so are
    the number `smem.overlap`, or chosen by what tensor cores, special functions and shared memory take.
    """

    name = "smem-overlap"
    description = "let the last products of an iteration run while the next one begins"

    only_marked: bool = option(False, "leave loops without smem.overlap as they are")

    def run(self, module: Module) -> None:
        self.change_loops(module, self._overlap)

    def _overlap(self, function: Op, position: int) -> Op:
        """Overlap the iterations of a loop; return the function, which may be a new one."""
        loop = loops_of(function)[position]
        if OVERLAP not in loop.attributes and self.only_marked:
            return function
        count = _late_count(loop)
        location, is_asked = loop.location, count > 0
        if OVERLAP in loop.attributes:
            del loop.attributes[OVERLAP]
        if count == 0 or not products_of(loop):
            return function
        try:
            count = count if is_asked else choose(loop, _registers_around(loop))
        except OpError as error:
            self.remark(location, f"{_NO_OVERLAP} {reason_of(error)}")
            return function
        if not count:
            if len(products_of(loop)) > 1:
                self.remark(
                    location, f"{_NO_OVERLAP} that would not pay, or take too many registers"
                )
            return function

        def change(changed: Op) -> str:
            return _build(loops_of(changed)[position], changed, count)

        try:
            changed, done = self.attempt(function, change)
        except OpError as error:
            self.remark(location, f"{_NO_OVERLAP} {error.message}", is_asked)
            return function
        self.remark(location, done)
        return changed


def _late_count(loop: Op) -> int:
    """Return how many products are late; 0 for none, -1 if that is chosen.

    Raises:
        OpError: if the attribute is no such number.
    """
    if OVERLAP not in loop.attributes:
        return _CHOSEN
    attribute = loop.attributes[OVERLAP].maybe_downcast()
    if isinstance(attribute, ir.UnitAttr):
        return _CHOSEN
    if not isinstance(attribute, ir.IntegerAttr) or attribute.value < 0:
        raise OpError(
            loop,
            f"has {OVERLAP} = {attribute}; expected a number of products, or none to choose it",
        )
    return attribute.value


def _registers_around(loop: Op) -> int:
    """Return the registers of a thread that executes a loop."""
    views = (op.opview for op in ancestors_of(loop))
    partition = next((x for x in views if isinstance(x, PartitionOp)), None)
    registers = None if partition is None else partition.registers
    return registers or MAX_REGISTERS


def _build(loop: Op, function: Op, count: int) -> str:
    """Rewrite a loop so that its last products are late; return what was done.

    Raises:
        OpError: at the op that hinders it.
    """
    lower, upper, _ = list(loop.operands)[:3]
    ranges = IntegerRanges(function)
    trips = ranges.values.polynomial(upper) - ranges.values.polynomial(lower)
    has_run = ranges.is_natural_at(loop, trips - number(1))
    parts, all_products = cut(loop, count), len(products_of(loop))
    _Overlapped(parts).build(has_run)
    products = "product" if count == 1 else "products"
    if count < all_products:
        products = f"last {'' if count == 1 else f'{count} '}of {all_products} products"
    return f"the {products} of an iteration {'runs' if count == 1 else 'run'} while the next one begins"


class _Overlapped:
    """A loop, one iteration shorter, with the parts of its iterations before and behind it.

    Args:
        parts: the parts of an iteration.
    """

    def __init__(self, parts: Cut) -> None:
        self._parts, self._loop = parts, parts.loop
        self._body = parts.loop.regions[0].blocks[0]
        *_, terminator = self._body.operations
        self._yields = list(terminator.operands)
        positions = range(len(self._yields))
        self._late = [i for i in positions if i in parts.late_arguments or i in parts.again]
        self._early = [i for i in positions if i not in parts.late_arguments]

    def build(self, has_run: bool) -> None:
        """Build it in the place of the loop; `has_run` says whether there is an iteration for sure."""
        lower, upper, _, *inits = self._loop.operands
        with ir.InsertionPoint(self._loop), self._loop.location:
            if has_run:
                results = self._all_iterations()
            else:
                there_is = emit.compare("slt", lower, upper)
                branch = emit.op("scf.if", (there_is,), [x.type for x in inits], regions=2)
                with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
                    emit.op("scf.yield", self._all_iterations())
                with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[1])):
                    emit.op("scf.yield", inits)
                results = list(branch.results)
                for i, counted in self._count().items():
                    results[i] = counted
        for old, new in zip(self._loop.results, results, strict=True):
            old.replace_all_uses_with(new)
        self._loop.erase()

    def _count(self) -> dict[int, Value]:
        """Emit a loop of indices alone, so that these follow from its bounds, not from a branch; return
        its results, by position."""
        positions = sorted(self._parts.again)
        if not positions:
            return {}
        operands = list(self._loop.operands)
        bounds, inits = operands[:3], operands[3:]
        carried = [inits[i] for i in positions]
        loop = emit.op("scf.for", (*bounds, *carried), [x.type for x in carried], regions=1)
        types = [bounds[0].type, *(x.type for x in carried)]
        with ir.InsertionPoint(ir.Block.create_at_start(loop.regions[0], types)) as point:
            variable, *arguments = point.block.arguments
            iteration = self._iteration(variable, positions, arguments)
            emit.op("scf.yield", self._next(iteration, positions))
        return dict(zip(positions, loop.results, strict=True))

    def _all_iterations(self) -> list[Value]:
        """Emit all iterations; return what the loop results in."""
        parts = self._parts
        lower, upper, step, *inits = self._loop.operands
        first = self._iteration(lower, self._early, [inits[i] for i in self._early])
        first.emit((*parts.early, *parts.rest))
        end = emit.binary("subi", upper, step)
        carried = self._loop_values([inits[i] for i in self._late], first)
        types = [x.type for x in carried]
        loop = emit.op("scf.for", (lower, end, step, *carried), types, regions=1)
        block = ir.Block.create_at_start(loop.regions[0], [lower.type, *types])
        with ir.InsertionPoint(block):
            variable, *arguments = block.arguments
            late, early_values = self._late_iteration(variable, arguments)
            following = emit.binary("addi", variable, step)
            early = self._iteration(following, self._early, early_values)
            early.emit(parts.early)
            late.emit(parts.issues)
            early.emit(parts.rest)
            late.emit(parts.end)
            emit.op("scf.yield", self._loop_values(self._next(late, self._late), early))
        last, early_values = self._late_iteration(self._last(), list(loop.results))
        last.emit((*parts.issues, *parts.end))
        results = dict(zip(self._early, early_values, strict=True))
        late_only = [i for i in self._late if i in parts.late_arguments]
        results |= dict(zip(late_only, self._next(last, late_only), strict=True))
        return [results[i] for i in range(len(self._yields))]

    def _iteration(
        self, variable: Value, positions: Sequence[int], carried: Sequence[Value]
    ) -> _Iteration:
        """Return an iteration that begins with some carried values."""
        arguments = self._body.arguments
        values = {arguments[1 + i]: x for i, x in zip(positions, carried, strict=True)}
        return _Iteration(self._body, {arguments[0]: variable, **values})

    def _late_iteration(
        self, variable: Value, carried: list[Value]
    ) -> tuple[_Iteration, list[Value]]:
        """Return the iteration whose late ops are left, and what the next one begins with."""
        lates, earlies = len(self._late), len(self._early)
        late = self._iteration(variable, self._late, carried[:lates])
        crossing = carried[lates + earlies :]
        late.values.update(zip(self._parts.crossing, crossing, strict=True))
        return late, carried[lates : lates + earlies]

    def _loop_values(self, late: list[Value], early: _Iteration) -> list[Value]:
        """Return what the loop carries behind the early ops of an iteration."""
        crossing = [early.new_value(x) for x in self._parts.crossing]
        return [*late, *self._next(early, self._early), *crossing]

    def _next(self, iteration: _Iteration, positions: Sequence[int]) -> list[Value]:
        """Return carried values as the next iteration begins with them."""
        return [iteration.new_value(self._yields[i]) for i in positions]

    def _last(self) -> Value:
        """Emit the loop's variable in its last iteration."""
        lower, upper, step = list(self._loop.operands)[:3]
        if constant_of(step) == 1:
            return emit.binary("subi", upper, 1)
        distance = emit.binary("subi", emit.binary("subi", upper, lower), 1)
        trips = emit.binary("divui", distance, step)
        return emit.binary("addi", lower, emit.binary("muli", trips, step))


class _Iteration:
    """An iteration that is emitted in parts.

    Args:
        body: the loop's body.
        values: the new values of what it begins with.

    Attributes:
        values: those, and the new values of what is emitted.
    """

    def __init__(self, body: Block, values: dict[Value, Value]) -> None:
        self._body, self.values = body, values

    def emit(self, ops: Iterable[Op]) -> None:
        """Emit ops again at the current insertion point."""
        for op in ops:
            clone = op.clone().operation
            # What the clone takes is put in front of it.
            with ir.InsertionPoint(clone), op.location:
                for inner in walk(clone):
                    for i, operand in enumerate(inner.operands):
                        inner.operands[i] = self.new_value(operand)
            self.values.update(zip(op.results, clone.results, strict=True))

    def new_value(self, value: Value) -> Value:
        """Return the new value of one; what is computed again is emitted."""
        new = self.values.get(value)
        if new is not None:
            return new
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.operation.block != self._body:
            return value
        wait = wait_of(value)
        if wait is not None:
            index = self.new_value(wait.index)
            self.values[value] = emit.binary("remui", index, stages_of(wait.pipeline.owner))
        elif is_recomputed(owner.operation):
            self.emit([owner.operation])
        return self.values[value]
