"""Launches of kernels in the place of contractions and of attention."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ...bindings.irtypes import Module, Op, Type, Value
from ...bindings.mlir import ir, scf
from ...ir import emit
from ...layout.elements import UNIT_BYTES
from ..moves import move
from .arguments import Argument
from .attention_launch import launch_attention
from .attention_plan import AttentionPlan
from .gemm_launch import is_positive, launch_gemm, loop_sizes
from .generic import ON_TENSORS, is_filled_with_zeros, outputs_of, owner, uses_of
from .plan import Plan
from .views import Buffer, Extent, allocated, index, times

#: Ops that this emits, or that it leaves in the host's program.
DIALECTS = ("bufferization", "gpu", "memref", "scf", "arith", "tensor", "nvvm")


class Rewriter:
    """Puts launches of kernels in the place of contractions and of attention.

    Ops that are replaced stay until `finish`: plans refer to their results.

    Args:
        module: the program.
    """

    def __init__(self, module: Module) -> None:
        self._block = module.operation.regions[0].blocks[0]
        self._kernels: dict[str, str] = {}
        self._replaced: list[tuple[Value, Value]] = []
        self._done: list[Plan] = []
        self._attention: list[Op] = []

    def add(self, plan: Plan | AttentionPlan, text: str) -> str:
        """Put a launch in the place of a plan's ops, and return the name of the kernel's `gpu.module`.

        Where extents are dynamic, and with them whether TMA reads the operands, the ops stay as the other
        version of the program.

        Args:
            plan: the plan; those of earlier ops of the program come first.
            text: the module with its kernel; equal ones are added once.
        """
        if text not in self._kernels:
            what = "gemm" if isinstance(plan, Plan) else "attention"
            self._kernels[text] = self._unused(f"{_function_name(plan.op)}_{what}")
            self._insert(text, self._kernels[text])
        name = self._kernels[text]
        op = plan.op
        with ir.InsertionPoint(op), op.location:
            results = self._launched(plan, name)
        for old, new in zip(op.results, results, strict=True):
            old.replace_all_uses_with(new)
            self._replaced.append((old, new))
        if isinstance(plan, Plan):
            self._done.append(plan)
        else:
            self._attention.append(op)
        return name

    def _launched(self, plan: Plan | AttentionPlan, name: str) -> list[Value]:
        """Emit the launch of a plan's kernel, and return its results."""
        types = self._parameters(name)
        if isinstance(plan, Plan):
            build = _versions if plan.unknown else launch_gemm
            return build(plan, name, types, self._buffers(plan))
        read = [self._read(each.value) for each in plan.operands]
        return [launch_attention(plan, name, types, read)]

    def finish(self) -> None:
        """Erase the ops that launches have replaced."""
        replaced = {op for plan in self._done for op in plan.ops}
        before = (owner(value) for op in replaced for value in op.operands)
        begins = {op for op in before if op is not None} - replaced
        certain = [plan for plan in self._done if not plan.unknown]
        fills = [each.cleared for plan in certain for each in plan.products]
        for plan in reversed(self._done):
            for op in reversed(plan.ops):
                op.erase()
        for fill in fills:
            if fill is not None:
                fill.erase()
        _erase_unused(begins)
        _erase_with_operands(self._attention)

    def _insert(self, text: str, name: str) -> None:
        parsed = ir.Module.parse(text)
        (holder,) = parsed.body.operations
        with ir.InsertionPoint(self._block.operations[0]):
            copied = holder.operation.clone()
        copied.attributes["sym_name"] = ir.StringAttr.get(name)

    def _parameters(self, name: str) -> list[Type]:
        """Return the types of the parameters of a `gpu.module`'s kernel."""
        holder = next(op.operation for op in self._block.operations if _symbol(op) == name)
        function = holder.regions[0].blocks[0].operations[0].operation
        return list(ir.TypeAttr(function.attributes["function_type"]).value.inputs)

    def _unused(self, name: str) -> str:
        """Return a name that no symbol of the module has."""
        taken = {_symbol(op) for op in self._block.operations}
        return next(each for number in count() if (each := f"{name}_{number}") not in taken)

    def _buffers(self, plan: Plan) -> dict[str, Buffer]:
        """Return the memory of what is read, and of results on memrefs, by the argument's name."""
        found: dict[str, Buffer] = {}
        for argument in plan.arguments:
            access = argument.access
            value = access.value
            if not isinstance(value.type, ir.MemRefType):
                if argument.is_result:
                    continue
                value = self._read(value)
            if access.permutation:
                value = _transposed(value, access.permutation)
            found[argument.name] = Buffer.of(value, access.loops)
        return found

    def _read(self, value: Value) -> Value:
        """Return the memory of a tensor that is read."""
        value = next((new for old, new in self._replaced if old == value), value)
        type_ = ir.MemRefType.get(value.type.shape, value.type.element_type)
        return emit.value("bufferization.to_buffer", (value,), type_, read_only=ir.UnitAttr.get())


