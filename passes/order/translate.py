"""Translate a function's ops and integers to its step program, and find how loops widen the integers."""

from __future__ import annotations

from collections.abc import Callable
from math import lcm

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of, is_wide
from ...dialect.effects import Completion, Proxy, Scope
from ...dialect.op import SmemOp
from ...dialect.ops import ElectOp, MapOp, SemaphoreArriveOp, WarpgroupBarrierOp
from ...ir.barriers import is_cta_barrier
from ...ir.kernel import ancestors_of, threads_of
from ...ir.launch_attributes import MULTIPLES
from ...layout.fragments import WARPGROUP
from . import report
from .effects import (
    CP_ASYNC,
    MBARRIER_WRITES,
    RegisterWriters,
    accessed_tiles,
    defining_op,
    has_effect,
    is_constant_argument,
    is_harmless,
    pending_of,
)
from .global_memory import GlobalArrays, asynchronous_reason
from .integers import COMPARISONS, OPERATIONS, UNKNOWN, VARIES, Integer, exactly
from .memory import Allocations
from .program import (
    LOOPS,
    BulkCommit,
    BulkRead,
    BulkWait,
    ComputedInteger,
    CopyCommit,
    CopyWait,
    CtaBarrier,
    Elected,
    ElectRegion,
    Fence,
    ForRegion,
    IfRegion,
    KernelEnd,
    LaunchInteger,
    MemoryWrite,
    MmaRead,
    MmaWait,
    Opaque,
    RegisterWrite,
    Step,
    StepBlock,
    StepProgram,
    ThreadRead,
    UnknownEffects,
    WhileRegion,
)
from .rectangles import Allocation, Start, SymbolicRectangle
from .relevance import relevant_integers

_ORDERINGS = (CopyCommit, CopyWait, Fence, CtaBarrier, MmaWait, BulkCommit, BulkWait, KernelEnd)

#: Steps that all threads of the CTA must execute.
_OF_ALL = (CopyCommit, CopyWait, MmaWait, CtaBarrier)

#: The accesses of tiles that are followed, by whether they write, by proxy, and by completion.
_STEPS = {
    (False, Proxy.GENERIC, Completion.AT_ONCE): ThreadRead,
    (False, Proxy.ASYNC, Completion.WGMMA_GROUP): MmaRead,
    (False, Proxy.ASYNC, Completion.BULK_GROUP): BulkRead,
    (True, Proxy.GENERIC, Completion.AT_ONCE): MemoryWrite,
    (True, Proxy.GENERIC, Completion.CP_ASYNC_GROUP): MemoryWrite,
}

#: The waits for accesses, by their completion.
_WAITS = {
    Completion.CP_ASYNC_GROUP: CopyWait,
    Completion.WGMMA_GROUP: MmaWait,
    Completion.BULK_GROUP: BulkWait,
}


def translate(
    function: Op, blocks: list[Block], global_memory: GlobalArrays | None = None
) -> StepProgram:
    """Return the step program of a function; only the first of its blocks counts.

    Args:
        function: the function.
        blocks: its blocks.
        global_memory: the arrays whose accesses are followed, too; by default none.

    Raises:
        OpError: if an op uses a tile that does not come from an alloc or view.
    """
    return Translator(function, global_memory).program(blocks)


