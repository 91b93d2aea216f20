"""The launch of a GEMM kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from ...bindings.irtypes import Type, Value
from ...bindings.mlir import gpu, ir, scf
from ...ir import emit
from ...kernels.gemm.generator.time_model import H200
from ..moves import fill_with_zeros
from .plan import Plan
from .views import Buffer, Extent, allocated, ceildiv, filled, index, times

_DYNAMIC = ir.ShapedType.get_dynamic_size()

_THREADS = 128

#: The extent that K has where it is 0: a row of elements of 8 bits is 16 bytes then, as TMA has it.
_ZEROS = 16


def launch_gemm(
    plan: Plan,
    kernel: str,
    types: Sequence[Type],
    buffers: Mapping[str, Buffer],
    is_never_empty: bool = False,
) -> list[Value]:
    """Emit the launch, with memory for results; return them as tensors.

    Dynamic extents may be 0. An empty result is not computed. Where K is 0, the operands are replaced by
    zeros, because TMA reads no empty arrays.

    Args:
        plan: the plan.
        kernel: the name of the kernel's `gpu.module`.
        types: the types of its parameters.
        buffers: the memory of what is read, and of results on memrefs, by the argument's name.
        is_never_empty: whether it is known that no extent is 0.
    """
    sizes = loop_sizes(buffers)
    memories: list[Value] = []
    arrays = dict(buffers)
    for argument in plan.arguments:
        if argument.name in arrays:
            continue
        type_ = argument.access.value.type
        extents = [
            sizes[loop] if size == _DYNAMIC else size
            for loop, size in zip(argument.access.loops, type_.shape, strict=True)
        ]
        memory = allocated(extents, type_)
        arrays[argument.name] = Buffer.of(memory, argument.access.loops)
        memories.append(memory)
    if is_never_empty:
        _launch(plan, kernel, types, arrays)
    else:
        outer = (*plan.dims.m, *plan.dims.n, *(loop for each in plan.dims.batch for loop in each))
        computes = is_positive(sizes[loop] for loop in outer)
        with nullcontext() if computes is None else emit.scf_if(computes):
            _launch_or_zeros(plan, kernel, types, arrays)
    tensors = [each.access.value.type for each in plan.arguments if each.is_result]
    return [filled(memory, type_) for memory, type_ in zip(memories, tensors, strict=False)]


def loop_sizes(buffers: Mapping[str, Buffer]) -> dict[int, Extent]:
    """Return the extents of loops, known ones where an operand knows them."""
    sizes: dict[int, Extent] = {}
    for buffer in buffers.values():
        for loop, size in zip(buffer.loops, buffer.sizes, strict=True):
            if loop not in sizes or isinstance(size, int):
                sizes[loop] = size
    return sizes


def is_positive(extents: Iterable[Extent]) -> Value | None:
    """Emit the check that no extent is 0; None if all are known, since ops with an extent of 0 stay."""
    dynamic = [each for each in extents if not isinstance(each, int)]
    if not dynamic:
        return None
    product: Extent = 1
    for each in dynamic:
        product = times(product, each)
    return emit.compare("ne", index(product), 0)


def _launch_or_zeros(
    plan: Plan, kernel: str, types: Sequence[Type], arrays: Mapping[str, Buffer]
) -> None:
    """Emit the launch, and where K may be 0 a second one, on operands of zeros."""
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


def _with_zeros(plan: Plan, arrays: Mapping[str, Buffer]) -> dict[str, Buffer]:
    """Emit zeros in the place of the operands that have K, and return the arrays with them."""
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
        replaced[name] = replace(Buffer.of(memory, array.loops), sizes=sizes)
    return replaced


def _zeros(sizes: Sequence[Extent], like: Buffer) -> Value:
    """Emit a contiguous memref of zeros with the elements of another, and return it.

    The zeros are bytes, because a host passes no 8-bit floats to a kernel.
    """
    size: Extent = like.item_bytes
    for each in sizes:
        size = times(size, each)
    byte = ir.IntegerType.get_signless(8)
    memory = allocated([size], ir.MemRefType.get([1], byte))
    fill_with_zeros(memory)
    shape = [each if isinstance(each, int) else _DYNAMIC for each in sizes]
    type_ = ir.MemRefType.get(shape, like.memref.type.element_type)
    dynamic = [each for each in sizes if not isinstance(each, int)]
    return emit.value("memref.view", (memory, index(0), *dynamic), type_)


def _launch(plan: Plan, kernel: str, types: Sequence[Type], arrays: Mapping[str, Buffer]) -> None:
    values = [
        arrays[argument.name].view(argument.dims, type_)
        for argument, type_ in zip(plan.arguments, types, strict=True)
    ]
    grid = [*map(index, _grid(plan, loop_sizes(arrays))), index(1)]
    block = [index(_THREADS * (1 + plan.config.consumers)), index(1), index(1)]
    gpu.launch_func([kernel, "gemm"], grid, block, kernel_operands=values)


def _grid(plan: Plan, sizes: Mapping[int, Extent]) -> tuple[Extent, Extent]:
    """Return the CTAs along x and y; see `Config.grid`."""
    config = plan.config

    def extent(group: tuple[int, ...]) -> Extent:
        product: Extent = 1
        for loop in group:
            product = times(product, sizes[loop])
        return product

    m, n, k = (extent(group) for group in (plan.dims.m, plan.dims.n, plan.dims.k))
    batch = [extent(group) for group in plan.dims.batch]
    if all(isinstance(each, int) for each in (m, n, k, *batch)):
        return config.grid(m, n, k, H200.multiprocessors, batch)
    rows, columns = (n, m) if config.exchanged else (m, n)
    along_m, along_n = config.cluster
    tiles = times(
        ceildiv(rows, config.tile[0] * along_m), ceildiv(columns, config.tile[1] * along_n)
    )
    for each in batch:
        tiles = times(tiles, each)
    if config.cluster_k > 1:
        return times(tiles, config.cluster_k), 1
    resident = max(1, H200.multiprocessors // (along_m * along_n))
    clusters = emit.value("arith.minui", (index(tiles), index(resident)), ir.IndexType.get())
    return times(clusters, along_m), along_n
