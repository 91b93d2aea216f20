"""Ops of linalg on memrefs as kernels: a thread computes an element, or a warp reduces a row to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..bindings.irtypes import Block, Module, Op, Value
from ..bindings.mlir import ir, passmanager
from ..ir import emit
from ..ir.walk import walk
from ..layout.transfer import WARP
from ..passes import Pass
from ..runtime.arguments import DTYPES
from .extents import Extent, extents_of, index, product
from .float8 import convert_by_integers
from .host_fallback import computes_alone
from .linalg.generic import GENERIC, body, inputs_of, is_reduction, outputs_of
from .linalg.reductions import combine, combine_lanes, combiner_of, neutral
from .moves import (
    FlatMemRef,
    each_index,
    if_not_empty,
    split_index,
)

_GENERALIZE = "builtin.module(func.func(linalg-generalize-named-ops))"

_LOWER_AFFINE = "builtin.module(func.func(lower-affine))"

_AFFINE = {"affine.for", "affine.if", "affine.parallel", "affine.load", "affine.store"}

#: Dialects of a body whose ops a kernel computes, and further ops.
_DIALECTS = ("arith", "math", "scf")
_OPS = ("cf.assert", "linalg.index", "linalg.yield", "memref.load")

#: What is around the ops of a kernel, or of another op's body.
_KERNELS = ("gpu.launch", "gpu.func", GENERIC)


@dataclass(frozen=True)
class LinalgToLaunches(Pass):
    """Each op of linalg on memrefs becomes a kernel, which a `gpu.launch` holds.

    A thread computes an element, or a warp reduces a row to one: f32 and i32 that one op combines.
    Products that `linalg-to-smem` left become kernels, too, slow ones. What has no kernel stays as
    `linalg.generic`: elements of types that kernels do not have, other memory spaces, loops that index
    no dimension alone, and parallel loops that write one element several times.
    """

    name = "linalg-to-launches"
    description = "make kernels of the ops of linalg on memrefs, a thread for each element"

    def run(self, module: Module) -> None:
        generalize(module)
        launch_generics(module)


def generalize(module: Module) -> None:
    """Replace ops of linalg by `linalg.generic`, and loops of affine by those of scf, in place."""
    names = {op.name for op in walk(module)}
    if any(name.startswith("linalg.") for name in names - {GENERIC}):
        passmanager.PassManager.parse(_GENERALIZE).run(module.operation)
    if names & _AFFINE:
        passmanager.PassManager.parse(_LOWER_AFFINE).run(module.operation)


def launch_generics(module: Module) -> None:
    """Replace each `linalg.generic` on memrefs by a launch, in place, if a kernel computes it."""
    for op in list(walk(module, GENERIC)):
        if _is_computed(op):
            convert_by_integers(walk(op))
            with op.location, ir.InsertionPoint(op):
                _launch(_Generic.read(op))
            op.erase()


def launch_stores(module: Module) -> None:
    """Replace stores of numbers of the host by launches, in place, but for those that loads surround."""
    for op in list(walk(module, "memref.store")):
        parents = _parents(op)
        if any(computes_alone(parent) or parent.name in _KERNELS for parent in parents):
            continue
        number, memref, *places = op.operands
        with op.location, ir.InsertionPoint(op):
            memory = FlatMemRef(memref)
            with each_index([]):
                memory.store(number, places)
        op.erase()


def _parents(op: Op) -> list[Op]:
    parents: list[Op] = []
    while op.name != "builtin.module":
        op = op.parent.operation
        parents.append(op)
    return parents


@dataclass(frozen=True)
class _Generic:
    """A `linalg.generic` on memrefs.

    Attributes:
        op: the op.
        arrays: by operand: the memory; None for a number.
        maps: by operand: the index along each dimension, of the loops.
        extents: by loop.
        reductions: by loop: whether it is one.
        loads: the memrefs that the body loads from, and their memory.
    """

    op: Op
    arrays: list[FlatMemRef | None]
    maps: list[list[Any]]
    extents: list[Extent]
    reductions: list[bool]
    loads: list[tuple[Value, FlatMemRef]]

    @staticmethod
    def read(op: Op) -> _Generic:
        operands = list(op.operands)
        maps = [
            list(ir.AffineMapAttr(attribute).value.results)
            for attribute in op.attributes["indexing_maps"]
        ]
        is_shaped = [isinstance(operand.type, ir.MemRefType) for operand in operands]
        sizes: dict[int, Extent] = {}
        for operand, results, shaped in zip(operands, maps, is_shaped, strict=True):
            for expression, extent in (
                zip(results, extents_of(operand), strict=True) if shaped else ()
            ):
                if isinstance(expression, ir.AffineDimExpr):
                    sizes.setdefault(ir.AffineDimExpr(expression).position, extent)
        reductions = is_reduction(op)
        extents = [sizes[loop] for loop in range(len(reductions))]
        arrays = [
            FlatMemRef(operand) if shaped else None
            for operand, shaped in zip(operands, is_shaped, strict=True)
        ]
        loads = [
            (load.operands[0], FlatMemRef(load.operands[0])) for load in walk(op, "memref.load")
        ]
        return _Generic(op, arrays, maps, extents, reductions, loads)

    @property
    def outputs(self) -> range:
        """The numbers of the operands that are written."""
        count = len(outputs_of(self.op))
        return range(len(self.arrays) - count, len(self.arrays))

    def load(self, number: int, indices: dict[int, Value]) -> Value:
        """Emit the load of an operand's element, and return it; a number is returned as it is."""
        array = self.arrays[number]
        return (
            self.op.operands[number] if array is None else array.load(self._place(number, indices))
        )

    def store(self, number: int, value: Value, indices: dict[int, Value]) -> None:
        """Emit the store of an output's element."""
        array = self.arrays[number]
        assert array is not None, "an output is an array"
        array.store(value, self._place(number, indices))

    def _place(self, number: int, indices: dict[int, Value]) -> list[Value]:
        return [_index(expression, indices) for expression in self.maps[number]]

    def compute(self, indices: dict[int, Value], outputs: Sequence[Value]) -> list[Value]:
        """Emit the body at a place of the loops, given the outputs' elements; return its results."""
        inputs = [self.load(i, indices) for i in range(self.outputs.start)]
        return _clone(body(self.op), [*inputs, *outputs], indices, self.loads)


