"""Launches of GEMM and attention kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from ...bindings.irtypes import Type, Value
from ...bindings.mlir import gpu, ir, scf
from ...ir import emit
from ...kernels.attention.generator.config import MULTIPROCESSORS
from ...kernels.gemm.generator.time_model import H200
from ..extents import Extent, ceildiv, extents_of, index, minimum, product, times
from ..moves import fill, move
from .attention_plan import AttentionArgument, AttentionPlan
from .contraction import ArrayAccess
from .dynamic_extents import emit_extent
from .gemm_plan import GemmPlan
from .generic import GENERIC
from .views import StridedMemRef, allocate, as_tensor

_DYNAMIC = ir.ShapedType.get_dynamic_size()

#: Threads of a warpgroup.
_THREADS = 128

#: The extent of K in the place of 0: a row of 8-bit elements has 16 bytes then, as TMA requires.
_ZEROS = 16


def launch_gemm(
    plan: GemmPlan,
    kernel: str,
    types: Sequence[Type],
    buffers: Mapping[str, StridedMemRef],
    is_never_empty: bool = False,
) -> list[Value]:
    """Emit the launch of a GEMM kernel and the allocation of its results; return the results.

    Dynamic extents may be 0. An empty result is not computed. Where K is 0, zeros replace the operands,
    because TMA reads no empty arrays.

    Args:
        plan: the plan.
        kernel: the name of the kernel's `gpu.module`.
        types: the types of the kernel's parameters.
        buffers: the memory of operands, and of results on memrefs, by the argument's name.
        is_never_empty: whether it is known that no extent is 0.
    """
    sizes = loop_sizes(buffers)
    memories: list[Value] = []
    arrays = dict(buffers)
    copies: list[tuple[StridedMemRef, Value, ArrayAccess]] = []
    for argument in plan.arguments:
        access = argument.access
        if argument.name in arrays:
            continue
        type_ = access.value.type
        extents = [
            sizes[loop] if size == _DYNAMIC else size
            for loop, size in zip(access.loops, access.shape, strict=True)
        ]
        memory = access.value
        if not isinstance(type_, ir.MemRefType):
            order = access.permutation or range(len(extents))
            shape = [extent for _, extent in sorted(zip(order, extents, strict=True))]
            memory = allocate(shape, type_)
            memories.append(memory)
        if access.is_copy:
            copy = StridedMemRef.allocate(extents, type_, access.loops, access.row)
            arrays[argument.name] = copy
            copies.append((copy, memory, access))
        else:
            arrays[argument.name] = StridedMemRef.of(memory, access.loops)
    if is_never_empty:
        _launch(plan, kernel, types, arrays)
    else:
        outer = (*plan.dims.m, *plan.dims.n, *(loop for group in plan.dims.batch for loop in group))
        computes = is_positive(sizes[loop] for loop in outer)
        with nullcontext() if computes is None else emit.scf_if(computes):
            _launch_or_zeros(plan, kernel, types, arrays)
    for copy, memory, access in copies:
        move(copy.elements(), memory, [access.permutation.index(d) for d in range(len(copy.loops))])
    tensors = [argument.access.value.type for argument in plan.arguments if argument.is_result]
    return [as_tensor(memory, type_) for memory, type_ in zip(memories, tensors, strict=False)]


def loop_sizes(buffers: Mapping[str, StridedMemRef]) -> dict[int, Extent]:
    """Return the extents of loops, static ones where an operand has them."""
    sizes: dict[int, Extent] = {}
    for buffer in buffers.values():
        for loop, size in zip(buffer.loops, buffer.sizes, strict=True):
            if loop not in sizes or isinstance(size, int):
                sizes[loop] = size
    return sizes


def is_positive(extents: Iterable[Extent]) -> Value | None:
    """Emit the check that no extent is 0; None if all are static: `plan_gemm` refuses an extent of 0."""
    dynamic = [extent for extent in extents if not isinstance(extent, int)]
    if not dynamic:
        return None
    return emit.compare("ne", index(product(dynamic)), 0)


def _launch_or_zeros(
    plan: GemmPlan, kernel: str, types: Sequence[Type], arrays: Mapping[str, StridedMemRef]
) -> None:
    """Emit the launch; if K may be 0, also a launch on operands of zeros."""
    sizes = loop_sizes(arrays)
    computes = is_positive(sizes[loop] for loop in plan.dims.k)
    if computes is None:
        _launch(plan, kernel, types, arrays)
        return
    branches = scf.IfOp(computes, has_else=True)
    with ir.InsertionPoint(branches.then_block):
        _launch(plan, kernel, types, arrays)
        scf.YieldOp([])
    with ir.InsertionPoint(branches.else_block):
        _launch(plan, kernel, types, _with_zeros(plan, arrays))
        scf.YieldOp([])


def _with_zeros(plan: GemmPlan, arrays: Mapping[str, StridedMemRef]) -> dict[str, StridedMemRef]:
    """Replace the arrays along K by emitted zeros, and return all arrays."""
    replaced = dict(arrays)
    for name, array in arrays.items():
        if not set(plan.dims.k) & set(array.loops):
            continue
        sizes = tuple(
            _ZEROS if loop in plan.dims.k else size
            for loop, size in zip(array.loops, array.sizes, strict=True)
        )
        *outer, last = sizes
        memory = _zeros([*outer, times(ceildiv(last, _ZEROS), _ZEROS)], array)
        replaced[name] = replace(StridedMemRef.of(memory, array.loops), sizes=sizes)
    return replaced


def _zeros(sizes: Sequence[Extent], like: StridedMemRef) -> Value:
    """Emit a contiguous memref of zeros with the element type of another, and return it.

    The zeros are bytes, because a host passes no 8-bit floats to a kernel.
    """
    size = product([like.item_bytes, *sizes])
    byte = ir.IntegerType.get_signless(8)
    memory = allocate([size], ir.MemRefType.get([1], byte))
    fill(memory, 0)
    shape = [extent if isinstance(extent, int) else _DYNAMIC for extent in sizes]
    type_ = ir.MemRefType.get(shape, like.memref.type.element_type)
    dynamic = [extent for extent in sizes if not isinstance(extent, int)]
    return emit.value("memref.view", (memory, index(0), *dynamic), type_)


def _launch(
    plan: GemmPlan, kernel: str, types: Sequence[Type], arrays: Mapping[str, StridedMemRef]
) -> None:
    values = [
        arrays[argument.name].view(argument.dims, type_)
        for argument, type_ in zip(plan.arguments, types, strict=True)
    ]
    grid = [*map(index, _grid(plan, loop_sizes(arrays))), index(1)]
    block = [index(_THREADS * (1 + plan.config.consumers)), index(1), index(1)]
    gpu.launch_func([kernel, "gemm"], grid, block, kernel_operands=values)


def _grid(plan: GemmPlan, sizes: Mapping[int, Extent]) -> tuple[Extent, Extent]:
    """Return the numbers of CTAs along x and y; see `Config.grid`."""
    config = plan.config

    def extent(group: tuple[int, ...]) -> Extent:
        return product(sizes[loop] for loop in group)

    m, n, k = (extent(group) for group in (plan.dims.m, plan.dims.n, plan.dims.k))
    batch = [extent(group) for group in plan.dims.batch]
    extents = [size for size in (m, n, k, *batch) if isinstance(size, int)]
    if len(extents) == 3 + len(batch):
        rows, columns, depth, *batches = extents
        return config.grid(rows, columns, depth, H200.multiprocessors, batches)
    rows, columns = (n, m) if config.exchanged else (m, n)
    along_m, along_n = config.cluster
    tiles = times(
        ceildiv(rows, config.tile[0] * along_m), ceildiv(columns, config.tile[1] * along_n)
    )
    for size in batch:
        tiles = times(tiles, size)
    if config.cluster_k > 1:
        return times(tiles, config.cluster_k), 1
    resident = max(1, H200.multiprocessors // (along_m * along_n))
    return times(minimum(tiles, resident), along_m), along_n


def launch_attention(
    plan: AttentionPlan, kernel: str, types: Sequence[Type], operands: Sequence[Value]
) -> Value:
    """Emit the launch of an attention kernel and the allocation of its result; return the result.

    Dynamic extents may be 0. An empty result is not computed. If a mask by places was matched because
    extents have equal names, they are asserted to be equal.

    Args:
        plan: the plan.
        kernel: the name of the kernel's `gpu.module`.
        types: the types of the kernel's parameters.
        operands: the memory of Q, K and V.
    """
    memories = {array.value: memref for array, memref in zip(plan.operands, operands, strict=True)}
    extents = {
        number: source.emit(memories.get(source.tensor)) for number, source in plan.dynamic.items()
    }
    program_type = plan.result.value.type
    # The program may round a result of f32 to the kernel's type later.
    element = plan.operands[0].value.type.element_type
    result_type = ir.RankedTensorType.get(program_type.shape, element)
    memory = allocate([emit_extent(size, extents) for size in plan.result_shape], result_type)
    arrays = [
        _memref_of(array, memref, extents)
        for array, memref in zip((*plan.operands, plan.result), (*operands, memory), strict=True)
    ]
    *_, v, o = arrays
    queries, keys = o.sizes[2], v.sizes[2]
    if plan.window and not isinstance(keys, int):
        message = "a mask by places is compiled for as many queries as keys"
        equal = emit.compare("eq", index(queries), keys)
        emit.op("cf.assert", (equal,), msg=ir.StringAttr.get(message))
    computes = is_positive(o.sizes)
    with nullcontext() if computes is None else emit.scf_if(computes):
        has_keys = is_positive([keys])
        if has_keys is None:
            _launch_attention(plan, kernel, types, arrays)
        else:
            branches = scf.IfOp(has_keys, has_else=True)
            with ir.InsertionPoint(branches.then_block):
                _launch_attention(plan, kernel, types, arrays)
                scf.YieldOp([])
            with ir.InsertionPoint(branches.else_block):
                fill(memory, plan.without_keys)
                scf.YieldOp([])
    result = as_tensor(memory, result_type)
    return result if result_type == program_type else _widen(result, memory, program_type)


def _widen(tensor: Value, memory: Value, type_: Type) -> Value:
    """Emit a `linalg.generic` that widens a tensor, whose memory has its extents; return its result."""
    extents = [extent for extent in extents_of(memory) if not isinstance(extent, int)]
    empty = emit.value("tensor.empty", extents, type_)
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    op = emit.op(
        GENERIC,
        (tensor, empty),
        [type_],
        regions=1,
        indexing_maps=ir.ArrayAttr.get([identity, identity]),
        iterator_types=ir.ArrayAttr.get([parallel] * type_.rank),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 1]),
    )
    block = op.regions[0].blocks.append(tensor.type.element_type, type_.element_type)
    with ir.InsertionPoint(block):
        wide = emit.value("arith.extf", (block.arguments[0],), type_.element_type)
        emit.op("linalg.yield", (wide,))
    return op.results[0]


def _launch_attention(
    plan: AttentionPlan, kernel: str, types: Sequence[Type], arrays: Sequence[StridedMemRef]
) -> None:
    dims = [(dim,) for dim in range(4)]
    arguments = [
        *(array.view(dims, type_) for array, type_ in zip(arrays, types, strict=False)),
        emit.constant(plan.scale, ir.F32Type.get()),
        *map(index, plan.window),
    ]
    batches, heads, queries, _ = arrays[-1].sizes
    cluster = plan.config.cluster
    tiles = times(ceildiv(queries, plan.config.rows * cluster), cluster)
    grid = [minimum(product([tiles, batches, heads]), MULTIPROCESSORS), 1, 1]
    block = [_THREADS * (1 + plan.config.consumers), 1, 1]
    gpu.launch_func(
        [kernel, "attention"], [*map(index, grid)], [*map(index, block)], kernel_operands=arguments
    )


def _memref_of(
    array: AttentionArgument, memref: Value, extents: Mapping[int, Extent]
) -> StridedMemRef:
    """Return memory with the dimensions of a kernel's parameter; emit ops for dynamic extents."""
    sizes, strides = (
        tuple(emit_extent(number, extents) for number in numbers)
        for numbers in (array.sizes, array.strides)
    )
    return StridedMemRef(memref, tuple(range(len(sizes))), sizes, strides)
