"""`linalg-fuse-rows`: ops that share their rows become one kernel, which reads each element once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, prod

from ...bindings.irtypes import Module, Op, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...ir.kernel import functions_of
from ...layout.transfer import WARP
from ...passes import Pass
from ..extents import Extent, index, product, times
from ..float8 import convert_by_integers
from ..moves import FlatMemRef, if_not_empty, launch, split_index
from ..reductions import combine, combine_lanes, combiner_of, neutral
from .element_wise import loops_of
from .generic import GENERIC, body, outputs_of
from .rewriting import DIALECTS
from .row_groups import Level, RowGroup, row_groups
from .sources import CONCAT, places_behind, read_tensors, sources_of
from .views import allocate, as_tensor

#: Threads of a block whose rows are short, and elements of a thread where no row is summed.
_THREADS, _ELEMENTS = 256, 8

#: Elements of a thread where rows are summed: they stay in registers.
_SUMMED = 16

#: The most threads of a block.
_MOST_THREADS = 1024


@dataclass(frozen=True)
class FuseRows(Pass):
    """Ops of linalg on tensors that share their rows become one kernel: element-wise ones, and reductions
    of rows, such as norms and softmax. Its threads read each element once, and keep it in registers.

    A row has up to 32,768 elements if it is reduced. What has no such kernel stays.
    """

    name = "linalg-fuse-rows"
    description = "make kernels of element-wise ops and reductions that share their rows"

    def run(self, module: Module) -> None:
        for name in DIALECTS:
            _ = module.context.dialects[name]
        for function in functions_of(module):
            if function.name == "func.func":
                for group in row_groups(function):
                    with ir.InsertionPoint(group.root), group.root.location:
                        _launch(group)


@dataclass(frozen=True)
class _Shape:
    """How the threads of a kernel divide rows.

    Attributes:
        columns: the elements of a row.
        threads, elements: those of a part of a row, and how many elements each thread has.
        parts: how many parts a row has.
        groups: parts that a block has.
    """

    columns: int
    threads: int
    elements: int
    parts: int
    groups: int

    @staticmethod
    def of(columns: int, has_sums: bool) -> _Shape:
        """Return the threads of rows of so many elements; one part if threads exchange sums."""
        if not has_sums and columns >= _THREADS * _ELEMENTS:
            parts = -(-columns // (_THREADS * _ELEMENTS))
            return _Shape(columns, _THREADS, _ELEMENTS, parts, 1)
        wanted = -(-columns // (_SUMMED if has_sums else _ELEMENTS))
        threads = min(max(WARP, 1 << (wanted - 1).bit_length()), _MOST_THREADS)
        groups = max(1, _THREADS // threads) if threads == WARP or not has_sums else 1
        return _Shape(columns, threads, -(-columns // threads), 1, groups)

    @property
    def is_whole(self) -> bool:
        """Whether all threads have elements."""
        return self.parts * self.threads * self.elements == self.columns


def _launch(group: RowGroup) -> None:
    """Emit the kernel of a group and its launch, in the place of its ops."""
    root = group.root
    merged = _merged_loops(group)
    first, *_ = outputs_of(root)
    extents = [_extent(first, dim) for dim in range(group.rank - 1)]
    columns = group.columns * prod(_static(x) for x in extents[len(extents) - merged :])
    row_extents = extents[: len(extents) - merged]
    arrays = {value: FlatMemRef(_buffer(value)) for value in _leaves(group)}
    memories = []
    for value in group.stored:
        shape = value.type.shape
        sizes = [
            extents[dim] if size == ir.ShapedType.get_dynamic_size() else size
            for dim, size in enumerate(shape)
        ]
        memories.append(allocate(sizes, value.type))
    shape = _Shape.of(columns, group.has_sums)
    sums = [value for value, level in group.levels.items() if level is Level.SUM]
    results = {
        value: FlatMemRef(memory) for value, memory in zip(group.stored, memories, strict=True)
    }
    with if_not_empty(row_extents) as has_elements:
        if has_elements:
            _emit_kernel(group, shape, row_extents, merged, arrays, results, sums)
    for value, memory in zip(group.stored, memories, strict=True):
        value.replace_all_uses_with(as_tensor(memory, value.type))
    for op in group.ops:
        op.erase()


def _emit_kernel(
    group: RowGroup,
    shape: _Shape,
    row_extents: Sequence[Extent],
    merged: int,
    arrays: dict[Value, FlatMemRef],
    results: dict[Value, FlatMemRef],
    sums: Sequence[Value],
) -> None:
    parts = times(product(row_extents), shape.parts)
    blocks = emit.binary("ceildivui", index(parts), index(shape.groups))
    warps = shape.threads // WARP
    space = ir.Attribute.parse("#gpu.address_space<workgroup>")
    shared = [
        ir.MemRefType.get([warps], value.type.element_type, memory_space=space)
        for value in (sums if warps > 1 else ())
    ]
    with launch(blocks, shape.threads * shape.groups, shared) as (block, thread, memory):
        kernel = partial(_Part, group, shape, merged, arrays, dict(zip(sums, memory, strict=False)))
        if shape.groups == 1:
            kernel(block, thread, row_extents).store(results)
        else:
            number = emit.binary("muli", block, shape.groups)
            number = emit.binary("addi", number, emit.binary("divui", thread, shape.threads))
            with emit.scf_if(emit.compare("ult", number, index(parts))):
                lane = emit.binary("remui", thread, shape.threads)
                kernel(number, lane, row_extents).store(results)
    convert_by_integers(_ops_of(block.owner))


def _ops_of(block: ir.Block) -> list[Op]:
    ops = []
    for op in block.operations:
        ops.append(op.operation)
        ops += [x for region in op.operation.regions for b in region.blocks for x in _ops_of(b)]
    return ops


class _Part:
    """The code of a thread that computes elements of a part of a row.

    Args:
        group, shape: the ops, and who computes what.
        merged: how many loops of rows are columns, too, before the last loop.
        arrays: the memory of what the ops read.
        shared: by reduction, a number for each warp.
        number: of the part, in all rows.
        lane: of the thread, in its part.
        row_extents: of the loops of rows.
    """

    def __init__(
        self,
        group: RowGroup,
        shape: _Shape,
        merged: int,
        arrays: dict[Value, FlatMemRef],
        shared: dict[Value, Value],
        number: Value,
        lane: Value,
        row_extents: Sequence[Extent],
    ) -> None:
        self._group, self._shape, self._merged = group, shape, merged
        self._arrays, self._shared, self._lane = arrays, shared, lane
        row, first = number, lane
        if shape.parts > 1:
            part = emit.binary("remui", number, shape.parts)
            row = emit.binary("divui", number, shape.parts)
            begin = emit.binary("muli", part, shape.threads * shape.elements)
            first = emit.binary("addi", begin, lane)
        self._rows = split_index(row, row_extents)
        self._columns = [
            emit.binary("addi", first, element * shape.threads) for element in range(shape.elements)
        ]
        self._is_inside: list[Value] | None = None
        if not shape.is_whole:
            self._is_inside = [emit.compare("ult", x, shape.columns) for x in self._columns]
            last = index(shape.columns - 1)
            self._columns = [emit.value("arith.minui", (x, last), x.type) for x in self._columns]
        self._known: dict[tuple[Value, tuple[int, ...], int | None], Value] = {}
        #: The least and the largest number that an index may be, where that is known.
        self._ranges: dict[Value, tuple[float, float]] = {}
        if shape.parts == 1:
            for element, column in enumerate(self._columns):
                begin = element * shape.threads
                self._ranges[column] = min(begin, shape.columns - 1), begin + shape.threads - 1

    def store(self, results: dict[Value, FlatMemRef]) -> None:
        """Emit the computation of the results, and their stores."""
        elements = range(self._shape.elements)
        computed = {
            value: [self._result(value, e) for e in elements]
            if self._group.levels[value] is Level.ELEMENT
            else [self._result(value, None)]
            for value in results
        }
        for value, memory in results.items():
            if self._group.levels[value] is Level.ELEMENT:
                for element, number in zip(elements, computed[value], strict=True):
                    place = self._place(list(range(self._group.rank)), element)
                    self._store_inside(memory, number, place, element)
            else:
                with emit.scf_if(emit.compare("eq", self._lane, 0)):
                    memory.store(computed[value][0], self._rows)

    def _store_inside(
        self, memory: FlatMemRef, number: Value, place: list[Value], element: int
    ) -> None:
        if self._is_inside is None:
            memory.store(number, place)
            return
        with emit.scf_if(self._is_inside[element]):
            memory.store(number, place)

    def _result(self, value: Value, element: int | None) -> Value:
        """Emit a result of an op of the group, of an element or of the row."""
        level = self._group.levels[value]
        key = value, (), element if level is Level.ELEMENT else None
        if key not in self._known:
            op = value.owner.operation
            if level is Level.SUM:
                self._known[key] = self._sum(value)
            else:
                for result, number in zip(op.results, self._compute(op, key[2]), strict=True):
                    self._known[result, (), key[2]] = number
        return self._known[key]

    def _sum(self, value: Value) -> Value:
        """Emit a reduction of the row by all threads of its part."""
        op = value.owner.operation
        combiner = combiner_of(op)
        assert combiner is not None, "it is a reduction"
        total = neutral(combiner)
        for element in range(self._shape.elements):
            (more,) = self._compute(op, element, total)
            if self._is_inside is not None:
                more = emit.value(
                    "arith.select", (self._is_inside[element], more, total), more.type
                )
            total = more
        total = combine_lanes(combiner, total)
        if value in self._shared:
            memory = self._shared[value]
            warp = emit.binary("divui", self._lane, WARP)
            is_first = emit.compare("eq", emit.binary("remui", self._lane, WARP), 0)
            with emit.scf_if(is_first):
                emit.op("memref.store", (total, memory, warp))
            emit.op("gpu.barrier", ())
            total = neutral(combiner)
            for number in range(memory.type.shape[0]):
                other = emit.value("memref.load", (memory, index(number)), total.type)
                total = combine(combiner, total, other)
        initial = self._read(op, len(op.operands) - 1, None)
        return combine(combiner, initial, total)

    def _compute(self, op: Op, element: int | None, output: Value | None = None) -> list[Value]:
        """Emit the body of an op for an element, or for the row; return what it yields.

        Args:
            op: the op.
            element: the number of the element; None for the row.
            output: the element of the output before; None to read it.
        """
        block = body(op)
        values: dict[Value, Value] = {}
        for number, argument in enumerate(block.arguments):
            if not next(iter(argument.uses), None):
                continue
            is_output = output is not None and number == len(block.arguments) - 1
            values[argument] = output if is_output else self._read(op, number, element)
        return _repeat(op, values, lambda loop: self._place([loop], element)[0])

    def _read(self, op: Op, number: int, element: int | None) -> Value:
        """Emit what an op's operand has for an element, or for the row."""
        operand = op.operands[number]
        if operand in self._group.levels:
            return self._result(operand, element)
        if not isinstance(operand.type, ir.ShapedType):
            return operand
        loops = loops_of(op, number)
        key = operand, tuple(loops), element if self._group.rank - 1 in loops else None
        if key not in self._known:
            self._known[key] = self._load(operand, self._place(loops, element))
        return self._known[key]

    def _load(self, tensor: Value, places: list[Value]) -> Value:
        """Emit an element of a tensor that the group reads, from behind slices and concatenations."""
        if tensor in self._arrays:
            return self._arrays[tensor].load(places)
        op = tensor.owner.operation
        if op.name == GENERIC:
            return self._compute_at(op, places)[list(op.results).index(tensor)]
        if op.name != CONCAT:
            return self._load(op.operands[0], places_behind(op, places))
        dim = ir.IntegerAttr(op.attributes["dim"]).value
        return self._load_joined(list(op.operands), dim, places)

    def _load_joined(self, parts: list[Value], dim: int, places: list[Value]) -> Value:
        """Emit an element of a concatenation of tensors."""
        first, *others = parts
        size = first.type.shape[dim]
        low, high = self._ranges.get(places[dim], (0, inf))
        if not others or high < size:
            return self._load(first, places)
        moved = list(places)
        moved[dim] = emit.binary("subi", places[dim], size)
        self._ranges[moved[dim]] = low - size, high - size
        if low >= size:
            return self._load_joined(others, dim, moved)
        return emit.scf_if_else(
            emit.compare("ult", places[dim], size),
            first.type.element_type,
            lambda: self._load(first, places),
            lambda: self._load_joined(others, dim, moved),
        )

    def _compute_at(self, op: Op, places: list[Value]) -> list[Value]:
        """Emit the body of an element-wise op outside of the group at a place of its own."""
        values: dict[Value, Value] = {}
        for number, argument in enumerate(body(op).arguments):
            if next(iter(argument.uses), None) is not None:
                operand = op.operands[number]
                is_tensor = isinstance(operand.type, ir.ShapedType)
                read = [places[loop] for loop in loops_of(op, number) or ()]
                values[argument] = self._load(operand, read) if is_tensor else operand
        return _repeat(op, values, places.__getitem__)

    def _place(self, loops: Sequence[int], element: int | None) -> list[Value]:
        """Return the indices along some loops; of merged ones, the last counts the elements of all."""
        last = self._group.rank - 1
        places = []
        for loop in loops:
            if loop == last and element is not None:
                places.append(self._columns[element])
            else:
                places.append(self._rows[loop] if loop < len(self._rows) else index(0))
        return places


