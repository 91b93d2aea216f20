"""Symbolic evaluation of a kernel's integers to polynomials."""

from __future__ import annotations

from collections.abc import Callable

from ...bindings.irtypes import Attribute, Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.effects import Proxy, declared_accesses
from ...dialect.op import SmemOp
from ...dialect.ops import PartitionOp, SemaphoreArriveOp
from ...ir.cluster import cluster_size
from ...ir.kernel import block_size
from ...ir.op_address import OpIdentity, op_address
from ...ir.parameters import equal_extents, extent_multiple
from ...layout.fragments import WARPGROUP, WARPS
from ..order.effects import is_constant_argument
from .polynomials import (
    MINIMA,
    TRIPS,
    Divergence,
    Polynomial,
    Substitution,
    Symbol,
    SymbolTable,
    number,
    variable,
)

#: Ops whose result is 0 or more.
_NATURAL = ("arith.remui", "arith.divui", "arith.ceildivui", "arith.minui", "arith.maxui")

#: Ops that divide, with their results for known natural numbers.
_DIVISIONS: dict[str, Callable[[int, int], int]] = {
    "arith.divui": lambda x, by: x // by,
    "arith.ceildivui": lambda x, by: -(-x // by),
    "arith.remui": lambda x, by: x % by,
}


def exact_result(name: str, operands: tuple[Polynomial, ...]) -> Polynomial | None:
    """Return the result of a division by n of q * n + r with a constant r; None for other ops."""
    by = operands[-1].constant
    if name not in _DIVISIONS or not by:
        return None
    if by == 1:
        return number(0) if name == "arith.remui" else operands[0]
    quotient, remainder = operands[0].divide(by)
    if remainder is None or quotient.lower_bound is None or quotient.lower_bound < 0:
        return None
    whole = number(0) if name == "arith.remui" else quotient
    return whole + number(_DIVISIONS[name](remainder, by))


def lowest_result(name: str, operands: tuple[Polynomial, ...]) -> int | None:
    """Return a lower bound of an op's result; None if none is known."""
    bounds = [x.lower_bound for x in operands]
    known_bounds = [x for x in bounds if x is not None]
    by, lowest = operands[-1].constant, 0 if name in _NATURAL else None
    if name in _DIVISIONS and name != "arith.remui" and by and bounds[0] is not None:
        return max(_DIVISIONS[name](bounds[0], by), 0)
    if name == "arith.maxui":
        return max([0, *known_bounds])
    if name == "arith.maxsi":
        return max(known_bounds, default=None)
    if name in MINIMA and len(known_bounds) == len(bounds):
        return max(min(known_bounds), 0) if lowest is not None else min(known_bounds)
    return lowest


#: The name of a symbol that is a sum; its operands are the term and the number of iterations.
SUM = "sum"

#: How many last terms of a sum are split off: so sums of n and n + 1 terms differ by a known term.
_APART = 4

#: Replaces a symbol in a polynomial; returns None if the result is not known.
Substitute = Callable[[Polynomial, Symbol, Polynomial], Polynomial | None]


class Sums:
    """The sums of a function. Loops whose terms are computed alike have equal sums, in all partitions.

    Args:
        symbols: the symbols of the function.
        substitute: replaces a symbol in a polynomial.
    """

    def __init__(self, symbols: SymbolTable, substitute: Substitute) -> None:
        self._symbols = symbols
        self._substitute = substitute
        self._depths: dict[Symbol, int] = {}

    def sum_iterations(
        self, increment: Polynomial, number_of: Symbol, count: Polynomial
    ) -> Polynomial | None:
        """Return the sum of the increments of the first iterations of a loop.

        Args:
            increment: what an iteration adds.
            number_of: the number of that iteration.
            count: how many iterations.

        Returns:
            The sum; None if an increment does not follow from the number of its iteration.
        """
        depth = self._depth(increment) + 1
        term = self._substitute(increment, number_of, variable(self._iteration(depth)))
        if term is None or number_of.varies & term.varies:
            return None
        return self.sum_term(term, count, depth)

    def _iteration(self, depth: int) -> Symbol:
        """Return the bound symbol for the number of an iteration in a sum of a depth.

        It varies with nothing else. Nested sums have other depths, so their symbols are never confused.
        """
        return self._symbols.symbol((SUM, depth), by=f"iteration {depth}", lower_bound=0)

    def _depth(self, polynomial: Polynomial) -> int:
        """Return how deep the sums in a polynomial are nested; 0 if there are none."""
        for symbol in polynomial.symbols:
            if symbol not in self._depths:
                inner = max(map(self._depth, symbol.operands), default=0)
                self._depths[symbol] = max(
                    inner, int(symbol.signature) if symbol.name == SUM else 0
                )
        return max((self._depths[symbol] for symbol in polynomial.symbols), default=0)

    def sum_term(self, term: Polynomial, count: Polynomial, depth: int) -> Polynomial:
        """Return the sum of a term over the first iterations.

        Args:
            term: what an iteration adds, a polynomial in the iteration symbol of that depth.
            count: how many iterations.
            depth: more than that of the sums in the term.
        """
        iteration = self._iteration(depth)
        last = dict(count.terms).get((), 0)
        if 0 < last <= _APART:
            before = count - number(last)
            total = self.sum_term(term, before, depth)
            for i in range(last):
                further = self._substitute(term, iteration, before + number(i))
                if further is None:
                    break
                total = total + further
            else:
                return total
        if -_APART <= last < 0:
            # Subtract the terms from `count` to `later`.
            later = count - number(last)
            terms = [self._substitute(term, iteration, count + number(i)) for i in range(-last)]
            known_terms = [term_value for term_value in terms if term_value is not None]
            if later.terms and len(known_terms) == len(terms):
                return sum(
                    (term_value * number(-1) for term_value in known_terms),
                    self.sum_term(term, later, depth),
                )
        if count.constant == 0:
            return number(0)
        operands, least = (term, count), term.lower_bound
        symbol = self._symbols.symbol(
            (SUM, str(depth), operands),
            operands,
            max(x.divergence for x in operands),
            0 if least is not None and least >= 0 else None,
            bound=iteration,
        )
        return variable(symbol)


#: Ops whose result is their operand.
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extui")

#: Ops that divide by a power of two, and all ops that divide.
_SHIFTED = ("arith.shrui", "arith.shrsi")
_DIVIDED = ("arith.divui", "arith.divsi", *_SHIFTED)

#: Ops that return a number of the launch, with a lower bound.
_LAUNCH = {"gpu.grid_dim": 1, "gpu.block_dim": 1, "gpu.cluster_id": 0}

#: Ops that return different numbers in CTAs that are neighbours.
_CTA_IDS = ("gpu.block_id", "gpu.cluster_block_id")


class SymbolicLoop:
    """What is known of an `scf.for`.

    Attributes:
        count: how many iterations were run before.
        trips: its trip count.
        bounds: its lower bound, upper bound and step.
    """

    def __init__(
        self, count: Symbol, trips: Polynomial, bounds: tuple[Polynomial, Polynomial, Polynomial]
    ) -> None:
        self.count = count
        self.trips = trips
        self.bounds = bounds


class SymbolicValues:
    """The polynomials of a function's index values.

    The same computation has the same polynomial in all partitions, so they can be compared.

    Attributes:
        function: the function.
        symbols: the symbols of the polynomials.
    """

    def __init__(self, function: Op) -> None:
        self.function = function
        self._cluster = cluster_size(function)
        self._known: dict[Value, Polynomial] = {}
        self.symbols = SymbolTable()
        self._loops: dict[OpIdentity, SymbolicLoop] = {}
        #: The carried values whose increment is being computed, by their loop and position.
        self._growing: set[tuple[int, int]] = set()
        self._substitutions: dict[tuple[Symbol, Polynomial], Substitution] = {}
        self._sums = Sums(self.symbols, self.substitute)
        self._evaluate: dict[str, Callable[[Op], Polynomial]] = {
            "arith.constant": self._constant,
            "arith.addi": lambda op: self._binary(op, Polynomial.__add__),
            "arith.subi": lambda op: self._binary(op, Polynomial.__sub__),
            "arith.muli": lambda op: self._binary(op, Polynomial.__mul__),
            "arith.shli": self._shift,
            **dict.fromkeys(_CASTS, lambda op: self.polynomial(op.operands[0])),
            "memref.dim": self._dimension,
            "memref.load": self._element,
            "gpu.block_id": self._block_id,
            "gpu.cluster_block_id": lambda op: self._launch(op, 0, Divergence.BETWEEN_CTAS),
            "gpu.thread_id": self._thread_id,
            "gpu.subgroup_id": self._subgroup_id,
            SemaphoreArriveOp.OPERATION_NAME: lambda op: variable(
                self.symbols.unknown(op.results[0], op, Divergence.BETWEEN_WARPGROUPS)
            ),
            **dict.fromkeys(_LAUNCH, lambda op: self._launch(op, _LAUNCH[op.name])),
        }

    def polynomial(self, value: Value) -> Polynomial:
        """Return the polynomial of an index value."""
        # Operands first: a chain of ops may be longer than Python's stack is deep.
        pending, seen = [value], set[Value]()
        while pending:
            last = pending[-1]
            if last in self._known:
                pending.pop()
                continue
            owner = last.owner
            is_block = isinstance(owner, ir.Block)
            operands = [] if is_block or not owner.name.startswith("arith.") else [*owner.operands]
            unknown = [x for x in operands if x not in self._known] if last not in seen else []
            if unknown:
                seen.add(last)
                pending += reversed(unknown)
            else:
                self._known[pending.pop()] = self._evaluate_value(last)
        return self._known[value]

    def loop(self, op: Op) -> SymbolicLoop:
        """Return what is known of an `scf.for`."""
        identity = OpIdentity.of(op)
        if identity not in self._loops:
            lower, upper, step = (self.polynomial(x) for x in list(op.operands)[:3])
            bounds = lower, upper, step
            count = self.symbols.symbol(
                ("count", identity, bounds),
                divergence=max(x.divergence for x in bounds),
                lower_bound=0,
                by=identity,
                same_in_pair=all(x.same_in_pair for x in bounds),
                same_in_cluster=all(x.same_in_cluster for x in bounds),
            )
            self._loops[identity] = SymbolicLoop(count, self._trips(lower, upper, step), bounds)
        return self._loops[identity]

    def warpgroup(self, partition: PartitionOp) -> Symbol:
        """Return the symbol for a warpgroup's number in its partition."""
        identity = OpIdentity.of(partition)
        key = ("warpgroup", identity)
        return self.symbols.symbol(
            key,
            divergence=Divergence.BETWEEN_WARPGROUPS,
            lower_bound=0,
            by=identity,
            same_in_pair=True,
            same_in_cluster=True,
        )

    def is_warpgroup(self, symbol: Symbol) -> bool:
        """Whether a symbol is the number of a thread's warpgroup in the CTA."""
        if symbol.name not in _DIVIDED:
            return False
        (divided, by), (_, y, z) = symbol.operands, block_size(self.function) or (1, 2, 1)
        if divided.symbol is None or by.constant is None:
            return False
        size = 1 << by.constant if symbol.name in _SHIFTED else by.constant
        thread, warp = ("gpu.thread_id", "x"), ("gpu.subgroup_id", "")
        if divided.symbol is self.symbols.find(thread):
            return size == WARPGROUP and y == z == 1
        return divided.symbol is self.symbols.find(warp) and size == WARPS

    def differs_in_pair(self, polynomial: Polynomial) -> bool:
        """Whether a value is known to differ between CTAs that are neighbours along x."""
        symbols = (self.symbols.find((name, "x")) for name in _CTA_IDS)
        splits = [polynomial.split(symbol) for symbol in symbols if symbol is not None]
        return any(split is not None and split[0] and split[1].same_in_pair for split in splits)

    def substitute(
        self, polynomial: Polynomial, symbol: Symbol, by: Polynomial
    ) -> Polynomial | None:
        """Replace a symbol by a polynomial; return None if the result is not known."""
        key = symbol, by
        if key not in self._substitutions:
            self._substitutions[key] = Substitution(symbol, by, self._compute)
        return self._substitutions[key].apply(polynomial)

    def _evaluate_value(self, value: Value) -> Polynomial:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return self._argument(value, owner)
        op = owner.operation
        if op.name == "scf.for":
            return self._loop_result(op, value)
        if op.name in self._evaluate:
            return self._evaluate[op.name](op)
        if op.name == "gpu.shuffle" and value == op.results[0]:
            return self._shuffle(op)
        if op.name.startswith("arith.") and len(op.results) == 1:
            signature = ", ".join(f"{a.name} = {a.attr}" for a in _attributes(op))
            operands = tuple(self.polynomial(x) for x in op.operands)
            return self._compute(op.name, f"{signature} {op.results[0].type}", operands)
        return variable(self.symbols.unknown(value, op))

    def _compute(self, name: str, signature: str, operands: tuple[Polynomial, ...]) -> Polynomial:
        """Return the result of an op that is no sum or product; or a sum of iterations, or a trip
        count."""
        if name == SUM:
            term, count = operands
            return self._sums.sum_term(term, count, int(signature))
        if name == TRIPS:
            return self._trips(*operands)
        if name == "arith.maxsi" and operands[1].constant == 0:
            # As many iterations as a loop up to it has.
            return self._trips(number(0), operands[0], number(1))
        if (result := exact_result(name, operands)) is not None:
            return result
        divergence, by = max(x.divergence for x in operands), operands[-1].constant
        if name == "arith.divui" and by and self._same_in_cluster(operands[0], by):
            divergence = Divergence.NONE
        lower_bound = lowest_result(name, operands)
        return variable(
            self.symbols.symbol((name, signature, operands), operands, divergence, lower_bound)
        )

    def _same_in_cluster(self, dividend: Polynomial, by: int) -> bool:
        """Whether a quotient is the same in all CTAs of a cluster.

        The indices of its CTAs are consecutive, and the first one is a multiple of the cluster's size.
        """
        symbol = dividend.symbol
        sizes = [
            self._cluster[dim]
            for dim in range(3)
            if symbol is not None and symbol is self.symbols.find(("gpu.block_id", "xyz"[dim]))
        ]
        return bool(sizes) and by % sizes[0] == 0

    # Ops.

    def _constant(self, op: Op) -> Polynomial:
        attribute = op.attributes["value"]
        is_bool = isinstance(attribute, ir.BoolAttr)
        constant = int(attribute.value) if is_bool else constant_of(op.results[0])
        if constant is None:
            return variable(self.symbols.unknown(op.results[0], None))
        return number(constant)

    def _binary(
        self, op: Op, compute: Callable[[Polynomial, Polynomial], Polynomial]
    ) -> Polynomial:
        return compute(self.polynomial(op.operands[0]), self.polynomial(op.operands[1]))

    def _shift(self, op: Op) -> Polynomial:
        by = self.polynomial(op.operands[1]).constant
        if by is None or not 0 <= by < 64:
            return self._compute(op.name, "", tuple(self.polynomial(x) for x in op.operands))
        return self.polynomial(op.operands[0]) * number(1 << by)

    def _launch(
        self, op: Op, lower_bound: int, divergence: Divergence = Divergence.NONE
    ) -> Polynomial:
        dim = dimension_of(op)
        # The CTAs of a pair are neighbours along x.
        symbol = self.symbols.symbol(
            (op.name, dim),
            divergence=divergence,
            lower_bound=lower_bound,
            same_in_pair=dim != "x",
        )
        return variable(symbol)

    def _thread_id(self, op: Op) -> Polynomial:
        return self._in_cta((op.name, dimension_of(op)))

    def _subgroup_id(self, op: Op) -> Polynomial:
        return self._in_cta((op.name, ""))

    def _shuffle(self, op: Op) -> Polynomial:
        """Evaluate `gpu.shuffle`: it returns its operand if that is the same for all threads of a
        warp."""
        operand = self.polynomial(op.operands[0])
        if operand.divergence <= Divergence.BETWEEN_WARPGROUPS:
            return operand
        return variable(self.symbols.unknown(op.results[0], op, Divergence.BETWEEN_THREADS))

    def _in_cta(self, key: tuple) -> Polynomial:
        """Return the number of a thread or warp in its CTA."""
        symbol = self.symbols.symbol(
            key,
            divergence=Divergence.BETWEEN_THREADS,
            lower_bound=0,
            same_in_pair=True,
            same_in_cluster=True,
        )
        return variable(symbol)

    def _block_id(self, op: Op) -> Polynomial:
        dim = dimension_of(op)
        alone = self._cluster["xyz".index(dim)] == 1
        return self._launch(op, 0, Divergence.NONE if alone else Divergence.BETWEEN_CTAS)

    def _dimension(self, op: Op) -> Polynomial:
        """Evaluate `memref.dim`.

        Tensor maps have no extent of 0 (CUDA driver API, cuTensorMapEncodeTiled). Nor does a launch pass
        one whose kernel states what it is a multiple of; its symbol is the quotient.
        """
        memref, dim = op.operands[0], self.polynomial(op.operands[1]).constant
        owner = memref.owner
        is_argument = isinstance(owner, ir.Block) and owner.owner.operation == self.function
        ranked = isinstance(memref.type, ir.MemRefType)
        # The extent of a dimension that does not exist is unknown.
        if dim is None or not is_argument or (ranked and not 0 <= dim < memref.type.rank):
            return variable(self.symbols.unknown(op.results[0], op))
        return self.extent(memref, dim)

    def extent(self, argument: Value, dim: int) -> Polynomial:
        """Return an extent of an argument of the function."""
        ranked = isinstance(argument.type, ir.MemRefType)
        if ranked and not argument.type.is_dynamic_dim(dim):
            return number(argument.type.shape[dim])
        multiple = extent_multiple(self.function, argument.arg_number, dim)
        arguments = self.function.regions[0].blocks[0].arguments
        equal = [
            (arguments[other], position)
            for other, position in equal_extents(self.function, argument.arg_number, dim)
        ]
        mapped = any(
            _is_copied_in_bulk(memref, use.owner) for memref, _ in equal for use in memref.uses
        )
        quotient = self.symbols.symbol(
            ("extent", *equal[0]), lower_bound=int(mapped or multiple > 1)
        )
        return variable(quotient) * number(multiple)

    def _element(self, op: Op) -> Polynomial:
        """Evaluate `memref.load`: a function of the indices, if no op writes the argument."""
        array, *indices = op.operands
        if not indices or not is_constant_argument(array, self.function):
            return variable(self.symbols.unknown(op.results[0], op))
        name = f"{array.arg_number} {op.results[0].type}"
        return self._compute(op.name, name, tuple(self.polynomial(x) for x in indices))

    # Block arguments, and loops.

    def _argument(self, value: Value, block: Block) -> Polynomial:
        if isinstance(block.owner, PartitionOp):
            alone = block.owner.warpgroups.value == 1
            return number(0) if alone else variable(self.warpgroup(block.owner))
        op = block.owner.operation
        if op.name == "scf.for":
            loop = self.loop(op)
            if value == block.arguments[0]:
                return loop.bounds[0] + variable(loop.count) * loop.bounds[2]
            return self._carried_value(op, value.arg_number - 1, variable(loop.count))
        is_argument = op == self.function
        divergence = Divergence.NONE if is_argument else Divergence.BETWEEN_THREADS
        return variable(self.symbols.symbol(("value", value), divergence=divergence, within=op))

    def _loop_result(self, op: Op, result: Value) -> Polynomial:
        """Return a result of a loop."""
        return self._carried_value(op, result.result_number, self.loop(op).trips)

    def _carried_value(self, op: Op, position: int, count: Polynomial) -> Polynomial:
        """Return a value that a loop carries, after `count` iterations: linear in `count`, a sum of
        increments that follow from the number of the iteration, or unknown.

        Args:
            op: the loop.
            position: that of the value among those that the loop carries.
            count: how many iterations were run.
        """
        block = op.regions[0].blocks[0]
        arguments = list(block.arguments)[1:]
        symbols = [
            self.symbols.symbol(("carried", x), divergence=Divergence.BETWEEN_THREADS, by=x)
            for x in arguments
        ]
        before = self._known, self._loops
        self._known = self._known | dict(zip(arguments, map(variable, symbols), strict=True))
        self._loops = dict(self._loops)
        *_, terminator = block.operations
        growth = self.polynomial(terminator.operands[position]) - variable(symbols[position])
        self._known, self._loops = before
        growth = self._growth_without_others(op, position, growth, symbols)
        increment = None
        if not growth.varies & {OpIdentity.of(op), *arguments}:
            increment = count * growth
        elif not growth.varies & {*arguments}:
            increment = self._sums.sum_iterations(growth, self.loop(op).count, count)
        if increment is None:
            unknown = ("value", arguments[position], count)
            divergence = Divergence.BETWEEN_THREADS
            return variable(self.symbols.symbol(unknown, divergence=divergence, within=op))
        return self.polynomial(list(op.operands)[position + 3]) + increment

    def _growth_without_others(
        self, op: Op, position: int, growth: Polynomial, symbols: list[Symbol]
    ) -> Polynomial:
        """Replace other carried values in what an iteration adds to a carried value, as far as they are
        known."""
        key = op_address(op), position
        others = [(x, s) for x, s in enumerate(symbols) if s.varies & growth.varies]
        if key in self._growing or any(other == position for other, _ in others):
            return growth
        self._growing.add(key)
        for other, symbol in others:
            value = self.polynomial(op.regions[0].blocks[0].arguments[other + 1])
            growth = self.substitute(growth, symbol, value) or growth
        self._growing.remove(key)
        return growth

    def _trips(self, lower: Polynomial, upper: Polynomial, step: Polynomial) -> Polynomial:
        distance, by = upper - lower, step.constant
        if distance.constant is not None and by:
            return number(max(-(-distance.constant // by), 0))
        if by == 1 and distance.lower_bound is not None and distance.lower_bound >= 0:
            return distance
        operands = (lower, upper, step)
        divergence = max(x.divergence for x in operands)
        return variable(self.symbols.symbol((TRIPS, "", operands), operands, divergence, 0))


def _is_copied_in_bulk(memref: Value, op: Op) -> bool:
    """Whether an op copies a memref in bulk, with a tensor map."""
    return isinstance(op, SmemOp) and any(
        value == memref and access.proxy is Proxy.ASYNC for value, access in declared_accesses(op)
    )


def _attributes(op: Op) -> list[Attribute]:
    return [op.attributes[i] for i in range(len(op.attributes))]


def dimension_of(op: Op) -> str:
    """Return the x, y or z of an op such as `gpu.block_id`."""
    return str(op.attributes["dimension"]).strip("<>#gpu.dim ")[-1:]
