"""What a cut of iterations is worth: cycles of a multiprocessor, and registers of a thread."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import BroadcastOp, FillOp, MapOp, ReduceOp, TileMma
from ...dialect.types import FragmentType, TileType, shape_of, tensor_of, tile_element
from ...ir.errors import OpError
from ...layout.fragments import WARPGROUP
from .cuts import Cut, bits_of, cut, operands_of, products_of

#: Results of a multiprocessor in a cycle: 32-bit arithmetic, special functions, conversions (CUDA C++
#: programming guide, throughput of arithmetic instructions, compute capability 9.0).
_ARITHMETIC, _SPECIAL, _CONVERTED = 128, 16, 64

#: Multiplications and additions of operands of 16 bits in a cycle.
_PRODUCTS = 2048

#: Bytes of shared memory in a cycle.
_SHARED_BYTES = 128

#: Ops that special function units compute.
_SPECIAL_OPS = (
    "math.exp",
    "math.log",
    "math.sin",
    "math.cos",
    "math.tanh",
    "math.rsqrt",
    "math.sqrt",
)

#: Registers of a thread that are left to addresses, indices and intermediate results.
_RESERVED = 24

#: A cut is worth its registers if it saves this part of an iteration.
_WORTH = 0.05


def choose(loop: Op, registers: int) -> int:
    """Return how many products of a loop are best left to run while the next iteration begins; 0 if that
    does not pay.

    Args:
        loop: the loop.
        registers: of a thread.

    Raises:
        OpError: at the op that hinders it, of several products.
    """
    ops = [op.operation for op in loop.regions[0].blocks[0].operations]
    best, fewest = 0, (1 - _WORTH) * cycles_of(ops)
    hindrances, products = [], products_of(loop)
    for count in range(1, 1 + len(products)):
        try:
            parts = cut(loop, count)
        except OpError as error:
            hindrances.append(error)
            continue
        cycles = cycles_of_cut(parts)
        if cycles < fewest and registers_of(parts) + _RESERVED <= registers:
            best, fewest = count, cycles
    if len(hindrances) == len(products) > 1:
        raise hindrances[0]
    return best


def cycles_of(ops: Iterable[Op]) -> float:
    """Return the cycles of ops one after the other, of one warpgroup."""
    return sum(map(_cycles, ops))


def cycles_of_cut(parts: Cut) -> float:
    """Return the cycles of an iteration whose late products run beside the other early ops."""
    beside = [op for op in parts.issues if isinstance(op.opview, TileMma)]
    others = [op for op in (*parts.early, *parts.issues, *parts.end) if op not in beside]
    return cycles_of(others) + max(cycles_of(beside), cycles_of(parts.rest))


def _cycles(op: Op) -> float:
    """Return the cycles of an op of one warpgroup, where nothing else runs."""
    view = op.opview
    if isinstance(view, TileMma):
        (rows, depth), (_, columns) = shape_of(view.a.type), shape_of(view.b.type)
        return rows * depth * columns / _PRODUCTS * _element_bits(view.b) / 16
    if isinstance(view, BroadcastOp | FillOp):
        return 0
    results = [x for x in op.results if isinstance(x.type, FragmentType)]
    taken = [x for x in op.operands if isinstance(x.type, FragmentType)]
    if isinstance(view, MapOp):
        inner = _ops_of_elements(view)
        special = sum(x.name.startswith(_SPECIAL_OPS) for x in inner)
        rates = special / _SPECIAL + (len(inner) - special) / _ARITHMETIC
        return sum(map(_elements, results)) * rates
    if isinstance(view, ReduceOp):
        return sum(map(_elements, taken)) / _ARITHMETIC
    if any(isinstance(x.type, TileType) for x in op.operands):
        return sum(map(bits_of, (*results, *taken))) / 8 / _SHARED_BYTES
    return sum(map(_elements, results)) / _CONVERTED


def _ops_of_elements(view: MapOp) -> list[Op]:
    """Return the ops of a map that are executed for each element; others are for each row or column."""
    body = view.regions[0].blocks[0]
    pairs = zip(body.arguments, view.inputs, strict=False)
    varies = {x for x, fragment in pairs if not _is_broadcast(fragment)}
    varies |= set(list(body.arguments)[len(view.inputs) :])
    ops = []
    for op in (op.operation for op in body.operations):
        if len(op.results) and (varies.intersection(op.operands) or len(op.regions)):
            varies.update(op.results)
            ops.append(op)
    return ops


def _is_broadcast(fragment: Value) -> bool:
    return not isinstance(fragment.owner, ir.Block) and isinstance(
        fragment.owner.opview, BroadcastOp
    )


def _elements(fragment: Value) -> int:
    return prod(shape_of(fragment.type))


def _element_bits(operand: Value) -> int:
    if isinstance(operand.type, TileType):
        return tile_element(operand.type).bits
    return tensor_of(operand.type).element_type.width


def registers_of(parts: Cut) -> int:
    """Return the most registers of a thread that fragments take at once.

    What a late product reads stays up to the end of the iteration, where it is waited for. The results of
    an op take the registers of operands that nothing reads behind it.
    """
    body = parts.loop.regions[0].blocks[0]
    arguments = list(body.arguments)[1:]
    *_, terminator = body.operations
    late = {*parts.issues, *parts.end}
    sequence = [*parts.early, *parts.issues, *parts.rest, *parts.end]
    #: Where a value of a late op, or of one of the next iteration, is read last.
    ends: dict[tuple[Value, bool], int] = {}
    for position, op in enumerate(sequence):
        in_flight = op in late and isinstance(op.opview, TileMma)
        for value in operands_of(op):
            stays = in_flight and value == op.opview.a
            ends[value, op in late] = len(sequence) if stays else position
    for i, value in enumerate(terminator.operands):
        ends[value, i in parts.late_arguments] = len(sequence)
    ends |= dict.fromkeys(((value, False) for value in parts.crossing), len(sequence))
    live = {(value, True) for value in parts.crossing}
    live |= {(value, i in parts.late_arguments) for i, value in enumerate(arguments)}
    most = 0
    for position, op in enumerate(sequence):
        live = {key for key in live if ends.get(key, -1) > position}
        live |= {(value, op in late) for value in op.results}
        most = max(most, sum(_registers(value) for value, _ in live))
    return most


def _registers(value: Value) -> int:
    return -(-bits_of(value) // (32 * WARPGROUP))