class Translator:
    """Translates ops one by one."""

    def __init__(self, function: Op, global_memory: GlobalArrays | None = None) -> None:
        self._global_memory = global_memory
        self._integers = _IntegerTranslator(function)
        self._number = self._integers.number
        self.allocations = Allocations(function, self._number)
        self._function = function
        #: The scope of a barrier of all threads of the CTA.
        self._everyone = Scope.WARPGROUP if threads_of(function) == WARPGROUP else Scope.CTA
        self._registers = RegisterWriters(function)
        self._defined: dict[Op, SymbolicRectangle] = {}
        self.copies: list[MemoryWrite] = []
        self.readers: list[MmaRead | ThreadRead | BulkRead] = []
        self.furthest = 1
        self._translations: dict[str, Callable[[Op], Step | None]] = {
            "nvgpu.device_async_create_group": lambda _: CopyCommit(),
            "nvgpu.device_async_wait": self._wait_for_groups,
            "scf.if": self._if,
            "scf.for": self._for,
            "scf.while": self._while,
        }

    def program(self, blocks: list[Block]) -> StepProgram:
        """Return the step program of the function. Its arguments are the same for all threads.

        Args:
            blocks: the function's; only the first one counts.

        Raises:
            OpError: if an op uses a tile that does not come from an alloc or view.
        """
        body, *_ = [self._block(block) for block in blocks]
        stored = [read for x in self.readers if isinstance(x, BulkRead) for read in x.sources]
        if stored:
            body.by_op[-1][1].append(KernelEnd(self._function, tuple(stored)))
        body.by_op.insert(0, (self._function, [*map(self._integers.argument, blocks[0].arguments)]))
        relevant = relevant_integers(body)
        return StepProgram(
            body,
            tuple(self.copies),
            tuple(self.readers),
            self.allocations.unknown,
            relevant,
            *self._integers.widening.limits(relevant),
            self.furthest,
            _size_multiple(self._function),
        )

    def _block(self, block: Block) -> StepBlock:
        ops = list(block.operations)
        by_op = [(op.operation, self.steps_of(op)) for op in ops]
        yields: tuple[int, ...] = ()
        if ops and ops[-1].operation.name in ("scf.yield", "scf.condition"):
            is_condition = ops[-1].operation.name == "scf.condition"
            yields = tuple(map(self._number, ops[-1].operands))[is_condition:]
        steps = [step for _, steps in by_op for step in steps]
        return StepBlock(by_op, yields, any(map(_accesses, steps)), any(map(_synchronizes, steps)))

    def steps_of(self, op: Op) -> list[Step]:
        """Return the steps of an op view."""
        steps = self._translate(op)
        if any(isinstance(step, _OF_ALL) for step in steps) and self._elected_threads(op):
            return [Opaque(op, _NOT_ALL)]
        if self._registers.are_written_by(op) and op.operation.name not in LOOPS:
            return [*steps, RegisterWrite(op, self._definition(op.operation))]
        return steps

    def _definition(self, op: Op) -> SymbolicRectangle:
        """Return the registers that an op writes for an mma."""
        if op not in self._defined:
            allocation = Allocation(op, ("registers", op), None, 1, 1, 1, of_registers=True)
            start: Start = (0, ())
            self._defined[op] = SymbolicRectangle(allocation, start, start, start, 1, 1)
        return self._defined[op]

    def _translate(self, op: Op) -> list[Step]:
        if not isinstance(op, SmemOp):
            step = self._step(op.operation)
            return [*self._of_memrefs(op.operation), *([] if step is None else [step])]
        if isinstance(op, MapOp):
            # The region runs for each element; the accesses and barriers of one run stand for all.
            inner = self._block(op.regions[0].blocks[0])
            return inner.steps if inner.accesses or inner.synchronizes else []
        if isinstance(op, ElectOp) and self._elected_threads(op) is None:
            return [ElectRegion(op.operation, self._block(op.regions[0].blocks[0]))]
        if len(op.regions):
            return [self._opaque(op)]
        return self._declared_steps(op) if has_effect(op) else []

    def _elected_threads(self, op: Op) -> Elected | None:
        """Return the threads that an `smem.elect` around an op selects; None if there is none."""
        for ancestor in ancestors_of(op):
            if ancestor.name == ElectOp.OPERATION_NAME:
                # The only warpgroup is the CTA.
                alone = self._everyone is Scope.WARPGROUP
                return Elected(
                    "cta" if alone else ancestor.opview.scope.value, ancestor.opview.warp
                )
        return None

    def _step(self, op: Op) -> Step | None:
        translated = self._translations.get(op.name)
        if translated:
            return translated(op)
        if (integer := self._integers.translate(op)) is not None:
            return integer
        if is_cta_barrier(op):
            return CtaBarrier()
        if len(op.regions):
            return self._opaque(op)
        return None if is_harmless(op) else UnknownEffects(op)

    def _of_memrefs(self, op: Op) -> list[ThreadRead | MemoryWrite | Opaque]:
        """Return the accesses of an op of another dialect to memory that tiles view."""
        reads, writes = self.allocations.memref_accesses(op)
        readers = [ThreadRead(op, reads)] if reads else []
        copies = [MemoryWrite(op, target, op.name in CP_ASYNC) for target in writes]
        self.readers += readers
        self.copies += copies
        if copies and op.name in MBARRIER_WRITES:
            return [self._by_mbarrier(op)]
        return [*readers, *copies, *self._of_arrays(op)]

    def _of_arrays(self, op: Op) -> list[ThreadRead | MemoryWrite | Opaque]:
        """Return the accesses by an op of followed arrays in global memory."""
        steps: list[ThreadRead | MemoryWrite | Opaque] = []
        for access, whole in self._global_memory.accesses_by(op) if self._global_memory else ():
            threads = self._elected_threads(op) if access.in_bulk else None
            if access.writes and threads is not None:
                steps.append(MemoryWrite(op, whole, asynchronous=True, threads=threads))
            elif access.asynchronous:
                steps.append(Opaque(op, asynchronous_reason(access)))
            elif access.writes:
                steps.append(MemoryWrite(op, whole, asynchronous=False))
            else:
                steps.append(ThreadRead(op, (whole,)))
        return steps

    def _by_mbarrier(self, op: Op) -> Opaque:
        """Translate a write that completes at an mbarrier of no pipeline."""
        _, number = MBARRIER_WRITES[op.name]
        mbarrier_op = defining_op(op.operands[number])
        where = f" ({report.label(mbarrier_op)})" if mbarrier_op else ""
        reason = f"it completes at an mbarrier of the kernel's own{where}"
        return Opaque(op, f"{reason}; only those of smem.create_pipeline are followed")

    def _wait_for_groups(self, op: Op) -> CopyWait:
        """Translate `nvgpu.device_async_wait`: it leaves `numGroups` groups pending whatever its token
        is."""
        named = "numGroups" in op.attributes
        pending = ir.IntegerAttr(op.attributes["numGroups"]).value if named else 0
        self.furthest = max(self.furthest, pending + 1)
        return CopyWait(pending)

    # Accesses and what orders them.

    def _declared_steps(self, op: Op) -> list[Step]:
        """Return the steps of an op of the dialect, by its effects."""
        effects, elected = op.effects, self._elected_threads(op)
        steps: list[Step] = []
        if elected and (reason := _not_by_one(op)):
            return [Opaque(op, reason)]
        if effects.awaits is not None:
            steps.append(self._wait(op, elected))
        steps += self._accesses(op, elected)
        if effects.commits is not None:
            copies = effects.commits is Completion.CP_ASYNC_GROUP
            steps.append(CopyCommit() if copies else BulkCommit(elected))
        if effects.fences:
            # The fence of one thread orders only the writes of this thread.
            steps.append(UnknownEffects(op) if elected else Fence())
        if effects.barrier is not None:
            steps.append(CtaBarrier() if self._is_of_all(op) else UnknownEffects(op))
        if isinstance(op, SemaphoreArriveOp) and self._everyone is Scope.WARPGROUP:
            steps.append(ComputedInteger(self._number(op.last), lambda: UNKNOWN, ()))
        return steps

    def _is_of_all(self, op: Op) -> bool:
        """Whether all threads of the CTA execute a barrier."""
        if isinstance(op, WarpgroupBarrierOp) and op.warpgroups > 1:
            return op.warpgroups * WARPGROUP == threads_of(self._function)
        return (op.effects.barrier or Scope.THREAD) >= self._everyone

    def _wait(
        self, op: Op, elected: Elected | None
    ) -> CopyWait | MmaWait | BulkWait | UnknownEffects:
        wait = _WAITS.get(op.effects.awaits)
        if wait is None:
            return UnknownEffects(op)
        pending = pending_of(op)
        self.furthest = max(self.furthest, pending + 1)
        return BulkWait(pending, elected, op.read) if wait is BulkWait else wait(pending)

    def _accesses(
        self, op: Op, elected: Elected | None
    ) -> list[Opaque | ThreadRead | MmaRead | BulkRead | MemoryWrite]:
        """Return the accesses of an op, reads first."""
        read: dict[type, list[SymbolicRectangle]] = {}
        copies: list[MemoryWrite] = []
        unknown: list[Opaque] = []
        for tile, access in accessed_tiles(op):
            step = _STEPS.get((access.writes, access.proxy, access.completion), Opaque)
            rectangle = self.allocations.rectangle(tile, op) if step is not Opaque else None
            if step is Opaque:
                unknown = [Opaque(op, "it accesses tiles in a way that is not followed")]
            elif step is BulkRead and elected is None:
                unknown = [Opaque(op, _BY_ALL)]
            elif step is not MemoryWrite:
                read.setdefault(step, []).extend([] if rectangle is None else [rectangle])
            elif rectangle is not None:
                copies.append(
                    MemoryWrite(op, rectangle, access.completion is not Completion.AT_ONCE)
                )
        if MmaRead in read:
            read[MmaRead] += map(self._definition, self._registers.writers_for(op))
        readers = [
            reader(op, tuple(sources), *((elected,) if reader is BulkRead else ()))
            for reader, sources in read.items()
        ]
        self.readers += readers
        self.copies += copies
        return [*unknown, *readers, *copies, *self._of_arrays(op)]

    # Control flow.

    def _if(self, op: Op) -> IfRegion:
        branches = [self._block(r.blocks[0]) for r in op.regions if len(r.blocks)]
        then, otherwise = (*branches, StepBlock())[:2]
        results = tuple(map(self._number, op.results))
        for result, *yielded in zip(results, then.yields, otherwise.yields, strict=False):
            self._integers.widening.add_op("arith.select", result, tuple(yielded))
        return IfRegion(op, self._number(op.operands[0]), (then, otherwise), results)

    def _for(self, op: Op) -> ForRegion:
        lower, upper, step, *initial = map(self._number, op.operands)
        block = op.regions[0].blocks[0]
        induction, *carried = map(self._number, block.arguments)
        self._integers.widening.add_loop(upper, induction, *carried)
        return ForRegion(
            op,
            (lower, upper, step),
            tuple(initial),
            induction,
            tuple(carried),
            self._loop_body(op, block),
            tuple(map(self._number, op.results)),
        )

    def _while(self, op: Op) -> WhileRegion:
        before, after = (region.blocks[0] for region in op.regions)
        carried, forwarded = (tuple(map(self._number, x.arguments)) for x in (before, after))
        self._integers.widening.add_carried(*carried, *forwarded)
        *_, condition = before.operations
        return WhileRegion(
            op,
            tuple(map(self._number, op.operands)),
            carried,
            self._loop_body(op, before),
            self._number(condition.operands[0]),
            forwarded,
            self._loop_body(op, after),
            tuple(map(self._number, op.results)),
        )

    def _loop_body(self, op: Op, block: Block) -> StepBlock:
        body = self._block(block)
        if self._registers.are_written_by(op):
            # The loop writes the registers that it carries at the end of a region.
            body.by_op[-1][1].append(RegisterWrite(op, self._definition(op)))
        return body

    def _opaque(self, op: Op) -> Opaque | UnknownEffects:
        """Translate an op that executes its regions in an unknown way."""
        inner = [self._block(block) for region in op.regions for block in region.blocks]
        has_own_effect = isinstance(op, SmemOp) and has_effect(op)
        followed = has_own_effect or any(block.accesses or block.synchronizes for block in inner)
        return (
            Opaque(op, "how it executes its regions is not known")
            if followed
            else UnknownEffects(op)
        )


