"""`smem.to_registers`, `smem.from_registers`: a fragment as one vector in each thread."""

from math import prod

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext, ir
from ...layout import slice_coordinates
from ...layout.fragments import WARPGROUP
from ..arguments import Fragment, ResultType, Vector
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
from ..effects import Effects, Scope
from ..elements import computed_type, element_of
from ..op import SmemOp
from ..slices import slice_dim
from ..types import (
    FragmentType,
    check_fragment,
    check_readable,
    fragment_accumulator,
    is_a_fragment,
    is_accumulator,
    is_in_flight,
    shape_of,
    tensor_of,
)
from ..verifier import verifier


class ToRegistersOp(SmemOp, name="to_registers"):
    """Returns the registers of `fragment`, a readable accumulator, a slice or an A fragment, as a vector
    in each thread of the warpgroup.

    The vector has one element for each element that the thread holds: of an accumulator the element type,
    signless if it is an integer's, but there is none for 4 bits; of an A fragment the element type, f32
    for tf32, i8 for any 8-bit integer. b1 is held as i32, 32 elements in each: bit j of element w is the
    thread's element 32 * w + j.

    Element i of thread t has the row and column `mlir_smem.coordinates_of(fragment, arch)[t, i]`, int64.
    For an accumulator of (64, N) on every architecture:

        row    = 16 * (t // 32) + t % 32 // 4 + 8 * (i // 2 % 2)
        column = 2 * (t % 4) + i % 2 + 8 * (i // 4)

    `layout.accumulator_coordinates`, `layout.slice_coordinates` and `layout.a_fragment_coordinates` have
    the formulas for other fragments. If M is a multiple of 128, tcgen05 distributes rows in another way
    than wgmma, for A too.

    The op emits no instruction.
    """

    fragment: ext.Operand[FragmentType]
    vector: ext.Result[ir.VectorType]

    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.fragment.type, self.vector.type
        expected = vector_type(source)
        if result != expected:
            raise Invalid(f"results in {result}; a thread holds {expected} of {tensor_of(source)}")


class FromRegistersOp(SmemOp, name="from_registers"):
    """Makes `fragment`, a readable accumulator, a slice or an A fragment, of a vector in each thread of
    the warpgroup. It is the inverse of `smem.to_registers`, which gives the order of the elements.

    The result can be an operand of an mma, or be stored, mapped or converted. Elements of tf32 are not
    rounded; an mma ignores their lowest 13 bits.

    The op emits no instruction.
    """

    vector: ext.Operand[ir.VectorType]
    fragment: ext.Result[FragmentType]

    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.vector.type, self.fragment.type
        if is_in_flight(result):
            raise Invalid(
                f"results in {result}; expected #smem.accumulator, #smem.slice or #smem.a_fragment"
            )
        expected = vector_type(result)
        if source != expected:
            raise Invalid(f"takes {source}; a thread holds {expected} of {tensor_of(result)}")


@cached_in_context
def vector_type(fragment: Type) -> Type:
    """Return the type of the vector that holds a thread's elements of a fragment.

    Raises:
        Invalid: if it is neither a readable accumulator, nor a slice, nor an A fragment.
    """
    check_fragment(fragment)
    dim = slice_dim(fragment)
    if dim is not None:
        elements = slice_coordinates(shape_of(fragment)[0], dim).shape[1]
        element = computed_type(tensor_of(fragment).element_type)
        return ir.VectorType.get([elements], element, loc=ir.Location.unknown(fragment.context))
    if is_accumulator(fragment):
        check_readable(fragment)
    elif not is_a_fragment(fragment):
        raise Invalid(f"takes an accumulator, a slice or an A fragment, not {fragment}")
    type_ = tensor_of(fragment).element_type
    elements = prod(shape_of(fragment)) // WARPGROUP
    if is_accumulator(fragment):
        type_ = computed_type(type_)
        if fragment_accumulator(fragment).bits < 8:
            raise Invalid(
                f"takes {tensor_of(fragment)}; expected elements of 8 bits, by an smem.map"
            )
    else:
        bits = element_of(type_).bits
        if bits == 32:
            type_ = ir.F32Type.get(fragment.context)
        elif isinstance(type_, ir.IntegerType):
            word = 32 if bits == 1 else bits
            type_, elements = (
                ir.IntegerType.get_signless(word, fragment.context),
                elements * bits // word,
            )
    # Verifiers run without a current location, as in the pass manager of a host.
    return ir.VectorType.get([elements], type_, loc=ir.Location.unknown(fragment.context))


@builder
def to_registers(fragment: Fragment) -> Value:
    """Build an `smem.to_registers`, and return the vector of a thread.

    Args:
        fragment: a readable accumulator, a slice, or an A fragment.

    Example:
        >>> print(smem.to_registers(d).type)
        vector<32xf32>
    """
    return create(ToRegistersOp, [fragment], [vector_type(fragment.type)]).result


@builder
def from_registers(vector: Vector, result: ResultType) -> Value:
    """Build an `smem.from_registers`, and return the fragment.

    Args:
        vector: the elements of a thread.
        result: the fragment's type, that of an accumulator, a slice or an A fragment.

    Example:
        >>> registers = smem.to_registers(d)
        >>> doubled = smem.from_registers(arith.addf(registers, registers), d.type)
        >>> print(doubled.type)
        !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
    """
    return create(FromRegistersOp, [vector], [result]).result
