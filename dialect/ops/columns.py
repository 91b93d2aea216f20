"""`smem.columns`: a range of columns of a fragment."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Value
from ...bindings.mlir import ext, ir
from ..arguments import Fragment
from ..build import create, i64
from ..builder import builder
from ..effects import Effects, Scope
from ..op import SmemOp
from ..types import (
    FragmentType,
    check_fragment,
    check_readable,
    fragment,
    fragment_accumulator,
    shape_of,
    tensor_of,
)
from ..verifier import verifier


class ColumnsOp(SmemOp, name="columns"):
    """Takes a range of columns of the accumulator `fragment`: the columns of `result`, from column
    `first` on.

    `first` is a multiple of 8, of 16 for elements of 4 bits. The result can be stored or mapped
    separately. The op emits no instruction.
    """

    fragment: ext.Operand[FragmentType]
    first: ir.IntegerAttr
    result: ext.Result[FragmentType]

    i64 = ("first",)
    is_by_rows = True
    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.fragment.type, self.result.type
        check_readable(source)
        check_fragment(result)
        first = self.first.value
        (rows, columns), result_shape = shape_of(source), shape_of(result)
        step = fragment_accumulator(source).columns
        if first % step or not 0 <= first <= columns - result_shape[1] or result_shape[0] != rows:
            raise Invalid(
                f"takes {tensor_of(result)} from column {first} of {tensor_of(source)}; expected all "
                f"{rows} rows, from a multiple of {step}, within {columns} columns"
            )
        expected = fragment(result_shape, tensor_of(source).element_type)
        if result != expected:
            raise Invalid(f"results in {result}; expected {expected}")


@builder
def columns(value: Fragment, first: int, count: int) -> Value:
    """Build an `smem.columns`: `count` columns of a readable accumulator, from column `first` on.

    Args:
        value: a readable accumulator.
        first: the first column, a multiple of 8.
        count: the number of columns.

    Example:
        >>> print(smem.columns(d, 32, 16).type)
        !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
    """
    rows, _ = shape_of(value.type)
    result = fragment((rows, count), tensor_of(value.type).element_type)
    return create(ColumnsOp, [value], [result], first=i64(first)).result
