"""From a function's ops to the program that is interpreted."""

from collections.abc import Callable
from math import lcm
from typing import Any

from ...dialect.bindings import ir
from ...dialect.divisibility import constant_of
from ...dialect.effects import Completion, Proxy, Scope
from ...dialect.op import SmemOp
from ...dialect.ops import MapOp
from ...ir.barriers import is_block_barrier
from ...ir.launch_attributes import MULTIPLES
from .declared import accessed_tiles, has_effect, pending_of
from .harmless import is_harmless
from .integers import COMPARISONS, OPERATIONS, UNKNOWN, Integer, exactly
from .memory import Allocations
from .program import (
    Barrier,
    Block,
    Commit,
    Copy,
    CopyWait,
    Define,
    Fence,
    For,
    Given,
    If,
    Let,
    Load,
    Mma,
    Opaque,
    Other,
    Program,
    Wait,
)
from .regions import Allocation, Place, Start
from .registers import Registers
from .scales import Scales

#: Ops that other blocks or the host decide on, with a value that they have in some run.
_GIVEN = {"gpu.block_id": 0, "gpu.cluster_block_id": 0, "gpu.grid_dim": 1}

_ORDERINGS = (Commit, CopyWait, Fence, Barrier, Wait)

#: The kinds of accesses of tiles that are followed: whether they write, by which way, and what tells that
#: they are over.
_STEPS = {
    (False, Proxy.GENERIC, Completion.AT_ONCE): Load,
    (False, Proxy.ASYNC, Completion.WGMMA_GROUP): Mma,
    (True, Proxy.GENERIC, Completion.AT_ONCE): Copy,
    (True, Proxy.GENERIC, Completion.CP_ASYNC_GROUP): Copy,
}

#: What waits for accesses, by what tells that they are over.
_WAITS = {Completion.CP_ASYNC_GROUP: CopyWait, Completion.WGMMA_GROUP: Wait}


def translate(function: Any, blocks: list[Any]) -> Program:
    """The program that a function stands for; only the first of its blocks is run.

    Raises:
        OpError: if an op uses a tile of which no alloc or view is known.
    """
    translator = Translator(function)
    body = translator.function(blocks)
    return Program(
        body,
        tuple(translator.copies),
        tuple(translator.readers),
        translator.allocations.unknown,
        *translator.scales.widening(),
        translator.furthest,
        _promised(function),
    )


