"""Replaces contractions and attention by launches of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ...bindings.irtypes import Module, Op, Type, Value
from ...bindings.mlir import ir, scf
from ...ir import emit
from ...layout.elements import UNIT_BYTES
from ..extents import Extent, index, times
from ..moves import move
from .arguments import Argument
from .attention_plan import AttentionPlan
from .contraction import ArrayAccess
from .gemm_plan import GemmPlan
from .generic import ON_TENSORS, is_filled_with_zeros, outputs_of, owner, uses_of
from .launches import is_positive, launch_attention, launch_gemm, loop_sizes
from .views import StridedMemRef, memory_of

#: Dialects of the ops in the rewritten program of the host.
DIALECTS = ("bufferization", "cf", "gpu", "memref", "scf", "arith", "tensor", "nvvm")


class Rewriter:
    """Replaces contractions and attention by launches of kernels.

    Replaced ops stay until `finish`: plans refer to their results.

    Args:
        module: the program.
    """

    def __init__(self, module: Module) -> None:
        self._block = module.operation.regions[0].blocks[0]
        self._kernels: dict[str, str] = {}
        self._replaced: list[tuple[Value, Value]] = []
        self._gemms: list[GemmPlan] = []
        self._attentions: list[Op] = []

    def add(self, plan: GemmPlan | AttentionPlan, text: str) -> str:
        """Replace a plan's ops by a launch, and return the name of the kernel's `gpu.module`.

        If dynamic extents decide whether TMA can read the operands, the program has two versions: the
        launch, and the ops.

        Args:
            plan: the plan; plans of earlier ops of the program come first.
            text: the module with its kernel; equal ones are added once.
        """
        if text not in self._kernels:
            kind = "gemm" if isinstance(plan, GemmPlan) else "attention"
            self._kernels[text] = self._unused_symbol(f"{_function_name(plan.op)}_{kind}")
            self._insert(text, self._kernels[text])
        name = self._kernels[text]
        op = plan.op
        with ir.InsertionPoint(op), op.location:
            results = self._launch(plan, name)
        for old, new in zip(op.results, results, strict=True):
            old.replace_all_uses_with(new)
            self._replaced.append((old, new))
        if isinstance(plan, GemmPlan):
            self._gemms.append(plan)
        else:
            self._attentions.append(op)
        return name

    def _launch(self, plan: GemmPlan | AttentionPlan, name: str) -> list[Value]:
        """Emit the launch of a plan's kernel, and return its results."""
        types = self._parameters(name)
        if isinstance(plan, GemmPlan):
            build = _launch_or_fallback if plan.maybe_unaligned else launch_gemm
            return build(plan, name, types, self._buffers(plan))
        operands = [self._memory_of(argument.value) for argument in plan.operands]
        return [launch_attention(plan, name, types, operands)]

    def finish(self) -> None:
        """Erase the ops that launches have replaced."""
        replaced = {op for plan in self._gemms for op in plan.ops}
        before = (owner(value) for op in replaced for value in op.operands)
        producers = {op for op in before if op is not None} - replaced
        unconditional_plans = [plan for plan in self._gemms if not plan.maybe_unaligned]
        fills = [product.cleared for plan in unconditional_plans for product in plan.products]
        for plan in reversed(self._gemms):
            for op in reversed(plan.ops):
                op.erase()
        for fill in fills:
            if fill is not None:
                fill.erase()
        _erase_unused(producers)
        _erase_with_operands(self._attentions)

    def _insert(self, text: str, name: str) -> None:
        kernel_module = ir.Module.parse(text)
        (gpu_module,) = kernel_module.body.operations
        with ir.InsertionPoint(self._block.operations[0]):
            kernels = gpu_module.operation.clone()
        kernels.attributes["sym_name"] = ir.StringAttr.get(name)

    def _parameters(self, name: str) -> list[Type]:
        """Return the types of the parameters of the kernel in a `gpu.module`."""
        gpu_module = next(op.operation for op in self._block.operations if _symbol(op) == name)
        function = gpu_module.regions[0].blocks[0].operations[0].operation
        return list(ir.TypeAttr(function.attributes["function_type"]).value.inputs)

    def _unused_symbol(self, name: str) -> str:
        """Return a name that no symbol of the module has."""
        symbols = {_symbol(op) for op in self._block.operations}
        return next(symbol for number in count() if (symbol := f"{name}_{number}") not in symbols)

    def _buffers(self, plan: GemmPlan) -> dict[str, StridedMemRef]:
        """Return the memory of operands, and of results on memrefs, by the argument's name."""
        buffers: dict[str, StridedMemRef] = {}
        for argument in plan.arguments:
            access = argument.access
            value = access.value
            if not isinstance(value.type, ir.MemRefType):
                if argument.is_result:
                    continue
                value = self._memory_of(value)
            if not access.is_copy:
                buffers[argument.name] = StridedMemRef.of(value, access.loops)
            elif not argument.is_result:
                buffers[argument.name] = _copy(value, access)
        return buffers

    def _memory_of(self, value: Value) -> Value:
        """Emit the read-only memory of a tensor, and return it."""
        return memory_of(next((new for old, new in self._replaced if old == value), value))