def _symbol(op: Op) -> str | None:
    attributes = op.operation.attributes
    return ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else None


def _function_name(op: Op) -> str:
    while op.name != "func.func":
        op = op.parent.operation
    return ir.StringAttr(op.attributes["sym_name"]).value


def _transposed(memref: Value, permutation: Sequence[int]) -> Value:
    """Emit a copy of a memref with its dimensions in another order, and return it."""
    source = Buffer.of(memref, tuple(range(len(permutation))))
    copy = allocated([source.sizes[dim] for dim in permutation], memref.type)
    move(memref, copy, permutation)
    return copy


def _versions(
    plan: Plan,
    kernel: str,
    types: Sequence[Type],
    buffers: dict[str, Buffer],
) -> list[Value]:
    """Emit the launch where no extent is 0, and TMA reads and writes all operands; else the ops as they
    are."""
    i1 = ir.IntegerType.get_signless(1)
    aligned = is_positive(loop_sizes(buffers).values())
    for argument, group in plan.unknown:
        buffer = buffers.get(argument.name) or _planned_buffer(argument, buffers)
        size = times(buffer.stride(group), buffer.item_bytes)
        fits = emit.compare("eq", emit.binary("remui", index(size), UNIT_BYTES), 0)
        aligned = fits if aligned is None else emit.value("arith.andi", (aligned, fits), i1)
    assert aligned is not None
    op = plan.op
    branches = scf.IfOp(aligned, [each.type for each in op.results], has_else=True)
    with ir.InsertionPoint(branches.then_block):
        scf.YieldOp(launch_gemm(plan, kernel, types, buffers, is_never_empty=True))
    with ir.InsertionPoint(branches.else_block):
        copies: list[tuple[Value, Value]] = []
        for each in plan.ops:
            copy = each.clone().operation
            for old, new in copies:
                copy.replace_uses_of_with(old, new)
            copies += zip(each.results, copy.results, strict=True)
        scf.YieldOp([new for old, new in copies if old in list(op.results)])
    return list(branches.results)


def _planned_buffer(argument: Argument, buffers: dict[str, Buffer]) -> Buffer:
    """Return the buffer of a result whose memory is not there yet."""
    sizes = loop_sizes(buffers)
    loops = argument.access.loops
    extents = [sizes[loop] for loop in loops]
    strides: list[Extent] = [1] * len(loops)
    for at in range(len(loops) - 2, -1, -1):
        strides[at] = times(strides[at + 1], extents[at + 1])
    return Buffer(argument.access.value, loops, tuple(extents), tuple(strides))


def _erase_unused(ops: set[Op]) -> None:
    """Erase fills of tensors, and empty tensors, that nothing uses any more."""
    empty = {op for op in ops if op.name == "tensor.empty"}
    for op in ops - empty:
        if list(op.results) and is_filled_with_zeros(op) and not uses_of(list(op.results)):
            outputs = {owner(value) for value in outputs_of(op)}
            empty |= {each for each in outputs if each is not None and each.name == "tensor.empty"}
            op.erase()
    for op in empty:
        if not uses_of(list(op.results)):
            op.erase()


def _erase_with_operands(ops: list[Op]) -> None:
    """Erase ops that nothing uses any more, and those that only they used."""
    rest = list(ops)
    while rest:
        op = rest.pop()
        if uses_of(list(op.results)) or op.name.split(".")[0] not in ON_TENSORS:
            continue
        makers = {owner(value) for value in op.operands}
        op.erase()
        rest += [each for each in makers if each is not None and each not in rest]
