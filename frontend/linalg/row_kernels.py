"""`linalg-fuse-rows`: ops that share their rows become one kernel, which reads each element once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd, prod

from ...bindings.irtypes import Module, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...ir.kernel import functions_of
from ...ir.walk import walk
from ...layout.elements import UNIT_BYTES
from ...layout.transfer import WARP
from ...passes import Pass, option
from ..extents import Extent, index, product, times
from ..float8 import convert_by_integers
from ..moves import FlatMemRef, if_not_empty, launch
from .element_wise import loops_of
from .generic import RESHAPES, body, outputs_of, owner
from .rewriting import DIALECTS
from .row_code import RowCode, RowKernel
from .row_groups import Level, RowGroup, row_groups
from .row_shapes import RowShape
from .sources import column_boundaries, read_tensors, sources_of
from .views import allocate, as_tensor, memory_of


@dataclass(frozen=True)
class FuseRows(Pass):
    """Ops of linalg on tensors that share their rows become one kernel: element-wise ones, and reductions
    of rows, such as norms and softmax. Its threads read each element once, and keep it in registers.

    A row has up to 32,768 elements if it is reduced. What has no such kernel stays.
    """

    name = "linalg-fuse-rows"
    description = "make kernels of element-wise ops and reductions that share their rows"

    math: str = option(
        "exact",
        "exact, or approx for approximate divisions and functions of f32",
        choices=("exact", "approx"),
    )

    def run(self, module: Module) -> None:
        for name in DIALECTS:
            _ = module.context.dialects[name]
        for function in functions_of(module):
            if function.name == "func.func":
                for group in row_groups(function):
                    with ir.InsertionPoint(group.root), group.root.location:
                        _launch(group, self.math == "approx")


def _launch(group: RowGroup, approximate: bool) -> None:
    """Emit the kernel of a group and its launch, in the place of its ops."""
    merged = _merged_loops(group)
    first, *_ = outputs_of(group.root)
    extents = [_extent(first, dim) for dim in range(group.rank - 1)]
    columns = group.columns * prod(_static(x) for x in extents[len(extents) - merged :])
    row_extents = extents[: len(extents) - merged]
    leaves = _leaves(group)
    memories = [_result_memory(value, extents) for value in group.stored]
    kernel = RowKernel(
        group,
        RowShape.of(columns, group.has_sums, _boundary(group)),
        row_extents,
        {value: FlatMemRef(memory_of(value)) for value in leaves},
        {value: FlatMemRef(x) for value, x in zip(group.stored, memories, strict=True)},
        shared={},
        is_aligned=False,
        approximate=approximate,
    )
    with if_not_empty(row_extents) as has_elements:
        if has_elements:
            _emit_launch(kernel)
    for value, memory in zip(group.stored, memories, strict=True):
        value.replace_all_uses_with(as_tensor(memory, value.type))
    for op in group.ops:
        op.erase()


def _emit_launch(kernel: RowKernel) -> None:
    """Emit the launch of a kernel: of one with vectors, unless arrays are not aligned."""
    if kernel.shape.width == 1:
        _emit_kernel(kernel)
        return
    with_vectors = replace(kernel, is_aligned=True)
    misaligned = _misaligned_bytes(kernel)
    if misaligned is None:
        _emit_kernel(with_vectors)
        return
    branch = emit.op("scf.if", (emit.compare("eq", misaligned, 0),), regions=2)
    for region, version in zip(branch.regions, (with_vectors, kernel), strict=True):
        with ir.InsertionPoint(ir.Block.create_at_start(region)):
            _emit_kernel(version)
            emit.op("scf.yield")


def _emit_kernel(kernel: RowKernel) -> None:
    """Emit a launch of a kernel, and its code."""
    shape, group = kernel.shape, kernel.group
    parts = times(product(kernel.row_extents), shape.parts)
    blocks = emit.binary("ceildivui", index(parts), index(shape.groups))
    sums = [value for value, level in group.levels.items() if level is Level.SUM]
    warps = shape.threads // WARP
    space = ir.Attribute.parse("#gpu.address_space<workgroup>")
    shared = [
        ir.MemRefType.get([warps], value.type.element_type, memory_space=space)
        for value in (sums if warps > 1 else ())
    ]
    with launch(blocks, shape.threads * shape.groups, shared) as (block, thread, memory):
        own = replace(kernel, shared=dict(zip(sums, memory, strict=False)))
        if shape.groups == 1:
            RowCode(own, block, thread).store()
        else:
            first = emit.binary("muli", block, shape.groups)
            number = emit.binary("addi", first, emit.binary("divui", thread, shape.threads))
            with emit.scf_if(emit.compare("ult", number, index(parts))):
                RowCode(own, number, emit.binary("remui", thread, shape.threads)).store()
    convert_by_integers(walk(block.owner.owner))


def _misaligned_bytes(kernel: RowKernel) -> Value | None:
    """Emit bits of the addresses of a kernel's arrays, which are 0 if all are aligned as vectors are;
    None if that is known."""
    bits: Value | None = None
    for tensor, array in kernel.arrays.items():
        if not _is_own(tensor):
            own = emit.binary("andi", array.address, UNIT_BYTES - 1)
            bits = own if bits is None else emit.binary("ori", bits, own)
    return bits


def _is_own(tensor: Value) -> bool:
    """Whether a tensor is memory that the program has allocated, from its begin on."""
    op = owner(tensor)
    while op is not None and op.name in RESHAPES:
        op = owner(op.operands[0])
    if op is None or op.name != "bufferization.to_tensor":
        return False
    memory = owner(op.operands[0])
    return memory is not None and memory.name == "memref.alloc"


def _result_memory(value: Value, extents: Sequence[Extent]) -> Value:
    """Emit the allocation of a result."""
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = [extents[dim] if size == dynamic else size for dim, size in enumerate(value.type.shape)]
    return allocate(sizes, value.type)


def _boundary(group: RowGroup) -> int:
    """Return a number that divides the columns where what is read changes; 0 if none does."""
    read = [x for op in group.ops for x in read_tensors(op) if x not in group.levels]
    return gcd(*(size for x in read for size in column_boundaries(x)))


def _merged_loops(group: RowGroup) -> int:
    """Return how many loops before the last one all operands have, too, so that they can be one."""
    if group.has_sums or Level.ROW in group.levels.values():
        return 0
    if any(x.operation.name == "linalg.index" for op in group.ops for x in body(op).operations):
        return 0
    if any(
        x not in group.levels and sources_of(x) != [x] for op in group.ops for x in read_tensors(op)
    ):
        return 0
    last, merged = group.rank - 1, 0
    first, *_ = outputs_of(group.root)
    while merged < last and first.type.shape[last - merged - 1] > 0:
        loops = list(range(last - merged - 1, last + 1))
        for op in group.ops:
            for number, operand in enumerate(op.operands):
                if not isinstance(operand.type, ir.ShapedType):
                    continue
                indexed = loops_of(op, number) or []
                if indexed[-len(loops) :] != loops and set(indexed) & set(loops):
                    return merged
        merged += 1
    return merged


def _leaves(group: RowGroup) -> list[Value]:
    """Return the tensors in memory that a group reads."""
    leaves: list[Value] = []
    for op in group.ops:
        for operand in read_tensors(op):
            if operand not in group.levels:
                leaves += [x for x in sources_of(operand) if x not in leaves]
    return leaves


def _extent(tensor: Value, dim: int) -> Extent:
    """Return the extent of a tensor; emit an op for a dynamic one."""
    extent = tensor.type.shape[dim]
    if extent != ir.ShapedType.get_dynamic_size():
        return extent
    return emit.value("tensor.dim", (tensor, index(dim)), ir.IndexType.get())


def _static(extent: Extent) -> int:
    assert isinstance(extent, int), "merged loops have known extents"
    return extent