#: Why ops are not followed: too few or too many threads execute them.
_NOT_ALL = "not all threads of the CTA execute it"
_BY_ALL = f"it is not in an {ElectOp.OPERATION_NAME}: each thread that executes it stores the tile"


def _not_by_one(op: Op) -> str:
    """Return why one elected thread cannot execute an op; empty if it can."""
    effects = op.effects
    if effects.scope >= Scope.WARPGROUP or effects.barrier is not None:
        return "one thread executes it, but whole warpgroups must"
    if any(access.proxy is Proxy.GENERIC for _, access in accessed_tiles(op)):
        return "reads and writes by one elected thread itself are not followed"
    return ""


def _size_multiple(function: Op) -> int:
    """Return a common multiple of the sizes that a kernel accepts; see the manifest."""
    if MULTIPLES not in function.attributes:
        return 1
    multiples = function.attributes[MULTIPLES]
    extents = multiples if isinstance(multiples, ir.DictAttr) else ()
    return lcm(*(e.attr.value for e in extents if isinstance(e.attr, ir.IntegerAttr)))


def _accesses(step: Step) -> bool:
    inner: tuple[StepBlock, ...] = step.branches if isinstance(step, IfRegion) else ()
    inner = (step.body,) if isinstance(step, ForRegion | ElectRegion) else inner
    inner = (step.before, step.after) if isinstance(step, WhileRegion) else inner
    return isinstance(step, (MemoryWrite, ThreadRead, MmaRead, BulkRead)) or any(
        block.accesses for block in inner
    )