def _is_computed(op: Op) -> bool:
    """Whether a kernel computes an op."""
    if list(op.results) or op.parent.operation.name in _KERNELS:
        return False
    for operand in op.operands:
        type_ = operand.type
        if isinstance(type_, ir.ShapedType):
            if not isinstance(type_, ir.MemRefType) or type_.memory_space is not None:
                return False
            if str(type_.element_type) not in DTYPES:
                return False
    maps = [ir.AffineMapAttr(attribute).value for attribute in op.attributes["indexing_maps"]]
    shaped = [isinstance(operand.type, ir.MemRefType) for operand in op.operands]
    plain = [_plain_loops(map_) for map_, is_shaped in zip(maps, shaped, strict=True) if is_shaped]
    reductions = is_reduction(op)
    if set().union(*plain) != set(range(len(reductions))):
        return False
    # Each thread has elements of its own to write.
    parallel = {loop for loop, reduces in enumerate(reductions) if not reduces}
    if not all(parallel <= loops for loops in plain[len(plain) - len(outputs_of(op)) :]):
        return False
    return all(
        nested.name.split(".")[0] in _DIALECTS or nested.name in (*_OPS, GENERIC)
        for nested in walk(op)
    )


def _plain_loops(map_: Any) -> set[int]:
    """Return the loops that alone index a dimension."""
    return {
        ir.AffineDimExpr(expression).position
        for expression in map_.results
        if isinstance(expression, ir.AffineDimExpr)
    }


def _launch(generic: _Generic) -> None:
    parallel = [loop for loop, reduces in enumerate(generic.reductions) if not reduces]
    summed = [loop for loop, reduces in enumerate(generic.reductions) if reduces]
    sizes = [generic.extents[loop] for loop in parallel]
    combiner = _combiner(generic.op) if summed else None
    with if_not_empty(sizes) as has_elements:
        if not has_elements:
            return
        with each_index(sizes, 1 if combiner is None else WARP) as places:
            indices = dict(zip(parallel, places, strict=False))
            if combiner is not None:
                _reduce_by_warp(generic, indices, summed, places[len(parallel)], combiner)
                return
            elements = [generic.load(number, indices) for number in generic.outputs]
            if summed:
                results = _reduce(generic, indices, summed, (index(0), 1), elements)
            else:
                results = generic.compute(indices, elements)
            for number, result in zip(generic.outputs, results, strict=True):
                generic.store(number, result, indices)