def _symbol(op: Op) -> str | None:
    attributes = op.operation.attributes
    return ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else None


def _function_name(op: Op) -> str:
    while op.name != "func.func":
        op = op.parent.operation
    return ir.StringAttr(op.attributes["sym_name"]).value


def _copy(memref: Value, access: ArrayAccess) -> StridedMemRef:
    """Emit the copy of a memref that a kernel reads."""
    source = StridedMemRef.of(memref, tuple(range(len(access.permutation))))
    sizes = [source.sizes[dim] for dim in access.permutation]
    copy = StridedMemRef.allocate(sizes, memref.type, access.loops, access.row)
    move(memref, copy.elements(), access.permutation)
    return copy


def _launch_or_fallback(
    plan: GemmPlan,
    kernel: str,
    types: Sequence[Type],
    buffers: dict[str, StridedMemRef],
) -> list[Value]:
    """Emit the launch where no extent is 0 and TMA can access all arrays; elsewhere the ops."""
    i1 = ir.IntegerType.get_signless(1)
    aligned = is_positive(loop_sizes(buffers).values())
    for argument, group in plan.maybe_unaligned:
        buffer = buffers.get(argument.name) or _planned_buffer(argument, buffers)
        size = times(buffer.stride(group), buffer.item_bytes)
        fits = emit.compare("eq", emit.binary("remui", index(size), UNIT_BYTES), 0)
        aligned = fits if aligned is None else emit.value("arith.andi", (aligned, fits), i1)
    assert aligned is not None
    op = plan.op
    branches = scf.IfOp(aligned, [op_result.type for op_result in op.results], has_else=True)
    with ir.InsertionPoint(branches.then_block):
        scf.YieldOp(launch_gemm(plan, kernel, types, buffers, is_never_empty=True))
    with ir.InsertionPoint(branches.else_block):
        copies: list[tuple[Value, Value]] = []
        for plan_op in plan.ops:
            copy = plan_op.clone().operation
            for old, new in copies:
                copy.replace_uses_of_with(old, new)
            copies += zip(plan_op.results, copy.results, strict=True)
        scf.YieldOp([new for old, new in copies if old in list(op.results)])
    return list(branches.results)


def _planned_buffer(argument: Argument, buffers: dict[str, StridedMemRef]) -> StridedMemRef:
    """Return the buffer of a result whose memory is not allocated yet."""
    sizes = loop_sizes(buffers)
    loops = argument.access.loops
    extents = [sizes[loop] for loop in loops]
    strides: list[Extent] = [1] * len(loops)
    for dim in range(len(loops) - 2, -1, -1):
        strides[dim] = times(strides[dim + 1], extents[dim + 1])
    return StridedMemRef(argument.access.value, loops, tuple(extents), tuple(strides))


def _erase_unused(ops: set[Op]) -> None:
    """Erase unused fills of tensors and unused empty tensors."""
    empty = {op for op in ops if op.name == "tensor.empty"}
    for op in ops - empty:
        if list(op.results) and is_filled_with_zeros(op) and not uses_of(list(op.results)):
            outputs = {owner(value) for value in outputs_of(op)}
            empty |= {
                output for output in outputs if output is not None and output.name == "tensor.empty"
            }
            op.erase()
    for op in empty:
        if not uses_of(list(op.results)):
            op.erase()


def _erase_with_operands(ops: list[Op]) -> None:
    """Erase unused ops, and their producers that are unused then."""
    stack = list(ops)
    while stack:
        op = stack.pop()
        if uses_of(list(op.results)) or op.name.split(".")[0] not in ON_TENSORS:
            continue
        producers = {owner(value) for value in op.operands}
        op.erase()
        stack += [
            producer for producer in producers if producer is not None and producer not in stack
        ]