def _synchronizes(step: Step) -> bool:
    if isinstance(step, IfRegion):
        return any(branch.synchronizes for branch in step.branches)
    if isinstance(step, WhileRegion):
        return step.before.synchronizes or step.after.synchronizes
    if isinstance(step, ForRegion | ElectRegion):
        return step.body.synchronizes
    if isinstance(step, MemoryWrite):
        return not _is_of_memref(step, step.target)
    if isinstance(step, ThreadRead):
        return not any(_is_of_memref(step, source) for source in step.sources)
    return isinstance(step, (MmaRead, BulkRead, *_ORDERINGS, Opaque))


def _is_of_memref(step: MemoryWrite | ThreadRead, accessed: SymbolicRectangle) -> bool:
    """Whether an access is by an op of another dialect to the memory of a memref."""
    allocation = accessed.allocation
    return allocation.of_memref or (allocation.of_global and not isinstance(step.op, SmemOp))


#: Ops whose result the launch decides, with a value that it has in some run.
_LAUNCH_INTEGERS = {"gpu.block_id": 0, "gpu.cluster_block_id": 0, "gpu.grid_dim": 1}


class _IntegerTranslator:
    """Translates ops on integers one by one, and numbers values in the order of their first use.

    Args:
        function: the function.

    Attributes:
        widening: how the integers of loops are widened.
    """

    def __init__(self, function: Op) -> None:
        self._function = function
        self.widening = Widening()
        self._numbers: dict[Value, int] = {}
        self._dimensions: dict[tuple[Value, int | None], int] = {}
        self._translations: dict[str, Callable[[Op], ComputedInteger | LaunchInteger | None]] = {
            **dict.fromkeys(OPERATIONS, self._arithmetic),
            **dict.fromkeys(_LAUNCH_INTEGERS, self._launch_integer),
            "arith.constant": self._constant,
            "arith.cmpi": self._compare,
            "arith.extsi": self._extend,
            "arith.trunci": self._truncate,
            "memref.dim": self._dimension,
            "memref.load": self._element,
            "gpu.block_dim": lambda op: ComputedInteger(
                self.number(op.results[0]), lambda: UNKNOWN, ()
            ),
        }

    def number(self, value: Value) -> int:
        """Return the number of a value."""
        return self._numbers.setdefault(value, len(self._numbers))

    def translate(self, op: Op) -> ComputedInteger | LaunchInteger | None:
        """Return the step of an op that computes an integer; None if nothing is known of one."""
        if op.name in self._translations:
            return self._translations[op.name](op)
        if op.name.startswith("arith.") and len(op.results) == 1:
            return self._unknown(op, list(op.operands))
        return None

    def argument(self, argument: Value) -> LaunchInteger:
        """Return the step of a function's argument, which is the same for all threads."""
        return LaunchInteger(self.number(argument), is_bool=str(argument.type) == "i1")

    def _unknown(self, op: Op, operands: list[Value]) -> ComputedInteger:
        """Translate an op whose result is the same for all threads if its operands are."""
        return ComputedInteger(
            self.number(op.results[0]), _unknown_of, tuple(map(self.number, operands))
        )

    def _element(self, op: Op) -> ComputedInteger | None:
        """Translate `memref.load`: uniform if the indices are, and if no op writes the argument."""
        array, *indices = op.operands
        if not is_constant_argument(array, self._function):
            return None
        return self._unknown(op, indices)

    def _constant(self, op: Op) -> ComputedInteger:
        attribute = op.attributes["value"]
        if not isinstance(attribute, ir.IntegerAttr | ir.BoolAttr) or is_wide(attribute.type):
            return self._unknown(op, [])
        number = exactly(int(attribute.value))
        result = self.number(op.results[0])
        self.widening.add_constant(result, number.residue)
        return ComputedInteger(result, lambda: number, ())

    def _arithmetic(self, op: Op) -> ComputedInteger:
        operands = tuple(map(self.number, op.operands))
        result = self.number(op.results[0])
        self.widening.add_op(op.name, result, operands)
        return ComputedInteger(result, OPERATIONS[op.name], operands)

    def _compare(self, op: Op) -> ComputedInteger:
        operands = tuple(map(self.number, op.operands))
        result = self.number(op.results[0])
        self.widening.add_op(op.name, result, operands)
        return ComputedInteger(
            result, COMPARISONS[ir.IntegerAttr(op.attributes["predicate"]).value], operands
        )

    def _truncate(self, op: Op) -> ComputedInteger | None:
        narrow = op.results[0].type
        if not isinstance(narrow, ir.IntegerType):
            return None
        span = exactly(1 << narrow.width)
        remainder = OPERATIONS["arith.remui"]
        operands = (self.number(op.operands[0]),)
        result = self.number(op.results[0])
        self.widening.add_op(op.name, result, operands)
        return ComputedInteger(result, lambda x: remainder(x, span), operands)

    def _extend(self, op: Op) -> ComputedInteger | None:
        """Translate a sign extension; that of an `i1` is 0 or -1 and is not followed."""
        return None if str(op.operands[0].type) == "i1" else self._arithmetic(op)

    def _launch_integer(self, op: Op) -> LaunchInteger:
        return LaunchInteger(self.number(op.results[0]), _LAUNCH_INTEGERS[op.name])

    def _dimension(self, op: Op) -> ComputedInteger | LaunchInteger | None:
        """Translate `memref.dim`: each dimension of an argument is one integer."""
        memref, dim = op.operands[0], constant_of(op.operands[1])
        result = self.number(op.results[0])
        if not isinstance(memref.owner, ir.Block) or memref.owner.owner.operation != self._function:
            return None
        extents = memref.type.shape if isinstance(memref.type, ir.MemRefType) else []
        if dim is not None and 0 <= dim < len(extents) and not memref.type.is_dynamic_dim(dim):
            extent = exactly(extents[dim])
            return ComputedInteger(result, lambda: extent, ())
        same = self._dimensions.setdefault((memref, dim), result)
        return LaunchInteger(result) if same == result else ComputedInteger(result, _same, (same,))


