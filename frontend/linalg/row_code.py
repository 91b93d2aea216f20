"""The code of a thread that computes elements of a row, and reduces it with others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...layout.transfer import WARP
from ..extents import Extent, index
from ..moves import FlatMemRef, split_index
from .element_wise import loops_of
from .generic import GENERIC, RESHAPES, body
from .reductions import combine, combine_lanes, combiner_of, neutral
from .row_groups import Level, RowGroup
from .row_shapes import RowShape
from .sources import CONCAT, constant_of, places_behind


@dataclass(frozen=True)
class RowKernel:
    """What all threads of a kernel have.

    Attributes:
        group, shape: the ops, and who computes what.
        row_extents: of the loops of rows.
        arrays: the memory of what the ops read.
        results: the memory of what they write.
        shared: by reduction, a number for each warp; none if a warp alone reduces a row.
        is_aligned: whether vectors in memory are aligned to their size.
        approximate: whether divisions and functions of f32 are approximations.
    """

    group: RowGroup
    shape: RowShape
    row_extents: Sequence[Extent]
    arrays: dict[Value, FlatMemRef]
    results: dict[Value, FlatMemRef]
    shared: dict[Value, Value]
    is_aligned: bool
    approximate: bool


class RowCode:
    """The code of a thread.

    Args:
        kernel: what all threads have.
        number: of its part of a row, in all rows.
        lane: of the thread, in its part.
    """

    def __init__(self, kernel: RowKernel, number: Value, lane: Value) -> None:
        self._kernel, self._group, self._shape = kernel, kernel.group, kernel.shape
        self._lane = lane
        shape, row = kernel.shape, number
        first = emit.binary("muli", lane, shape.width)
        if shape.parts > 1:
            row = emit.binary("divui", number, shape.parts)
            part = emit.binary("remui", number, shape.parts)
            begin = emit.binary("muli", part, shape.threads * shape.vectors * shape.width)
            first = emit.binary("addi", begin, first)
        self._rows = split_index(row, kernel.row_extents)
        stride = shape.threads * shape.width
        self._columns = [emit.binary("addi", first, n * stride) for n in range(shape.vectors)]
        self._is_inside: list[Value] | None = None
        if not shape.is_whole:
            self._is_inside = [emit.compare("ult", x, shape.columns) for x in self._columns]
            last = index(shape.columns - shape.width)
            self._columns = [emit.value("arith.minui", (x, last), x.type) for x in self._columns]
        #: What was emitted for a vector, or for the row.
        self._vectors: dict[tuple[Value, tuple[int, ...] | None, int | None], list[Value]] = {}
        #: The first and last index that a vector may begin at, where that is known.
        self._ranges: dict[Value, tuple[float, float]] = {}
        if shape.parts == 1:
            for vector, column in enumerate(self._columns):
                begin = min(vector * stride, shape.columns - shape.width)
                self._ranges[column] = begin, vector * stride + stride - shape.width

    def store(self) -> None:
        """Emit the computation of the results, and their stores."""
        vectors = range(self._shape.vectors)
        levels, results = self._group.levels, self._kernel.results
        computed = {
            value: [
                self._result(value, vector)
                for vector in (vectors if levels[value] is Level.ELEMENT else (None,))
            ]
            for value in results
        }
        for value, memory in results.items():
            if levels[value] is not Level.ELEMENT:
                with emit.scf_if(emit.compare("eq", self._lane, 0)):
                    memory.store(computed[value][0][0], self._rows)
                continue
            for vector, numbers in zip(vectors, computed[value], strict=True):
                place = self._place(range(self._group.rank), vector)
                if self._is_inside is None:
                    self._store_vector(memory, numbers, place)
                else:
                    with emit.scf_if(self._is_inside[vector]):
                        self._store_vector(memory, numbers, place)

    def _store_vector(self, memory: FlatMemRef, numbers: list[Value], place: list[Value]) -> None:
        if self._kernel.is_aligned and len(numbers) > 1:
            memory.store_vector(numbers, place)
            return
        for n, number in enumerate(numbers):
            memory.store(number, [*place[:-1], emit.binary("addi", place[-1], n)])

    # Results of the group's ops.

    def _result(self, value: Value, vector: int | None) -> list[Value]:
        """Emit a result of an op of the group, for a vector or for the row."""
        level = self._group.levels[value]
        at = vector if level is Level.ELEMENT else None
        if (value, None, at) not in self._vectors:
            op = value.owner.operation
            if level is Level.SUM:
                self._vectors[value, None, at] = [self._sum(value)]
            else:
                computed = self._compute(op, at)
                for result, numbers in zip(op.results, computed, strict=True):
                    self._vectors[result, None, at] = numbers
        return self._vectors[value, None, at]

    def _sum(self, value: Value) -> Value:
        """Emit a reduction of the row by all threads of its part."""
        op = value.owner.operation
        combiner = combiner_of(op)
        assert combiner is not None, "it is a reduction"
        total = neutral(combiner)
        # All loads come before the chain of sums.
        read = [self._arguments(op, n, reads_output=False) for n in range(self._shape.vectors)]
        for vector, arguments in enumerate(read):
            before = total
            for n in range(self._shape.width):
                values = {argument: numbers[n] for argument, numbers in arguments.items()}
                values[body(op).arguments[len(op.operands) - 1]] = total
                (total,) = self._repeat(op, values, self._loops_at(vector, n))
            if self._is_inside is not None:
                operands = (self._is_inside[vector], total, before)
                total = emit.value("arith.select", operands, total.type)
        total = combine_lanes(combiner, total)
        if value in self._kernel.shared:
            total = self._combine_warps(combiner, total, self._kernel.shared[value])
        (initial,) = self._read(op, len(op.operands) - 1, None)
        return combine(combiner, initial, total)

    def _combine_warps(self, combiner: Op, total: Value, memory: Value) -> Value:
        """Emit the combination of what the warps of a block have, through memory that they share."""
        warp = emit.binary("divui", self._lane, WARP)
        with emit.scf_if(emit.compare("eq", emit.binary("remui", self._lane, WARP), 0)):
            emit.op("memref.store", (total, memory, warp))
        emit.op("gpu.barrier", ())
        combined = neutral(combiner)
        for number in range(memory.type.shape[0]):
            other = emit.value("memref.load", (memory, index(number)), combined.type)
            combined = combine(combiner, combined, other)
        return combined

    def _compute(self, op: Op, vector: int | None) -> list[list[Value]]:
        """Emit the body of an op for the elements of a vector, or for the row; return what it yields."""
        arguments = self._arguments(op, vector)
        yielded = [
            self._repeat(
                op,
                {argument: numbers[n] for argument, numbers in arguments.items()},
                self._loops_at(vector, n),
            )
            for n in range(1 if vector is None else self._shape.width)
        ]
        return [list(numbers) for numbers in zip(*yielded, strict=True)]

    def _arguments(
        self, op: Op, vector: int | None, reads_output: bool = True
    ) -> dict[Value, list[Value]]:
        """Emit what the arguments of an op's body are, for each element of a vector, or for the row."""
        count = 1 if vector is None else self._shape.width
        values = {}
        for number, argument in enumerate(body(op).arguments):
            is_output = number == len(op.operands) - 1
            if next(iter(argument.uses), None) is None or (is_output and not reads_output):
                continue
            numbers = self._read(op, number, vector)
            values[argument] = numbers if len(numbers) == count else numbers * count
        return values

    def _read(self, op: Op, number: int, vector: int | None) -> list[Value]:
        """Emit what an op's operand has for the elements of a vector; one number if all have the same."""
        operand = op.operands[number]
        if operand in self._group.levels:
            return self._result(operand, vector)
        if not isinstance(operand.type, ir.ShapedType):
            return [operand]
        constant = constant_of(operand)
        if constant is not None:
            return [constant]
        loops = loops_of(op, number) or []
        varies = self._group.rank - 1 in loops and vector is not None
        key = operand, tuple(loops), vector if varies else None
        if key not in self._vectors:
            is_row = bool(loops) and loops[-1] == self._group.rank - 1
            place = self._place(loops, vector)
            if not varies:
                self._vectors[key] = [self._load(operand, place)]
            elif is_row:
                self._vectors[key] = self._load_vector(operand, place)
            else:
                self._vectors[key] = [
                    self._load(operand, self._place(loops, vector, n))
                    for n in range(self._shape.width)
                ]
        return self._vectors[key]

    # Elements of tensors in memory.

    def _load_vector(self, tensor: Value, place: list[Value]) -> list[Value]:
        """Emit the elements of a tensor from a place on, along the last dimension."""
        width = self._shape.width
        constant = constant_of(tensor)
        if constant is not None:
            return [constant] * width
        if width == 1:
            return [self._load(tensor, place)]
        if tensor in self._kernel.arrays:
            memory, extent = self._kernel.arrays[tensor], tensor.type.shape[-1]
            # The memory of merged loops ends with the row.
            if self._kernel.is_aligned and (extent % width == 0 or tensor.type.rank == 1):
                return memory.load_vector(place, width)
            return [memory.load(_neighbour(place, n)) for n in range(width)]
        op = tensor.owner.operation
        if op.name == GENERIC:
            return self._compute_vector_at(op, place)[list(op.results).index(tensor)]
        if op.name == CONCAT:
            dim = ir.IntegerAttr(op.attributes["dim"]).value
            part = self._part_at(list(op.operands), dim, place)
            if part is not None:
                return self._load_vector(*part)
        elif op.name not in RESHAPES and _keeps_last(op, width):
            return self._load_vector(op.operands[0], places_behind(op, place))
        return [self._load(tensor, _neighbour(place, n)) for n in range(width)]

    def _load(self, tensor: Value, place: list[Value]) -> Value:
        """Emit an element of a tensor, from behind slices and concatenations."""
        constant = constant_of(tensor)
        if constant is not None:
            return constant
        if tensor in self._kernel.arrays:
            return self._kernel.arrays[tensor].load(place)
        op = tensor.owner.operation
        if op.name == GENERIC:
            values = {}
            for number, argument in enumerate(body(op).arguments):
                if next(iter(argument.uses), None) is not None:
                    operand, loops = op.operands[number], loops_of(op, number) or []
                    is_tensor = isinstance(operand.type, ir.ShapedType)
                    read = [place[loop] for loop in loops]
                    values[argument] = self._load(operand, read) if is_tensor else operand
            return self._repeat(op, values, place.__getitem__)[list(op.results).index(tensor)]
        if op.name == CONCAT:
            dim = ir.IntegerAttr(op.attributes["dim"]).value
            return self._load_joined(list(op.operands), dim, place)
        return self._load(op.operands[0], places_behind(op, place))

    def _compute_vector_at(self, op: Op, place: list[Value]) -> list[list[Value]]:
        """Emit the body of an element-wise op outside of the group for a vector at a place."""
        width, last = self._shape.width, len(place) - 1
        arguments = {}
        for number, argument in enumerate(body(op).arguments):
            if next(iter(argument.uses), None) is None:
                continue
            operand, loops = op.operands[number], loops_of(op, number) or []
            read = [place[loop] for loop in loops]
            if not isinstance(operand.type, ir.ShapedType):
                arguments[argument] = [operand] * width
            elif last not in loops:
                arguments[argument] = [self._load(operand, read)] * width
            elif loops[-1] == last:
                arguments[argument] = self._load_vector(operand, read)
            else:
                moved = [_neighbour(place, n) for n in range(width)]
                arguments[argument] = [self._load(operand, [x[i] for i in loops]) for x in moved]
        yielded = [
            self._repeat(
                op,
                {argument: numbers[n] for argument, numbers in arguments.items()},
                _neighbour(place, n).__getitem__,
            )
            for n in range(width)
        ]
        return [list(numbers) for numbers in zip(*yielded, strict=True)]

    def _part_at(
        self, parts: list[Value], dim: int, place: list[Value]
    ) -> tuple[Value, list[Value]] | None:
        """Return the part of a concatenation that a place is in, and where; None if that is not known."""
        first, *others = parts
        size = first.type.shape[dim]
        low, high = self._ranges.get(place[dim], (0, inf))
        if not others or high < size:
            return first, place
        if low < size:
            return None
        moved = list(place)
        moved[dim] = emit.binary("subi", place[dim], size)
        self._ranges[moved[dim]] = low - size, high - size
        return self._part_at(others, dim, moved)

    def _load_joined(self, parts: list[Value], dim: int, place: list[Value]) -> Value:
        """Emit an element of a concatenation."""
        first, *others = parts
        if not others:
            return self._load(first, place)
        size = first.type.shape[dim]
        moved = [*place[:dim], emit.binary("subi", place[dim], size), *place[dim + 1 :]]
        return emit.scf_if_else(
            emit.compare("ult", place[dim], size),
            first.type.element_type,
            lambda: self._load(first, place),
            lambda: self._load_joined(others, dim, moved),
        )

    # Places.

    def _loops_at(self, vector: int | None, n: int) -> Callable[[int], Value]:
        return lambda loop: self._place([loop], vector, n)[0]

    def _place(self, loops: Sequence[int], vector: int | None, n: int = 0) -> list[Value]:
        """Return the indices along some loops; of merged ones, the last counts the elements of all."""
        last, places = self._group.rank - 1, []
        for loop in loops:
            if loop == last and vector is not None:
                places.append(emit.binary("addi", self._columns[vector], n))
            else:
                places.append(self._rows[loop] if loop < len(self._rows) else index(0))
        return places

    def _repeat(
        self, op: Op, values: dict[Value, Value], place: Callable[[int], Value]
    ) -> list[Value]:
        """Emit the body of an op with the values of its arguments and the places of its loops; return
        what it yields."""
        *inner, last = (x.operation for x in body(op).operations)
        for x in inner:
            if x.name == "linalg.index":
                values[x.results[0]] = place(ir.IntegerAttr(x.attributes["dim"]).value)
                continue
            clone = x.clone().operation
            for number, operand in enumerate(x.operands):
                if operand in values:
                    clone.operands[number] = values[operand]
            if self._kernel.approximate:
                _approximate(clone)
            values.update(zip(x.results, clone.results, strict=True))
        return [_new_value(values, x) for x in last.operands]


def _new_value(values: dict[Value, Value], value: Value) -> Value:
    new = values.get(value)
    return value if new is None else new


def _approximate(op: Op) -> None:
    """Let an op on f32 be an approximation of PTX."""
    is_f32 = "fastmath" in op.attributes and isinstance(op.results[0].type, ir.F32Type)
    if is_f32 and (op.name.startswith("math.") or op.name == "arith.divf"):
        op.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<afn>")


def _keeps_last(op: Op, width: int) -> bool:
    """Whether vectors of a slice are vectors of what it is a slice of, as aligned."""
    offsets = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    is_kept = list(op.results[0].type.shape)[-1:] == sizes[-1:]
    dynamic = ir.ShapedType.get_dynamic_size()
    return is_kept and offsets[-1] != dynamic and offsets[-1] % width == 0


def _neighbour(place: list[Value], n: int) -> list[Value]:
    return [*place[:-1], emit.binary("addi", place[-1], n)]
