"""From a kernel's integers to forms."""

from collections.abc import Callable
from typing import Any

from ...dialect.bindings import ir
from ...dialect.divisibility import constant_of
from ...dialect.effects import Proxy, accessed
from ...dialect.op import SmemOp
from ...dialect.ops import PartitionOp
from ...ir.cluster import cluster_size
from ...ir.kernel import block_size
from ...layout.fragments import WARPGROUP, WARPS
from .polynomials import Polynomial, Spread, Symbol, number, one

#: Ops whose result is their operand.
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extui")

#: Ops whose result is the same for the same operands, and 0 or more.
_NATURAL = ("arith.remui", "arith.divui", "arith.ceildivui", "arith.minui", "arith.maxui")

#: Ops that divide, with what they make of natural numbers that are known.
_DIVISIONS: dict[str, Callable[[int, int], int]] = {
    "arith.divui": lambda x, by: x // by,
    "arith.ceildivui": lambda x, by: -(-x // by),
    "arith.remui": lambda x, by: x % by,
}

#: Ops that divide by their second operand, and by two to that.
_SHIFTED = ("arith.shrui", "arith.shrsi")
_DIVIDED = ("arith.divui", "arith.divsi", *_SHIFTED)

#: Ops that give a number of the launch, with the least it can be.
_LAUNCH = {"gpu.grid_dim": 1, "gpu.block_dim": 1, "gpu.cluster_id": 0}

#: Ops that tell blocks next to each other apart.
_BLOCKS = ("gpu.block_id", "gpu.cluster_block_id")


class Loop:
    """What is known of an `scf.for`.

    Attributes:
        count: how often its body was run before.
        trips: how often it is run in all.
        bounds: its lower and upper bound and its step.
    """

    def __init__(
        self, count: Symbol, trips: Polynomial, bounds: tuple[Polynomial, Polynomial, Polynomial]
    ) -> None:
        self.count = count
        self.trips = trips
        self.bounds = bounds


class Values:
    """The forms of a function's index values; the same computation gives the same form wherever it
    stands, so that those of different partitions can be compared."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._cluster = cluster_size(function)
        self._known: dict[Any, Polynomial] = {}
        self._symbols: dict[Any, Symbol] = {}
        self._loops: dict[Any, Loop] = {}
        self._steps: dict[str, Callable[[Any], Polynomial]] = {
            "arith.constant": self._constant,
            "arith.addi": lambda op: self._both(op, Polynomial.__add__),
            "arith.subi": lambda op: self._both(op, Polynomial.__sub__),
            "arith.muli": lambda op: self._both(op, Polynomial.__mul__),
            "arith.shli": self._shift,
            **dict.fromkeys(_CASTS, lambda op: self.of(op.operands[0])),
            "memref.dim": self._dimension,
            "gpu.block_id": self._block_id,
            "gpu.cluster_block_id": lambda op: self._launch(op, 0, Spread.BLOCK),
            "gpu.thread_id": self._thread_id,
            "gpu.subgroup_id": self._subgroup_id,
            **dict.fromkeys(_LAUNCH, lambda op: self._launch(op, _LAUNCH[op.name])),
        }

    def of(self, value: Any) -> Polynomial:
        """The form of an index value."""
        if value not in self._known:
            self._known[value] = self._made(value)
        return self._known[value]

    def loop(self, op: Any) -> Loop:
        """What is known of an `scf.for`."""
        if op not in self._loops:
            lower, upper, step = (self.of(x) for x in list(op.operands)[:3])
            bounds = lower, upper, step
            spread = max(x.spread for x in bounds)
            alike = all(x.alike for x in bounds)
            count = self._symbol(("count", op, bounds), spread=spread, least=0, by=op, alike=alike)
            self._loops[op] = Loop(count, self._trips(lower, upper, step), bounds)
        return self._loops[op]

    def warpgroup(self, partition: PartitionOp) -> Symbol:
        """Which of a partition's warpgroups it is."""
        key = ("warpgroup", partition)
        return self._symbol(key, spread=Spread.WARPGROUP, least=0, by=partition, alike=True)

    def is_warpgroup(self, symbol: Symbol) -> bool:
        """Whether a symbol is the number of a thread's warpgroup in the block."""
        if symbol.name not in _DIVIDED:
            return False
        (divided, by), (_, y, z) = symbol.operands, block_size(self._function) or (1, 2, 1)
        if divided.symbol is None or by.constant is None:
            return False
        size = 1 << by.constant if symbol.name in _SHIFTED else by.constant
        thread, warp = ("gpu.thread_id", "x"), ("gpu.subgroup_id", "")
        if divided.symbol is self._symbols.get(thread):
            return size == WARPGROUP and y == z == 1
        return divided.symbol is self._symbols.get(warp) and size == WARPS

    def differs_in_pair(self, form: Polynomial) -> bool:
        """Whether two blocks that are next to each other along x are known not to have the same."""
        symbols = (self._symbols.get((name, "x")) for name in _BLOCKS)
        splits = [form.split(symbol) for symbol in symbols if symbol is not None]
        return any(split is not None and split[0] and split[1].alike for split in splits)

    def replaced(self, form: Polynomial, symbol: Symbol, by: Polynomial) -> Polynomial | None:
        """A form with another in the place of a symbol; None if it is not known what becomes of it."""
        result = Polynomial()
        for symbols, coefficient in form.terms:
            product = number(coefficient)
            for each in symbols:
                new = self._replaced_symbol(each, symbol, by)
                if new is None:
                    return None
                product = product * new
            result = result + product
        return result

    def _replaced_symbol(self, each: Symbol, symbol: Symbol, by: Polynomial) -> Polynomial | None:
        if each is symbol:
            return by
        if not symbol.varies & each.varies:
            return one(each)
        operands = [self.replaced(operand, symbol, by) for operand in each.operands]
        known = tuple(operand for operand in operands if operand is not None)
        if not each.name or len(known) < len(operands):
            return None
        return self._computed(each.name, each.more, known)

    def _symbol(
        self,
        key: Any,
        operands: tuple[Polynomial, ...] = (),
        spread: Spread = Spread.CLUSTER,
        least: int | None = None,
        by: Any = None,
        within: Any = None,
        alike: bool = False,
    ) -> Symbol:
        """The symbol of a key; one that changes by something, or with the loops around an op."""
        if key not in self._symbols:
            varies = frozenset(() if by is None else (by,)).union(*(x.varies for x in operands))
            if within is not None:
                varies |= frozenset(_loops_around(within))
            name, more = key[:2] if operands else ("", "")
            new = len(self._symbols)
            computed = bool(operands) and all(x.alike for x in operands)
            alike = alike or computed or spread is Spread.CLUSTER
            self._symbols[key] = Symbol(new, name, more, operands, varies, spread, least, alike)
        return self._symbols[key]

    def _made(self, value: Any) -> Polynomial:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return self._argument(value, owner)
        op = owner.operation
        if op.name == "scf.for":
            return self._after(op, value)
        if op.name in self._steps:
            return self._steps[op.name](op)
        if op.name.startswith("arith.") and len(op.results) == 1:
            more = ", ".join(f"{a.name} = {a.attr}" for a in _attributes(op))
            operands = tuple(self.of(x) for x in op.operands)
            return self._computed(op.name, f"{more} {op.results[0].type}", operands)
        return one(self._symbol(("value", value), spread=Spread.THREAD, within=op))

    def _computed(self, name: str, more: str, operands: tuple[Polynomial, ...]) -> Polynomial:
        """What an op computes that is no sum or product."""
        by = operands[-1].constant
        if name in _DIVISIONS and by:
            if by == 1:
                return number(0) if name == "arith.remui" else operands[0]
            if (x := operands[0].constant) is not None and x >= 0:
                return number(_DIVISIONS[name](x, by))
        spread = max((x.spread for x in operands), default=Spread.CLUSTER)
        if name == "arith.divui" and by and self._same_in_cluster(operands[0], by):
            spread = Spread.CLUSTER
        least = 0 if name in _NATURAL else None
        divides = name in _DIVISIONS and name != "arith.remui"
        if divides and by and (known := operands[0].least) is not None:
            least = max(_DIVISIONS[name](known, by), 0)
        return one(self._symbol((name, more, operands), operands, spread, least))

    def _same_in_cluster(self, form: Polynomial, by: int) -> bool:
        """Whether all blocks of a cluster get the same if they divide a form: their indices are
        neighbours, the first a multiple of the cluster's size."""
        symbol = form.symbol
        sizes = [
            self._cluster[dim]
            for dim in range(3)
            if symbol is not None and symbol is self._symbols.get(("gpu.block_id", "xyz"[dim]))
        ]
        return bool(sizes) and by % sizes[0] == 0

    # Ops.

    def _constant(self, op: Any) -> Polynomial:
        known = constant_of(op.results[0])
        if known is None:
            return one(self._symbol(("value", op.results[0]), spread=Spread.THREAD))
        return number(known)

    def _both(self, op: Any, compute: Callable[[Polynomial, Polynomial], Polynomial]) -> Polynomial:
        return compute(self.of(op.operands[0]), self.of(op.operands[1]))

    def _shift(self, op: Any) -> Polynomial:
        by = self.of(op.operands[1]).constant
        if by is None or not 0 <= by < 64:
            return self._computed(op.name, "", tuple(self.of(x) for x in op.operands))
        return self.of(op.operands[0]) * number(1 << by)

    def _launch(self, op: Any, least: int, spread: Spread = Spread.CLUSTER) -> Polynomial:
        # Blocks of a pair are next to each other along x.
        key, alike = (op.name, _dimension_of(op)), _dimension_of(op) != "x"
        return one(self._symbol(key, spread=spread, least=least, alike=alike))

    def _thread_id(self, op: Any) -> Polynomial:
        key = (op.name, _dimension_of(op))
        return one(self._symbol(key, spread=Spread.THREAD, least=0, alike=True))

    def _subgroup_id(self, op: Any) -> Polynomial:
        return one(self._symbol((op.name, ""), spread=Spread.THREAD, least=0, alike=True))

    def _block_id(self, op: Any) -> Polynomial:
        dim = _dimension_of(op)
        alone = self._cluster["xyz".index(dim)] == 1
        return self._launch(op, 0, Spread.CLUSTER if alone else Spread.BLOCK)

    def _dimension(self, op: Any) -> Polynomial:
        """`memref.dim`; no tensor map has an extent of 0 (CUDA driver API, cuTensorMapEncodeTiled)."""
        memref, dim = op.operands[0], self.of(op.operands[1]).constant
        owner = memref.owner
        own = isinstance(owner, ir.Block) and owner.owner.operation == self._function
        ranked = isinstance(memref.type, ir.MemRefType)
        # What a dimension that is not there has for an extent, nobody knows.
        if dim is None or not own or (ranked and not 0 <= dim < memref.type.rank):
            return one(self._symbol(("value", op.results[0]), spread=Spread.THREAD, within=op))
        if ranked and not memref.type.is_dynamic_dim(dim):
            return number(memref.type.shape[dim])
        mapped = any(_is_copied_in_bulk(memref, use.owner) for use in memref.uses)
        return one(self._symbol(("extent", memref, dim), least=int(mapped)))

    # Arguments of blocks, and loops.

    def _argument(self, value: Any, block: Any) -> Polynomial:
        if isinstance(block.owner, PartitionOp):
            alone = block.owner.warpgroups.value == 1
            return number(0) if alone else one(self.warpgroup(block.owner))
        op = block.owner.operation
        if op.name == "scf.for":
            loop = self.loop(op)
            if value == block.arguments[0]:
                return loop.bounds[0] + one(loop.count) * loop.bounds[2]
            return self._carried(op, value.arg_number - 1, one(loop.count))
        spread = Spread.CLUSTER if op == self._function else Spread.THREAD
        return one(self._symbol(("value", value), spread=spread, within=op))

    def _after(self, op: Any, result: Any) -> Polynomial:
        """What a loop hands on."""
        return self._carried(op, result.result_number, self.loop(op).trips)

    def _carried(self, op: Any, which: int, count: Polynomial) -> Polynomial:
        """The value that a loop carries when its body was run `count` times: it grows evenly, or is not
        known."""
        block = op.regions[0].blocks[0]
        own = list(block.arguments)[1:]
        symbols = [self._symbol(("carried", x), spread=Spread.THREAD, by=x) for x in own]
        before = self._known, self._loops
        self._known = self._known | dict(zip(own, map(one, symbols), strict=True))
        self._loops = dict(self._loops)
        *_, terminator = block.operations
        growth = self.of(terminator.operands[which]) - one(symbols[which])
        self._known, self._loops = before
        if growth.varies & {op, *own}:
            unknown = ("value", own[which], count)
            return one(self._symbol(unknown, spread=Spread.THREAD, by=op, within=op))
        return self.of(list(op.operands)[which + 3]) + count * growth

    def _trips(self, lower: Polynomial, upper: Polynomial, step: Polynomial) -> Polynomial:
        distance, by = upper - lower, step.constant
        if distance.constant is not None and by:
            return number(max(-(-distance.constant // by), 0))
        if by == 1 and distance.least is not None and distance.least >= 0:
            return distance
        operands = (lower, upper, step)
        spread = max(x.spread for x in operands)
        return one(self._symbol(("trips", "", operands), operands, spread, 0))


def _is_copied_in_bulk(memref: Any, op: Any) -> bool:
    """Whether an op copies an argument of the kernel in bulk, for which it needs a tensor map."""
    return isinstance(op, SmemOp) and any(
        value == memref and access.proxy is Proxy.ASYNC for value, access in accessed(op)
    )


def _loops_around(op: Any) -> list[Any]:
    """The loops that an op is in, and the op if it is one."""
    found = []
    while op is not None and op.name != "builtin.module":
        if op.name == "scf.for":
            found.append(op)
        op = op.parent.operation if op.parent is not None else None
    return found


def _attributes(op: Any) -> list[Any]:
    return [op.attributes[i] for i in range(len(op.attributes))]


def _dimension_of(op: Any) -> str:
    """The x, y or z of an op of the launch."""
    return str(op.attributes["dimension"]).strip("<>#gpu.dim ")[-1:]