def _same(x: Integer) -> Integer:
    return x


def _unknown_of(*operands: Integer) -> Integer:
    return UNKNOWN if all(x.uniform for x in operands) else VARIES


#: Larger moduli, and larger constants in comparisons, are ignored.
_LIMIT = 4096
_COMPARED = 64

#: Loops that end here, or before, are short.
_ITERATIONS = 8


class Widening:
    """Finds the modulus to which integers that loops carry are widened, so that remainders of them (as
    `i % stages`) stay known.

    An integer has the scale s if it is about 1/s of a carried one: its remainder by r needs the
    carried one modulo s * r.
    """

    def __init__(self) -> None:
        self._scale: dict[int, int] = {}
        self._constants: dict[int, int] = {}
        self._needed: dict[int, int] = {}
        self._bound = 1

    def add_constant(self, result: int, number: int) -> None:
        """Note that an integer is a constant."""
        self._constants[result] = number

    def add_carried(self, *integers: int) -> None:
        """Note integers that a loop changes."""
        self._scale.update(dict.fromkeys(integers, 1))

    def add_loop(self, end: int, *integers: int) -> None:
        """Note integers that a loop with an end changes; those of a short loop stay exact."""
        self.add_carried(*integers)
        constant = self._constants.get(end, 0)
        if constant <= _ITERATIONS:
            self._bound = max(self._bound, constant)

    def add_op(self, name: str, result: int, operands: tuple[int, ...]) -> None:
        """Note an op on integers."""
        scales = [self._scale[x] for x in operands if x in self._scale]
        if not scales:
            return
        scale = max(scales)
        constant = self._constants.get(operands[-1], 0)
        if name in ("arith.remui", "arith.remsi"):
            self._needed[result] = scale * constant
        elif name == "arith.andi":
            self._needed[result] = scale * (constant + 1)
        elif name in ("arith.divui", "arith.divsi"):
            scale *= max(constant, 1)
        elif name == "arith.shrui":
            scale <<= min(max(constant, 0), 32)
        for x in operands:
            compared = self._constants.get(x, 0)
            if 0 < compared <= _COMPARED and name in ("arith.cmpi", "arith.xori"):
                self._bound = max(self._bound, 2 * compared)
        self._scale[result] = scale

    def limits(self, relevant: frozenset[int]) -> tuple[int, int]:
        """Return the modulus, and the bound up to which integers are exact.

        Args:
            relevant: the integers whose remainders must stay known.
        """
        modulus = 1
        for result, needed in self._needed.items():
            together = lcm(modulus, max(needed, 1))
            if result in relevant and together <= _LIMIT:
                modulus = together
        return modulus, max(modulus, self._bound)
