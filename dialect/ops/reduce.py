"""`smem.reduce`: one value for each row, or each column, of an accumulator."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext, ir
from ..arguments import Fragment
from ..build import create
from ..builder import builder
from ..effects import Effects, Scope
from ..elements import ACCUMULATOR_TYPES
from ..op import SmemOp
from ..slices import slice_fragment
from ..types import (
    FragmentType,
    check_fragment,
    check_readable,
    fragment_accumulator,
    shape_of,
    tensor_of,
)
from ..verifier import verifier
from .memory import check_offset, offset_of
from .warp_specialize import warpgroups_attribute

#: The operations for floats and for integers, by the words of `#gpu.all_reduce_op`.
_OF_FLOATS = ("add", "mul", "maximumf", "maxnumf", "minimumf", "minnumf")
_OF_INTEGERS = ("add", "mul", "maxsi", "maxui", "minsi", "minui", "and", "or", "xor")


class ReduceOp(SmemOp, name="reduce"):
    """Reduces the accumulator `fragment` along the dimension `axis`: `result` is the slice of the same
    extent along the other dimension. With `axis = 1`, it has one element for each row.

    `op` is a reduction operation in the words of `gpu.all_reduce`: "add" or "mul"; of floats also
    "maximumf", "minimumf" (NaN if an element is NaN), "maxnumf", "minnumf" (the other element instead of
    NaN); of integers "maxsi", "maxui", "minsi", "minui", "and", "or", "xor".

    Each thread reduces the elements that it holds of a row: neighbours first, then neighbouring results,
    and so on. The four threads of a quad, which hold a row, then exchange theirs by shuffles. A sum of n
    floats is thus off by at most ceil(log2(n)) + 1 roundings of partial sums.

    With the optional attribute `warpgroups = n`, the elements along `axis` are in the fragments of n
    adjacent warpgroups, which execute the op together, and all get the result.

    With `axis = 0`, and with `warpgroups`, warps exchange their results through shared memory: the op
    stores 4 * n partial columns, or n partial rows, and has a barrier of its warpgroups before and after
    that. `smem-allocate` adds the attribute `offset`: bytes from the start of dynamic shared memory to
    these.
    """

    fragment: ext.Operand[FragmentType]
    op: ir.StringAttr
    axis: ir.IntegerAttr
    result: ext.Result[FragmentType]

    i32 = ("axis", "warpgroups")
    i64 = ("offset",)
    effects = Effects(Scope.WARPGROUP, allocates=True)

    offset = property(offset_of)

    @property
    def warpgroups(self) -> int:
        """The number of adjacent warpgroups that hold the elements along the axis.

        Raises:
            Invalid: if no CTA has as many.
        """
        return warpgroups_attribute(self)

    @verifier
    def verify_region_invariants(self) -> None:
        source, result, axis = self.fragment.type, self.result.type, self.axis.value
        check_readable(source)
        check_fragment(result)
        if axis not in (0, 1):
            raise Invalid(f"has axis = {axis}; expected 1 (along rows) or 0 (along columns)")
        _check_operation(self.op.value, source)
        expected = reduced_type(source, axis)
        if result != expected:
            raise Invalid(f"results in {result}; expected {expected}")
        for name in self.attributes:
            if name not in ("op", "axis", "warpgroups", "offset") and "." not in name:
                raise Invalid(f"has the attribute {name}; expected op, axis or warpgroups")
        _ = self.warpgroups
        check_offset(self, tensor_of(source).element_type.width // 8, 0)


def reduced_type(fragment: Type, axis: int) -> Type:
    """Return the type of the slice that an accumulator is reduced to along a dimension."""
    return slice_fragment(shape_of(fragment)[1 - axis], tensor_of(fragment).element_type, axis)


def _check_operation(name: str, fragment: Type) -> None:
    element = tensor_of(fragment).element_type
    if not fragment_accumulator(fragment).computed:
        raise Invalid(f"reduces {element}; expected {', '.join(ACCUMULATOR_TYPES)}, by an smem.map")
    fitting = _OF_INTEGERS if isinstance(element, ir.IntegerType) else _OF_FLOATS
    if name not in fitting:
        raise Invalid(f'reduces {element} by "{name}"; expected one of {", ".join(fitting)}')


@builder
def reduce(value: Fragment, op: str, axis: int, warpgroups: int = 1) -> Value:
    """Build an `smem.reduce` of a readable accumulator, and return the slice.

    Args:
        value: a readable accumulator.
        op: the operation: "add", "mul", "maximumf", "maxnumf", "minimumf", "minnumf" of floats, "add",
            "mul", "maxsi", "maxui", "minsi", "minui", "and", "or", "xor" of integers.
        axis: 1 to reduce each row to an element, 0 each column.
        warpgroups: the number of adjacent warpgroups that hold the elements along the axis.

    Raises:
        Invalid: for another axis, or an operation that the element type does not have.

    Example:
        >>> print(smem.reduce(d, "maximumf", axis=1).type)
        !smem.fragment<tensor<64xf32>, #smem.slice<1 : i64>>
    """
    check_readable(value.type)
    if axis not in (0, 1):
        raise Invalid(f"has axis = {axis}; expected 1 (along rows) or 0 (along columns)")
    _check_operation(op, value.type)
    return create(
        ReduceOp,
        [value],
        [reduced_type(value.type, axis)],
        op=op,
        axis=axis,
        warpgroups=None if warpgroups == 1 else warpgroups,
    ).result
