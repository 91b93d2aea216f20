"""`smem.map`: an element-wise function of accumulators, or of slices."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Op, Type, Value
from ...bindings.mlir import ext, gpu, ir
from ..arguments import REFUSED, VALUE, ElementType, Fragment, wrong_argument
from ..build import create
from ..builder import builder
from ..effects import Effects, Scope
from ..elements import computed_type
from ..fragment_shapes import SLICE_OF
from ..op import SmemOp
from ..slices import slice_dim, slice_fragment
from ..types import (
    FragmentType,
    check_fragment,
    check_readable,
    fragment,
    is_accumulator,
    is_in_flight,
    shape_of,
    tensor_of,
)
from ..verifier import verifier
from .broadcast import broadcast_to

#: Ends the region, as it ends the regions of upstream's `gpu` ops.
_TERMINATOR = "gpu.yield"

_NO_INPUTS = "maps no fragment; expected one or more"


class MapOp(SmemOp, name="map"):
    """Computes each element of `result` from the elements of `inputs` at the same row and column.

    All inputs have the same type, since IRDL allows no other variadic operands. A slice is thus broadcast
    to an accumulator before (`smem.broadcast`), and an accumulator with another element type is
    converted by a map of its own. If the inputs are slices, the result is a slice along the same
    dimension.

    Integers are signless in the region, and those of 4 bits are extended to i8; of a result of 4 bits the
    lower half is taken. Floats of 8 bits are only converted there, by `arith.extf` and `arith.truncf`,
    which saturates to the finite range, or `arith.bitcast`.

    The region `body` has an argument for each input, of its element type, and optionally two more of type
    index: the element's row and column in the fragment; for slices one, the row or the column. It ends
    with `gpu.yield` of the element of the result. Each thread executes it for each of its elements. It
    can use values defined outside, and contain any op that computes or reads (scale, bias, activation,
    residual, mask). It cannot contain an op that a warpgroup executes together, such as the ops of this
    dialect.
    """

    inputs: Sequence[ext.Operand[FragmentType]]
    result: ext.Result[FragmentType]
    body: ext.Region

    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        inputs, result = [v.type for v in self.inputs], self.result.type
        if not inputs:
            raise Invalid(_NO_INPUTS)
        check_fragment(result)
        dim = slice_dim(result)
        if dim is None and (is_in_flight(result) or not is_accumulator(result)):
            raise Invalid(f"results in {result}; expected #smem.accumulator")
        for type_ in inputs:
            _check_input(type_, result)
        _check_body(
            self,
            [computed_type(tensor_of(t).element_type) for t in inputs],
            computed_type(tensor_of(result).element_type),
            _position_names(dim),
        )


def _check_input(input_: Type, result: Type) -> None:
    if slice_dim(input_) is None:
        check_readable(input_)
    else:
        check_fragment(input_)
    if shape_of(input_) != shape_of(result):
        raise Invalid(f"maps {tensor_of(input_)} to {tensor_of(result)}; the shapes differ")
    if slice_dim(input_) != slice_dim(result):
        raise Invalid(f"maps {input_} to {result}; expected slices along one dimension")


def _position_names(dim: int | None) -> list[str]:
    """The names of the indices of an accumulator's or a slice's element."""
    return ["row", "column"] if dim is None else [SLICE_OF[dim]]


def _check_body(op: Op, elements: list[Type], result: Type, positions: list[str]) -> None:
    blocks = list(op.regions[0].blocks)
    if len(blocks) != 1:
        raise Invalid(f"has a region of {len(blocks)} blocks; expected one")
    arguments = [argument.type for argument in blocks[0].arguments]
    index = ir.IndexType.get()
    if arguments not in (elements, [*elements, *[index] * len(positions)]):
        names = " and ".join(f"the {name}" for name in positions)
        raise Invalid(
            f"has a region with arguments ({_join(arguments)}); expected ({_join(elements)}), "
            f"which may be followed by {names} as {', '.join(['index'] * len(positions))}"
        )
    ops = [inner.operation for inner in blocks[0].operations]
    if not ops or ops[-1].name != _TERMINATOR:
        raise Invalid(f"has a region that does not end with {_TERMINATOR}")
    yielded = [value.type for value in ops[-1].operands]
    if yielded != [result]:
        raise Invalid(f"yields ({_join(yielded)}) for elements of {result}")
    for inner in walk_nested(ops[:-1]):
        if problem := _narrow_float_problem(inner):
            raise Invalid(f"holds '{inner.name}' at {format_location(inner.location)}{problem}")
        if inner.name.startswith("smem."):
            raise Invalid(
                f"holds '{inner.name}' at {format_location(inner.location)}, which a warpgroup runs "
                "together, but each thread runs the region for each of its elements; put it before or "
                "after"
            )


#: Ops of floats of 8 bits.
_OF_NARROW_FLOATS = (
    *("arith.extf", "arith.truncf", "arith.bitcast", "arith.select", "arith.constant"),
    *("memref.load", "scf.if", "scf.yield"),
)


def _narrow_float_problem(op: Op) -> str | None:
    if op.name in _OF_NARROW_FLOATS:
        return None
    for value in (*op.operands, *op.results):
        if isinstance(value.type, ir.FloatType) and value.type.width <= 8:
            return f" of {value.type}; expected a conversion by arith.extf before it"
    return None


def walk_nested(ops: Sequence[Op]) -> Iterator[Op]:
    """Yield ops and the ops nested in their regions."""
    for op in ops:
        yield op
        for region in op.regions:
            for block in region.blocks:
                yield from walk_nested([inner.operation for inner in block.operations])


def _join(types: list[Type]) -> str:
    return ", ".join(str(type_) for type_ in types)


@builder
def map(
    inputs: Sequence[Fragment],
    function: Callable[..., Any],
    with_position: bool = False,
    element: ElementType | None = None,
) -> Value:
    """Build an `smem.map`, and return its fragment.

    Args:
        inputs: readable accumulators of the same type, or slices, which are broadcast to them; or slices
            alone, of the same type. At least one.
        function: builds the region: it is called once with a value for each input, and returns the
            element.
        with_position: whether the function also takes the row and the column (index); of slices, the one
            of them.
        element: the element type of the result, if it is not that of what the function returns: ui8 or
            an integer of 4 bits for an i8.

    Raises:
        Invalid: without inputs, for inputs of different element types, or if no accumulator has elements
            of the type of the function's result.
        TypeError: if the function returns no value.

    Example:
        >>> doubled = smem.map([d], lambda x: arith.addf(x, x))
        >>> masked = smem.map([d], lambda x, row, column: x, with_position=True)
        >>> print(masked.type)
        !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
        >>> centered = smem.map([d, smem.reduce(d, "maximumf", axis=1)], arith.subf)
    """
    if not inputs:
        raise Invalid(_NO_INPUTS)
    like = next((v.type for v in inputs if slice_dim(v.type) is None), inputs[0].type)
    elements = [tensor_of(v.type).element_type for v in inputs]
    if len(set(elements)) > 1:
        raise Invalid(
            f"maps elements of {_join(elements)}; expected one type; convert the others by a map of "
            "their own"
        )
    dim = slice_dim(like)
    if dim is None:
        inputs = [broadcast_to(value, like) for value in inputs]
    positions = len(_position_names(dim)) if with_position else 0
    arguments = [computed_type(type_) for type_ in elements] + [ir.IndexType.get()] * positions
    # The op needs its result type when it is created, and the type follows from the region. The region is
    # therefore built in a temporary module first.
    temporary = ir.Operation.create("builtin.module", regions=1, ip=False)
    block = ir.Block.create_at_start(temporary.regions[0], arguments)
    with ir.InsertionPoint(block):
        returned = function(*block.arguments)
        yielded = VALUE.take(returned)
        if yielded is REFUSED:
            raise wrong_argument("smem.map", "the result of the function", returned, VALUE.expected)
        gpu.YieldOp([yielded])
    shape = shape_of(like)
    type_ = yielded.type if element is None else element
    result = fragment(shape, type_) if dim is None else slice_fragment(shape[0], type_, dim)
    op = create(MapOp, inputs, [result], regions=1)
    block.append_to(op.regions[0])
    return op.result
