"""`smem.map`: an element-wise function of accumulators, with its `smem.yield`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..arguments import REFUSED, VALUE, Fragment, wrong_argument
from ..bindings import ext, ir
from ..build import create
from ..builder import builder
from ..diagnostics import Invalid, format_location, verifier
from ..effects import Effects, Scope
from ..op import SmemOp
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

_NO_INPUTS = "maps no fragment; expected one or more"


class MapOp(SmemOp, name="map"):
    """Computes each element of the result from those at the same place of the inputs.

    The inputs are of one type: IRDL lets those of a variadic operand differ in nothing.

    The region has an argument for each input, of its element type, and, if it wants them, two more of
    index type: the element's row and column within the fragment. It yields the result's element. It
    may use any value around it and hold any op that computes or reads (scale, bias, activation,
    residual, mask), but none that a warpgroup runs together, as those of this dialect; it is run by each
    thread for each of its elements.
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
        if is_in_flight(result) or not is_accumulator(result):
            raise Invalid(f"results in {result}; expected #smem.accumulator")
        for type_ in inputs:
            check_readable(type_)
            if shape_of(type_) != shape_of(result):
                raise Invalid(f"maps {tensor_of(type_)} to {tensor_of(result)}; the shapes differ")
        _check_body(
            self, [tensor_of(t).element_type for t in inputs], tensor_of(result).element_type
        )


class YieldOp(SmemOp, name="yield", traits=[ir.IsTerminatorTrait]):
    """Ends the region of an `smem.map`: the element that it computes."""

    value: ext.Operand[Any]

    @verifier
    def verify_region_invariants(self) -> None:
        parent = self.operation.parent
        if parent is None or parent.operation.name != MapOp.OPERATION_NAME:
            raise Invalid("ends the region of an smem.map, which it is not in")


def _check_body(op: Any, elements: list[Any], result: Any) -> None:
    blocks = list(op.regions[0].blocks)
    if len(blocks) != 1:
        raise Invalid(f"has a region of {len(blocks)} blocks; expected one")
    have = [argument.type for argument in blocks[0].arguments]
    index = ir.IndexType.get()
    if have not in (elements, [*elements, index, index]):
        raise Invalid(
            f"has a region with arguments ({_said(have)}); expected ({_said(elements)}), which may be "
            "followed by the row and the column as index, index"
        )
    ops = [inner.operation for inner in blocks[0].operations]
    if not ops or ops[-1].name != YieldOp.OPERATION_NAME:
        raise Invalid("has a region that does not end with smem.yield")
    if ops[-1].operands[0].type != result:
        raise Invalid(f"yields {ops[-1].operands[0].type} for elements of {result}")
    for inner in nested(ops[:-1]):
        if inner.name.startswith("smem."):
            raise Invalid(
                f"holds '{inner.name}' at {format_location(inner.location)}, which a warpgroup runs "
                "together, but each thread runs the region for each of its elements; put it before or "
                "after"
            )


def nested(ops: Sequence[Any]) -> Iterator[Any]:
    """Ops and those in their regions."""
    for op in ops:
        yield op
        for region in op.regions:
            for block in region.blocks:
                yield from nested([inner.operation for inner in block.operations])


def _said(types: list[Any]) -> str:
    return ", ".join(str(type_) for type_ in types)


@builder
def map(
    inputs: Sequence[Fragment], function: Callable[..., Any], with_position: bool = False
) -> Any:
    """The fragment whose elements `function` computes.

    Args:
        inputs: readable accumulators of one type; at least one.
        function: called once, with a value for each input, to build the region; it gives the element.
        with_position: whether it takes the row and the column (index), too.

    Raises:
        Invalid: without inputs, or if no accumulator has elements like those that it gives.
        TypeError: if it gives no value.
    """
    if not inputs:
        raise Invalid(_NO_INPUTS)
    elements = [tensor_of(v.type).element_type for v in inputs]
    arguments = elements + [ir.IndexType.get()] * (2 if with_position else 0)
    # The result's type is known when the region is built, and the op needs it when it is made: so the
    # region is built in a block of its own first.
    holder = ir.Operation.create("builtin.module", regions=1, ip=False)
    block = ir.Block.create_at_start(holder.regions[0], arguments)
    with ir.InsertionPoint(block):
        given = function(*block.arguments)
        element = VALUE.take(given)
        if element is REFUSED:
            raise wrong_argument("smem.map", "the result of the function", given, VALUE.expected)
        create(YieldOp, [element])
    result = fragment(shape_of(inputs[0].type), element.type)
    made = create(MapOp, inputs, [result], regions=1)
    block.append_to(made.regions[0])
    return made.result