class Translator:
    """Translates ops one by one; integers are numbered as they are met."""

    def __init__(self, function: Any) -> None:
        self.allocations = Allocations(function, self._number)
        self._function = function
        self._registers = Registers(function)
        self._defined: dict[Any, Place] = {}
        self.scales = Scales()
        self.copies: list[Copy] = []
        self.readers: list[Mma | Load] = []
        self.furthest = 1
        self._numbers: dict[Any, int] = {}
        self._dimensions: dict[Any, int] = {}
        self._steps: dict[str, Callable[[Any], Any]] = {
            **dict.fromkeys(OPERATIONS, self._arithmetic),
            **dict.fromkeys(_GIVEN, self._given),
            "arith.constant": self._constant,
            "arith.cmpi": self._compare,
            "arith.extsi": self._extend,
            "arith.trunci": self._truncate,
            "memref.dim": self._dimension,
            "gpu.block_dim": lambda op: Let(self._number(op.results[0]), lambda: UNKNOWN, ()),
            "scf.if": self._if,
            "scf.for": self._for,
        }

    def function(self, blocks: list[Any]) -> Block:
        """The body of a function; its arguments are the same for all threads."""
        body, *_ = [self._block(block) for block in blocks]
        body.steps[:0] = map(self._argument, blocks[0].arguments)
        return body

    def _argument(self, argument: Any) -> Given:
        return Given(self._number(argument), is_truth=str(argument.type) == "i1")

    def _block(self, block: Any) -> Block:
        ops = list(block.operations)
        steps = [step for op in ops for step in self._steps_of(op)]
        yields: tuple[int, ...] = ()
        if ops and ops[-1].operation.name == "scf.yield":
            yields = tuple(map(self._number, ops[-1].operands))
        return Block(steps, yields, any(map(_accesses, steps)), any(map(_synchronizes, steps)))

    def _steps_of(self, op: Any) -> list[Any]:
        if self._registers.are_written_by(op) and op.operation.name != "scf.for":
            return [*self._translated(op), Define(op, self._definition(op.operation))]
        return self._translated(op)

    def _definition(self, op: Any) -> Place:
        """The registers that an op writes for an mma."""
        if op not in self._defined:
            allocation = Allocation(op, ("registers", op), None, 1, 1, 1, of_registers=True)
            start: Start = (0, ())
            self._defined[op] = Place(allocation, start, start, start, 1, 1)
        return self._defined[op]

    def _translated(self, op: Any) -> list[Any]:
        if not isinstance(op, SmemOp):
            step = self._step(op.operation)
            return [*self._of_memrefs(op.operation), *([] if step is None else [step])]
        if isinstance(op, MapOp):
            # Run for one element after the other; barriers of the first are as good as those of all.
            inner = self._block(op.regions[0].blocks[0])
            return inner.steps if inner.accesses or inner.synchronizes else []
        if len(op.regions):
            return [self._opaque(op)]
        return self._declared(op) if has_effect(op) else []

    def _step(self, op: Any) -> Any:
        translated = self._steps.get(op.name)
        if translated:
            return translated(op)
        if is_block_barrier(op):
            return Barrier()
        if len(op.regions):
            return self._opaque(op)
        return None if is_harmless(op) else Other(op)

    def _of_memrefs(self, op: Any) -> list[Any]:
        """The accesses of an op of another dialect to memory that tiles show."""
        places = self.allocations.of_memrefs(op)
        if places is None:
            return []
        readers = [Load(op, places.reads)] if places.reads else []
        copies = [Copy(op, place, False) for place in places.writes]
        self.readers += readers
        self.copies += copies
        return [*readers, *copies]

    def _number(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    # Integers.

    def _constant(self, op: Any) -> Let | None:
        attribute = op.attributes["value"]
        if not isinstance(attribute, ir.IntegerAttr | ir.BoolAttr):
            return None
        number = exactly(int(attribute.value))
        result = self._number(op.results[0])
        self.scales.constant(result, number.rest)
        return Let(result, lambda: number, ())

    def _arithmetic(self, op: Any) -> Let:
        operands = tuple(map(self._number, op.operands))
        result = self._number(op.results[0])
        self.scales.follow(op.name, result, operands)
        return Let(result, OPERATIONS[op.name], operands)

    def _compare(self, op: Any) -> Let:
        operands = tuple(map(self._number, op.operands))
        result = self._number(op.results[0])
        self.scales.follow(op.name, result, operands)
        return Let(result, COMPARISONS[ir.IntegerAttr(op.attributes["predicate"]).value], operands)

    def _truncate(self, op: Any) -> Let | None:
        narrow = op.results[0].type
        if not isinstance(narrow, ir.IntegerType):
            return None
        span = exactly(1 << narrow.width)
        remainder = OPERATIONS["arith.remui"]
        operands = (self._number(op.operands[0]),)
        result = self._number(op.results[0])
        self.scales.follow(op.name, result, operands)
        return Let(result, lambda x: remainder(x, span), operands)

    def _extend(self, op: Any) -> Let | None:
        """A sign extension; of a bit it would be 0 or -1."""
        return None if str(op.operands[0].type) == "i1" else self._arithmetic(op)

    def _given(self, op: Any) -> Given:
        return Given(self._number(op.results[0]), _GIVEN[op.name])

    def _dimension(self, op: Any) -> Let | Given | None:
        """`memref.dim`: the same dimension of the same argument is one integer."""
        memref, dim = op.operands[0], constant_of(op.operands[1])
        result = self._number(op.results[0])
        if not isinstance(memref.owner, ir.Block) or memref.owner.owner.operation != self._function:
            return None
        extents = memref.type.shape if isinstance(memref.type, ir.MemRefType) else []
        if dim is not None and 0 <= dim < len(extents) and not memref.type.is_dynamic_dim(dim):
            extent = exactly(extents[dim])
            return Let(result, lambda: extent, ())
        same = self._dimensions.setdefault((memref, dim), result)
        return Given(result) if same == result else Let(result, _same, (same,))

    # Accesses and what orders them.

    def _declared(self, op: Any) -> list[Any]:
        """What an op of the dialect does by its effects."""
        effects, steps = op.effects, []
        if effects.awaits is not None:
            steps.append(self._wait(op))
        steps += self._accesses(op)
        if effects.commits is not None:
            copies = effects.commits is Completion.CP_ASYNC_GROUP
            steps.append(Commit() if copies else Other(op))
        if effects.fences:
            steps.append(Fence())
        if effects.barrier is not None:
            steps.append(Barrier() if effects.barrier >= Scope.BLOCK else Other(op))
        return steps

    def _wait(self, op: Any) -> CopyWait | Wait | Other:
        wait = _WAITS.get(op.effects.awaits)
        if wait is None:
            return Other(op)
        pending = pending_of(op)
        self.furthest = max(self.furthest, pending + 1)
        return wait(pending)

    def _accesses(self, op: Any) -> list[Any]:
        """The accesses of an op, reads first: those of the threads' own, and of the tensor cores."""
        read: dict[type, list[Place]] = {}
        copies: list[Copy] = []
        unknown: list[Opaque] = []
        for tile, access in accessed_tiles(op):
            step = _STEPS.get((access.writes, access.proxy, access.completion), Opaque)
            place = self.allocations.place(tile, op) if step is not Opaque else None
            if step is Opaque:
                unknown = [Opaque(op, "it accesses them in a way that is not followed")]
            elif step is not Copy:
                read.setdefault(step, []).extend([] if place is None else [place])
            elif place is not None:
                copies.append(Copy(op, place, access.completion is not Completion.AT_ONCE))
        if Mma in read:
            read[Mma] += map(self._definition, self._registers.of(op))
        readers = [reader(op, tuple(places)) for reader, places in read.items()]
        self.readers += readers
        self.copies += copies
        return [*unknown, *readers, *copies]

    # Control flow.

    def _if(self, op: Any) -> If:
        branches = [self._block(r.blocks[0]) for r in op.regions if len(r.blocks)]
        then, otherwise = (*branches, Block())[:2]
        results = tuple(map(self._number, op.results))
        for result, *yielded in zip(results, then.yields, otherwise.yields, strict=False):
            self.scales.follow("arith.select", result, tuple(yielded))
        return If(op, self._number(op.operands[0]), (then, otherwise), results)

    def _for(self, op: Any) -> For:
        lower, upper, step, *initial = map(self._number, op.operands)
        block = op.regions[0].blocks[0]
        induction, *carried = map(self._number, block.arguments)
        self.scales.carried(induction, *carried)
        body = self._block(block)
        if self._registers.are_written_by(op):
            # What it carries is written when it comes round.
            body.steps.append(Define(op, self._definition(op)))
        return For(
            op,
            (lower, upper, step),
            tuple(initial),
            induction,
            tuple(carried),
            body,
            tuple(map(self._number, op.results)),
        )

    def _opaque(self, op: Any) -> Any:
        """An op with regions of which we do not know how they are run."""
        inner = [self._block(block) for region in op.regions for block in region.blocks]
        own = isinstance(op, SmemOp) and has_effect(op)
        followed = own or any(block.accesses or block.synchronizes for block in inner)
        return Opaque(op, "how it runs them is not known") if followed else Other(op)


def _promised(function: Any) -> int:
    """What the sizes that a kernel is called with are multiples of; see the manifest."""
    if MULTIPLES not in function.attributes:
        return 1
    promised = function.attributes[MULTIPLES]
    extents = promised if isinstance(promised, ir.DictAttr) else ()
    return lcm(*(e.attr.value for e in extents if isinstance(e.attr, ir.IntegerAttr)))


def _same(x: Integer) -> Integer:
    return x


def _accesses(step: Any) -> bool:
    inner = step.branches if isinstance(step, If) else (step.body,) if isinstance(step, For) else ()
    return isinstance(step, (Copy, Load, Mma)) or any(block.accesses for block in inner)


def _synchronizes(step: Any) -> bool:
    if isinstance(step, If):
        return any(branch.synchronizes for branch in step.branches)
    if isinstance(step, For):
        return step.body.synchronizes
    if isinstance(step, Copy):
        return not step.place.allocation.of_memref
    if isinstance(step, Load):
        return not any(place.allocation.of_memref for place in step.places)
    return isinstance(step, (Mma, *_ORDERINGS, Opaque))