def _reduce(
    generic: _Generic,
    indices: dict[int, Value],
    summed: Sequence[int],
    steps: tuple[Value, int],
    initial: Sequence[Value],
) -> list[Value]:
    """Emit the body in a loop over what is reduced.

    Args:
        generic: the op.
        indices: those of the other loops.
        summed: the loops that are reduced.
        steps: the number of the first iteration, and the distance to the next one.
        initial: the outputs' elements before the loop.

    Returns:
        These after the loop.
    """
    extents = [generic.extents[loop] for loop in summed]
    types = [value.type for value in initial]
    bounds = (steps[0], index(product(extents)), index(steps[1]))
    loop = emit.op("scf.for", (*bounds, *initial), types, regions=1)
    block = loop.regions[0].blocks.append(ir.IndexType.get(), *types)
    with ir.InsertionPoint(block):
        number, *carried = block.arguments
        places = split_index(number, extents)
        results = generic.compute(indices | dict(zip(summed, places, strict=True)), carried)
        emit.op("scf.yield", results)
    return list(loop.results)


def _reduce_by_warp(
    generic: _Generic, indices: dict[int, Value], summed: Sequence[int], lane: Value, combiner: Op
) -> None:
    """Emit a reduction whose lanes take turns, and combine their results by shuffles."""
    (output,) = generic.outputs
    (total,) = _reduce(generic, indices, summed, (lane, WARP), [neutral(combiner)])
    total = combine_lanes(combiner, total)
    with emit.scf_if(emit.compare("eq", lane, 0)):
        before = generic.load(output, indices)
        generic.store(output, combine(combiner, before, total), indices)


def _combiner(op: Op) -> Op | None:
    """Return the op that combines what lanes reduce.

    None for sums of products, too, whose neighbours along a row read other elements of one array and the
    same one of the other.
    """
    return combiner_of(op) if len(inputs_of(op)) <= 1 else None


def _clone(
    block: Block,
    arguments: Sequence[Value],
    indices: dict[int, Value],
    loads: Sequence[tuple[Value, FlatMemRef]],
) -> list[Value]:
    """Emit a body with values for its arguments and indices; return what it yields."""
    values = list(zip(block.arguments, arguments, strict=True))
    *ops, terminator = [op.operation for op in block.operations]
    for op in ops:
        clone = op.clone().operation
        values += zip(op.results, clone.results, strict=True)
        for nested in walk(clone):
            for number, operand in enumerate(nested.operands):
                for old, new in values:
                    if old == operand:
                        nested.operands[number] = new
        for nested in walk(clone, "linalg.index", "memref.load"):
            with ir.InsertionPoint(nested):
                if nested.name == "linalg.index":
                    replacement = indices[ir.IntegerAttr(nested.attributes["dim"]).value]
                else:
                    memref, *places = nested.operands
                    memory = next(memory for known, memory in loads if known == memref)
                    replacement = memory.load(places)
            nested.results[0].replace_all_uses_with(replacement)
            values = [
                (old, replacement if new == nested.results[0] else new) for old, new in values
            ]
            nested.erase()
    return [next((n for old, n in values if old == v), v) for v in terminator.operands]


def _index(expression: Any, indices: dict[int, Value]) -> Value:
    """Emit an affine expression of loops."""
    if isinstance(expression, ir.AffineDimExpr):
        return indices[ir.AffineDimExpr(expression).position]
    if isinstance(expression, ir.AffineConstantExpr):
        return index(ir.AffineConstantExpr(expression).value)
    names = {
        ir.AffineAddExpr: "addi",
        ir.AffineMulExpr: "muli",
        ir.AffineModExpr: "remui",
        ir.AffineFloorDivExpr: "divui",
        ir.AffineCeilDivExpr: "ceildivui",
    }
    name = next(name for kind, name in names.items() if isinstance(expression, kind))
    pair = ir.AffineBinaryExpr(expression)
    return emit.binary(name, _index(pair.lhs, indices), _index(pair.rhs, indices))