def _repeat(op: Op, values: dict[Value, Value], place: Callable[[int], Value]) -> list[Value]:
    """Emit the body of an op with the values of its arguments and the places of its loops; return what
    it yields."""
    *inner, last = (x.operation for x in body(op).operations)
    for x in inner:
        if x.name == "linalg.index":
            values[x.results[0]] = place(ir.IntegerAttr(x.attributes["dim"]).value)
            continue
        clone = x.clone().operation
        for number, operand in enumerate(x.operands):
            if operand in values:
                clone.operands[number] = values[operand]
        values.update(zip(x.results, clone.results, strict=True))
    return [values.get(x, x) for x in last.operands]


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
                indexed = loops_of(op, number)
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


def _buffer(tensor: Value) -> Value:
    """Emit the read-only memory of a tensor."""
    type_ = ir.MemRefType.get(tensor.type.shape, tensor.type.element_type)
    return emit.value("bufferization.to_buffer", (tensor,), type_, read_only=ir.UnitAttr.get())


def _extent(tensor: Value, dim: int) -> Extent:
    """Return the extent of a tensor; emit an op for a dynamic one."""
    extent = tensor.type.shape[dim]
    if extent != ir.ShapedType.get_dynamic_size():
        return extent
    return emit.value("tensor.dim", (tensor, index(dim)), ir.IndexType.get())


def _static(extent: Extent) -> int:
    assert isinstance(extent, int), "merged loops have known extents"
    return extent
