"""`smem.broadcast`: a slice as an accumulator with equal rows or columns."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext
from ..arguments import Fragment
from ..build import create
from ..builder import builder
from ..effects import Effects, Scope
from ..op import SmemOp
from ..slices import check_slice_type, slice_dim
from ..types import FragmentType, check_fragment, check_readable, fragment, shape_of, tensor_of
from ..verifier import verifier


class BroadcastOp(SmemOp, name="broadcast"):
    """Returns the accumulator whose columns, or rows, all equal `slice`. A slice along dimension 1 has
    the accumulator's rows; each element is repeated in all columns of its row.

    The op emits no instruction, and the result takes no registers: it is for `smem.map`, which takes
    accumulators of one type.
    """

    slice: ext.Operand[FragmentType]
    result: ext.Result[FragmentType]

    is_by_rows = True
    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.slice.type, self.result.type
        dim = check_slice_type(source)
        check_readable(result)
        extent, result_extent = shape_of(source)[0], shape_of(result)[1 - dim]
        if (
            extent != result_extent
            or tensor_of(source).element_type != tensor_of(result).element_type
        ):
            raise Invalid(
                f"broadcasts {tensor_of(source)} along dimension {dim} to {tensor_of(result)}; expected "
                f"{extent} {'rows' if dim else 'columns'} of {tensor_of(source).element_type}"
            )


def broadcast_type(slice_: Type, extent: int) -> Type:
    """Return the type of the accumulator that a slice is broadcast to, `extent` elements along its
    dimension.

    Raises:
        Invalid: if it is no slice, or no accumulator has that extent.
    """
    shape = [shape_of(slice_)[0]] * 2
    shape[check_slice_type(slice_)] = extent
    accumulator = fragment(shape, tensor_of(slice_).element_type)
    check_fragment(accumulator)
    return accumulator


@builder
def broadcast(value: Fragment, extent: int) -> Value:
    """Build an `smem.broadcast`, and return the accumulator.

    Args:
        value: a slice.
        extent: the extent of the accumulator along the dimension that the slice does not have.

    Example:
        >>> largest = smem.reduce(d, "maximumf", axis=1)
        >>> print(smem.broadcast(largest, 64).type)
        !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
    """
    return create(BroadcastOp, [value], [broadcast_type(value.type, extent)]).result


def broadcast_to(value: Value, like: Type) -> Value:
    """Return a fragment as an accumulator of the shape of `like`: a slice is broadcast."""
    dim = slice_dim(value.type)
    return value if dim is None else broadcast(value, shape_of(like)[dim])
