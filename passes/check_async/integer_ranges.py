"""The ranges of a kernel's integers where an op is executed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from math import ceil, inf

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.ops import ConsumerWaitOp, MapOp, PartitionOp, ProducerAcquireOp
from ...dialect.ops.pipeline import pipeline_of
from ...dialect.types import shape_of
from ...ir.cluster import cluster_size
from ...ir.kernel import ancestors_of, block_size, extents_of, warpgroups_of
from ...ir.op_address import OpIdentity
from ...ir.parameters import covered_extents
from ...ir.walk import walk
from ...layout.fragments import WARPGROUP, WARPS
from .assumptions import ASSUME
from .intervals import Facts, facts_of, facts_of_extrema, facts_of_quotients
from .polynomials import TRIPS, Polynomial, Symbol, number
from .ranges import (
    UNKNOWN,
    Bound,
    IntegerRange,
    add,
    are_independent,
    compute_range,
    exactly,
    join,
    multiply,
    narrow,
    range_below,
)
from .values import SymbolicValues, dimension_of

#: How often an iteration widens the range of a number that a loop carries; then it is unbounded.
_ITERATIONS = 20

#: How many facts are combined to bound one number.
_DEPTH = 2

#: The threads of a warp.
_WARP = WARPGROUP // WARPS

#: Sources of ranges: arguments of the launch, a thread's number, and that of its warpgroup.
LAUNCH, THREAD, WARPGROUP_ID = "launch", "thread", "warpgroup"
_OF_THREAD: frozenset[Hashable] = frozenset({THREAD, WARPGROUP_ID})


@dataclass(frozen=True, eq=False)
class RangeContext:
    """What is known where an op is executed.

    Attributes:
        facts: the conditions and loops around it.
        warpgroups: the first of the warpgroups that execute it, and their end; None for all.
        carried: ranges of numbers that loops carry, while these are being computed.
        known: the computed ranges.
        selects: how many conditions of `arith.select` are among the facts.
    """

    facts: Facts = field(default_factory=Facts)
    warpgroups: tuple[int, int] | None = None
    carried: dict[Value, IntegerRange] = field(default_factory=dict)
    known: dict[Symbol, IntegerRange] = field(default_factory=dict)
    selects: int = 0


class IntegerRanges:
    """The ranges of the integers of a function.

    Args:
        function: the function.
    """

    def __init__(self, function: Op) -> None:
        self._function = function
        self._values = SymbolicValues(function)
        self._cluster = cluster_size(function)
        self._grid = extents_of(function, "known_grid_size", "gpu.known_grid_size")
        self._block = block_size(function)
        self._contexts: dict[Block, RangeContext] = {}
        self._assumptions: dict[Block, list[Op]] = {}
        for op in walk(function, ASSUME):
            self._assumptions.setdefault(op.operation.block, []).append(op.operation)
        self._plain: dict[Op | None, RangeContext] = {}

    def range_at(self, op: Op, value: Value, last: int) -> IntegerRange:
        """Return the range of an index value where an op is executed. It is no narrower than what shows
        that the value is 0 to `last`."""
        stages = _modulus(value)
        if stages is not None and 1 <= stages <= last + 1:
            return IntegerRange(0, stages - 1)
        # Most other starts need no facts, which take much longer.
        polynomial = self._values.polynomial(value)
        anywhere = self._range_by_terms(polynomial, self._context_without_facts(op))
        if anywhere.is_within(0, last):
            return anywhere
        return self._range(polynomial, self._context_in(op.operation.block))

    def is_natural_at(self, op: Op, polynomial: Polynomial) -> bool:
        """Whether a sum of the function's integers is known to be 0 or more where an op is executed."""
        if self._range_by_terms(polynomial, self._context_without_facts(op)).low >= 0:
            return True
        context = self._context_in(op.operation.block)

        def is_natural(part: Polynomial) -> bool:
            return self._is_natural(part, context)

        # Most positions need no facts of quotients and minima, which take longer.
        if is_natural(polynomial):
            return True
        facts = context.facts
        for part in (polynomial, *facts.natural):
            facts = facts.and_also(facts_of_quotients(part, is_natural))
        facts = facts.and_also(facts_of_extrema((polynomial, *facts.natural), is_natural))
        return self._lowest(polynomial, _tighten(facts), context) >= 0

    @property
    def values(self) -> SymbolicValues:
        """The polynomials of the function's integers."""
        return self._values

    def trips(self, loop: Op) -> IntegerRange:
        """Return the range of the number of iterations of an `scf.for`."""
        return self._range(self._values.loop(loop).trips, self._context_in(loop.block))

    def _range(self, polynomial: Polynomial, context: RangeContext) -> IntegerRange:
        """Return the range of an integer."""
        facts = context.facts.and_also(
            facts_of_quotients(polynomial, lambda p: self._is_natural(p, context))
        )
        plain = self._range_by_terms(polynomial, context)
        low = self._lowest(polynomial, facts, context)
        high = -self._lowest(polynomial * number(-1), facts, context)
        return narrow(plain, low, high)

    # Bounds that follow from facts.

    def _is_natural(self, polynomial: Polynomial, context: RangeContext) -> bool:
        return self._lowest(polynomial, context.facts, context) >= 0

    def _lowest(
        self, polynomial: Polynomial, facts: Facts, context: RangeContext, depth: int = _DEPTH
    ) -> Bound:
        """Return a lower bound of a polynomial p.

        If f >= 0, then |b| * p - |a| * f <= |b| * p. If a and b are the coefficients of the same product
        in p and in f, with the same sign, the difference does not contain that product.
        """
        low = self._range_by_terms(polynomial, context).low
        coefficients = dict(polynomial.terms)
        for i, fact in enumerate(facts.natural if depth else ()):
            other_facts = facts._replace(natural=facts.natural[:i] + facts.natural[i + 1 :])
            for product, b in fact.terms:
                a = coefficients.get(product, 0)
                if product and a * b > 0:
                    difference = polynomial * number(abs(b)) - fact * number(abs(a))
                    bound = self._lowest(difference, other_facts, context, depth - 1)
                    low = max(low, bound if abs(bound) == inf else ceil(bound / abs(b)))
        for nonzero in facts.nonzero:
            apart = ((polynomial - nonzero).constant, (polynomial + nonzero).constant)
            if low in apart:
                low += 1
        return low

    def _range_by_terms(self, polynomial: Polynomial, context: RangeContext) -> IntegerRange:
        """Return the range of a polynomial by the ranges of its symbols."""
        return add(
            [
                multiply(factor, [self._symbol_range(symbol, context) for symbol in symbols])
                for symbols, factor in polynomial.terms
            ]
        )

    # Symbols.

    def _symbol_range(self, symbol: Symbol, context: RangeContext) -> IntegerRange:
        if symbol not in context.known:
            # Facts about a symbol are not used for its operands.
            least = -inf if symbol.lower_bound is None else symbol.lower_bound
            context.known[symbol] = narrow(UNKNOWN, least, inf)
            context.known[symbol] = narrow(self._compute_range(symbol, context), least, inf)
        return context.known[symbol]

    def _compute_range(self, symbol: Symbol, context: RangeContext) -> IntegerRange:
        if self._values.is_warpgroup(symbol):
            return self._warpgroup_range(context)
        if symbol.name == TRIPS:
            return self._trips_range(symbol.operands, context)
        if symbol.name == "arith.select":
            return self._select_range(symbol.operands, context)
        if symbol.name:
            return compute_range(
                symbol.name, [self._range(operand, context) for operand in symbol.operands]
            )
        match self._values.symbols.key_of(symbol):
            case "count", OpIdentity(op=loop), _:
                return self._iteration_range(loop, context)
            case "warpgroup", OpIdentity(op=partition):
                return range_below(partition.warpgroups.value, WARPGROUP_ID)
            case "extent", *_:
                assert symbol.lower_bound is not None
                return IntegerRange(
                    symbol.lower_bound, inf, True, True, frozenset({LAUNCH, symbol})
                )
            case "value", value:
                return self._value_range(value, context)
            case "value", value, _:
                return self._carried_range(value, context)
            case (name, dim) if isinstance(name, str) and isinstance(dim, str):
                return self._launch_range(name, dim, context)
            case _:
                return UNKNOWN

    def _warpgroup_range(self, context: RangeContext) -> IntegerRange:
        """Return the range of the number of a thread's warpgroup in the CTA."""
        if context.warpgroups is not None:
            first, end = context.warpgroups
            return IntegerRange(first, end - 1, True, True, frozenset({WARPGROUP_ID}))
        if self._block is None:
            return IntegerRange(0, inf)
        x, y, z = self._block
        return range_below(-(-x * y * z // WARPGROUP), WARPGROUP_ID)

    def _launch_range(self, name: str, dim: str, context: RangeContext) -> IntegerRange:
        """Return the range of a number that the launch decides."""
        axis = "xyz".find(dim) if dim else 0
        if name == "gpu.cluster_block_id":
            return range_below(self._cluster[axis], f"block {dim}")
        if name in ("gpu.block_id", "gpu.grid_dim") and self._grid is not None:
            count = self._grid[axis]
            return exactly(count) if name == "gpu.grid_dim" else range_below(count, f"block {dim}")
        if self._block is None or name not in ("gpu.block_dim", "gpu.thread_id", "gpu.subgroup_id"):
            return IntegerRange(0, inf)
        x, y, z = self._block
        if name == "gpu.block_dim":
            return exactly(self._block[axis])
        size, per_warpgroup = self._block[axis], WARPGROUP
        if name == "gpu.subgroup_id":
            size, per_warpgroup = -(-x * y * z // _WARP), WARPS
        if context.warpgroups is not None and y == z == 1:
            first, end = context.warpgroups
            return IntegerRange(
                first * per_warpgroup, end * per_warpgroup - 1, True, True, _OF_THREAD
            )
        return range_below(size, *_OF_THREAD)

    def _trips_range(self, bounds: tuple[Polynomial, ...], context: RangeContext) -> IntegerRange:
        """Return the range of a loop's trip count."""
        lower, upper, step = (self._range(bound, context) for bound in bounds)
        if step.low != step.high or step.low < 1:
            return IntegerRange(0, inf)
        stride = int(step.low)
        distance = self._range(bounds[1] - bounds[0], context)
        low, high = (x if abs(x) == inf else -(-x // stride) for x in (distance.low, distance.high))
        attained = lower.attained and upper.attained and are_independent([lower, upper])
        return IntegerRange(
            max(low, 0), max(high, 0), attained, False, lower.sources | upper.sources
        )

    def _iteration_range(self, loop: Op, context: RangeContext) -> IntegerRange:
        """Return the range of the number of an iteration."""
        trips = self._range(self._values.loop(loop).trips, context)
        always = trips.attained and trips.low == trips.high
        high = max(trips.high - 1, 0)
        sources = frozenset({loop}) | trips.sources
        return IntegerRange(0, high, always, always, sources)

    def _select_range(
        self, operands: tuple[Polynomial, ...], context: RangeContext
    ) -> IntegerRange:
        condition, yes, no = operands
        if context.selects == _DEPTH:
            return join(self._range(yes, context), self._range(no, context))
        inner = replace(context, selects=context.selects + 1)
        return join(
            self._range(yes, self._context_where(inner, condition, True)),
            self._range(no, self._context_where(inner, condition, False)),
        )

    def _value_range(self, value: Value, context: RangeContext) -> IntegerRange:
        """Return the range of a value that no polynomial describes."""
        if isinstance(value.owner, ir.Block):
            return _position_range(value)
        op = value.owner.operation
        if isinstance(op.opview, ProducerAcquireOp | ConsumerWaitOp):
            return IntegerRange(0, pipeline_of(op.opview).stages.value - 1)
        if op.name == "gpu.lane_id":
            return range_below(_WARP, *_OF_THREAD)
        if op.name == "gpu.shuffle" and value == op.results[0]:
            # It is the value of another thread, for which the facts need not hold.
            elsewhere = RangeContext(warpgroups=context.warpgroups)
            return self._range(self._values.polynomial(op.operands[0]), elsewhere)._replace(
                attained=False, dense=False
            )
        if op.name == "scf.if":
            yields = [self._yield_range(region.blocks[0], value, context) for region in op.regions]
            return join(*yields) if len(yields) == 2 else UNKNOWN
        return UNKNOWN

    def _yield_range(self, block: Block, result: Value, context: RangeContext) -> IntegerRange:
        *_, terminator = block.operations
        inside = self._context_in(block, context.carried)
        return self._range(
            self._values.polynomial(terminator.operands[result.result_number]), inside
        )

    def _carried_range(self, argument: Value, context: RangeContext) -> IntegerRange:
        """Return the range of a number that a loop carries: the join of the initial range and those after
        iterations."""
        if argument in context.carried:
            return context.carried[argument]
        block = argument.owner
        loop = block.owner.operation
        first = self._values.polynomial(loop.operands[argument.arg_number + 2])
        *_, terminator = block.operations
        following = self._values.polynomial(terminator.operands[argument.arg_number - 1])
        outside = self._context_in(loop.block, context.carried)
        initial_range = carried = after = self._range(first, outside)
        for iteration in range(_ITERATIONS + 2):
            inside = self._context_in(block, {**context.carried, argument: carried})
            after = join(initial_range, self._range(following, inside))
            if after.is_within(carried.low, carried.high):
                break
            carried = after if iteration < _ITERATIONS else UNKNOWN
        return after._replace(attained=False, dense=False)

    # Contexts.

    def _context_without_facts(self, op: Op) -> RangeContext:
        """Return a context of an op without the conditions around it."""
        partition = next((o for o in ancestors_of(op) if isinstance(o.opview, PartitionOp)), None)
        if partition not in self._plain:
            warpgroups = None if partition is None else self._warpgroups(partition)
            self._plain[partition] = RangeContext(warpgroups=warpgroups)
        return self._plain[partition]

    def _warpgroups(self, partition: Op) -> tuple[int, int] | None:
        """Return the first of the warpgroups of a partition, and their end."""
        *_, last = partition.regions[0].blocks[0].operations
        return None if self._block is None else warpgroups_of(last)

    def _context_in(
        self, block: Block, carried: dict[Value, IntegerRange] | None = None
    ) -> RangeContext:
        """Return what is known in a block.

        Args:
            block: the block.
            carried: ranges of numbers that loops carry, while these are being computed.
        """
        if not carried and block in self._contexts:
            return self._contexts[block]
        op = block.owner.operation
        if op == self._function or op.block is None:
            context = _with_facts(RangeContext(carried=carried or {}), self._facts_of_grid())
        else:
            context = self._block_context(op, block, self._context_in(op.block, carried))
        for assumption in self._assumptions.get(block, ()):
            context = self._context_where(
                context, self._values.polynomial(assumption.operands[0]), True
            )
        if not carried:
            self._contexts[block] = context
        return context

    def _facts_of_grid(self) -> Facts:
        """Return what is known of the positions of blocks in a grid that covers extents."""
        covered = covered_extents(self._function)
        arguments = self._function.regions[0].blocks[0].arguments
        natural = []
        for op in walk(self._function, "gpu.block_id") if covered else ():
            if axis := covered.get(dimension_of(op)):
                (argument, dim), elements = axis
                extent = self._values.extent(arguments[argument], dim)
                first = self._values.polynomial(op.results[0]) * number(elements)
                natural.append(extent - first - number(1))
        return Facts(tuple(dict.fromkeys(natural)))

    def _block_context(self, op: Op, block: Block, outer: RangeContext) -> RangeContext:
        """Return what is known in a block of an op, by what is known at the op."""
        if op.name == "scf.if":
            holds = block == op.regions[0].blocks[0]
            return self._context_where(outer, self._values.polynomial(op.operands[0]), holds)
        if op.name == "scf.for":
            upper = self._values.polynomial(op.operands[1])
            below = upper - self._values.polynomial(block.arguments[0]) - number(1)
            return _with_facts(outer, Facts((below,)))
        if isinstance(op.opview, PartitionOp):
            return replace(outer, warpgroups=self._warpgroups(op), known={})
        return outer

    def _context_where(
        self, context: RangeContext, condition: Polynomial, holds: bool
    ) -> RangeContext:
        """Return what is known where a condition also holds, or does not."""
        facts = facts_of(condition, holds, lambda p: self._is_natural(p, context))
        return _with_facts(context, facts)


def _position_range(argument: Value) -> IntegerRange:
    """Return the range of the argument of a block: of a position in an `smem.map`, if it is one."""
    op = argument.owner.owner
    if not isinstance(op, MapOp) or argument.arg_number < len(op.inputs):
        return UNKNOWN
    extents = shape_of(op.result.type)
    return range_below(extents[argument.arg_number - len(op.inputs)], argument)


def _modulus(value: Value) -> int | None:
    """Return n of a value `i % n`, such as the stage of a pipeline index; else None."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.remui":
        return None
    return constant_of(owner.operation.operands[1])


def _with_facts(context: RangeContext, facts: Facts) -> RangeContext:
    return replace(context, facts=context.facts.and_also(_tighten(facts)), known={})


def _tighten(facts: Facts) -> Facts:
    return facts._replace(natural=tuple(dict.fromkeys(x.primitive_part for x in facts.natural)))
