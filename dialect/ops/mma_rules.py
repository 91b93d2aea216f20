"""Rules of the ISA for operands and attributes of mma; messages state what would be valid."""

from typing import NamedTuple

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Type, Value
from ...layout import Element, Role, accumulators, operand_problem, partners
from ...layout.elements import E2M1, S8, TF32, U8
from ...layout.instruction import instruction_k
from ...layout.tcgen05 import TCGEN05_M, Kind, MmaShape, MmaShapeError, check_shape, kind_of
from ...layout.wgmma import INSTRUCTION_M, SPARSE, SPARSITY, n_pieces, n_rule
from ..caching import cached_in_context
from ..elements import accumulator_types, element_of
from ..optional_attributes import has_unit_attribute
from ..types import (
    FragmentType,
    TileType,
    check_fragment,
    fragment_accumulator,
    is_a_fragment,
    is_accumulator,
    is_in_flight,
    is_metadata,
    layout_of,
    shape_of,
    tensor_of,
    tile_element,
)

#: Unit attributes that modify the computation.
MODIFIERS = ("negate_a", "negate_b", "satfinite")

#: Unit attribute: a CTA pair executes the mma.
PAIR = "pair"

#: Unit attribute: f32 data is read as tf32; the tensor core ignores its last 13 bits.
TRUNCATE = "truncate"


class OptionalTypes(NamedTuple):
    """The types of the optional operands of an mma; None for an absent operand."""

    accumulator: Type | None = None
    metadata: Type | None = None


def check_types(result: Type, a: Type, b: Type, optional: OptionalTypes, ctas: int) -> None:
    """Check the types of an mma against the rules of the ISA.

    Args:
        result, a, b: types of D, A and B.
        optional: types of the optional operands.
        ctas: the number of CTAs that execute the mma together.

    Raises:
        Invalid: for the first violated rule.
    """
    if isinstance(a, FragmentType):
        check_fragment(a)
        if not is_a_fragment(a):
            raise Invalid(
                f"takes A in registers as #smem.a_fragment, not {a}; smem.convert makes one of an "
                "accumulator, smem.load of a tile"
            )
    for role, type_ in ((Role.A, a), (Role.B, b)):
        matrix_shape(role.name, type_)
    element = operand_element(a)
    allowed = accumulators(element, tile_element(b))
    if not allowed:
        if not partners(element):
            hint = " without scale factors; use smem.mma_scaled" if element == E2M1 else ""
            raise Invalid(f"multiplies {element}, which no tensor core does{hint}")
        expected = " or ".join(map(str, partners(element)))
        raise Invalid(f"multiplies {element} by {tile_element(b)}; expected B of {expected}")
    sparse = optional.metadata is not None
    (m, k), (k_b, n) = _full_shape(a, optional.metadata), shape_of(b)
    if k != k_b:
        raise Invalid(f"multiplies A of {m}x{k} by B of {k_b}x{n}: K differs, {k} and {k_b}")
    step = instruction_k(element) * (SPARSITY if sparse else 1)
    if k % step:
        raise Invalid(f"has K = {k}; expected a multiple of {step} for {element}")
    if ctas > 1:
        if sparse:
            raise Invalid("has pair with a sparse A; expected a dense one")
        check_pair(kind_of(element, tile_element(b)), m, n, tile_element(b))
    n *= ctas
    if m % INSTRUCTION_M:
        raise Invalid(f"has M = {m}; expected a multiple of {INSTRUCTION_M}")
    if n_pieces(element, n) is None:
        raise Invalid(f"has N = {n}; expected {n_rule(n)}")
    check_fragment(result)
    result_element = tensor_of(result).element_type
    if fragment_accumulator(result) not in allowed:
        raise Invalid(
            f"adds products of {element} and {tile_element(b)} in {result_element}; expected "
            f"{accumulator_types(allowed)}"
        )
    if shape_of(result) != (m, n) or not is_accumulator(result):
        raise Invalid(
            f"results in {result}; expected !smem.fragment<tensor<{m}x{n}x{result_element}>, "
            "#smem.in_flight>"
        )
    if optional.accumulator is not None:
        check_added(optional.accumulator, result)
    for role, type_ in ((Role.A, a), (Role.B, b)):
        layout = layout_of(type_) if isinstance(type_, TileType) else None
        problem = operand_problem(layout, role, sparse, ctas) if layout else None
        if problem:
            raise Invalid(f"cannot read {role.name} of layout {layout}: {problem}")


def matrix_shape(name: str, type_: Type) -> tuple[int, int]:
    """Return the shape (rows, columns) of an operand.

    Args:
        name: the operand's name, for the message.
        type_: its type.

    Raises:
        Invalid: if it has stages.
    """
    shape = shape_of(type_)
    if len(shape) != 2:
        raise Invalid(f"takes {name} (rows, columns), not {list(shape)}; take a stage")
    return shape[0], shape[1]


def result_shape(a: Type, b: Type, pair: bool) -> tuple[int, int]:
    """Return the shape (M, N) of D for types of A and B.

    Raises:
        Invalid: if one of them has stages.
    """
    return matrix_shape("A", a)[0], matrix_shape("B", b)[1] * (2 if pair else 1)


def check_pair(kind: Kind | None, m: int, n: int, b: Element) -> None:
    """Check that a CTA pair can execute an mma.

    Args:
        kind: the `.kind` of the instructions; None if tcgen05 has none.
        m, n: rows of A and columns of B in each CTA.
        b: the element type of B.

    Raises:
        Invalid: if it cannot.
    """
    if kind is None:
        raise Invalid(
            f"has pair with B of {b}, which tcgen05 does not multiply; only mma of tcgen05 have pair"
        )
    if m % TCGEN05_M:
        raise Invalid(f"has M = {m} with pair; expected a multiple of {TCGEN05_M} in each CTA")
    try:
        check_shape(kind, MmaShape(2 * TCGEN05_M, 2 * n, ctas=2), b)
    except MmaShapeError as error:
        raise Invalid(f"has B of {n} columns in each of two CTAs: {error}") from None


def check_added(accumulator: Type, result: Type) -> None:
    """Check the type of the accumulator operand.

    Raises:
        Invalid: if it is not an accumulator of the result's shape and element type.
    """
    check_fragment(accumulator)
    if not is_accumulator(accumulator):
        raise Invalid(f"adds to {accumulator}, which is not an accumulator")
    if tensor_of(accumulator) != tensor_of(result):
        raise Invalid(f"adds to {tensor_of(accumulator)}; expected {tensor_of(result)}")


def operand_element(type_: Type) -> Element:
    """Return the element type of A or B, in shared memory or in registers."""
    return element_of(tensor_of(type_).element_type)


def _full_shape(a: Type, metadata: Type | None) -> tuple[int, int]:
    """The shape (M, K) of A, zeros of a sparse A included.

    Raises:
        Invalid: if the metadata does not fit A.
    """
    (m, k), element = shape_of(a), operand_element(a)
    if metadata is None:
        return m, k
    check_sparse(element)
    check_fragment(metadata)
    if not is_metadata(metadata):
        raise Invalid(f"takes metadata as #smem.metadata, not {metadata}")
    if shape_of(metadata) != (m, SPARSITY * k) or operand_element(metadata) != element:
        raise Invalid(
            f"has metadata of {tensor_of(metadata)} for an A that stores {m}x{k}x{element}; expected "
            f"that of {m}x{SPARSITY * k}x{element}"
        )
    return m, SPARSITY * k


def check_sparse(element: Element) -> None:
    """Check that there is a sparse mma of an element type.

    Raises:
        Invalid: if there is none.
    """
    if element not in SPARSE:
        raise Invalid(
            f"multiplies sparse {element}, which wgmma cannot; smem.mma multiplies it dense"
        )


def check_modifiers(op: Op, element: Element) -> None:
    """Check the modifiers of an mma for the element type of A.

    Raises:
        Invalid: for the first that the type does not allow.
    """
    modifiers = [name for name in MODIFIERS if has_unit_attribute(op, name)]
    integers = accumulators(element, element)[0].integer
    for name in modifiers:
        if name.startswith("negate") and integers:
            raise Invalid(f"has {name} of {element}; only floats can be negated")
        if name == "satfinite" and element not in (S8, U8):
            raise Invalid(f"has satfinite with {element}; it is for mma of s8 and u8")


@cached_in_context
def is_unrounded(a: Type, b: Type) -> bool:
    """Whether A or B holds f32, which is read as tf32."""
    return any(str(tensor_of(type_).element_type) == "f32" for type_ in (a, b))


def check_truncate(op: Op, a: Type, b: Type) -> None:
    """Check that an mma has `truncate` if and only if A or B is f32 data read as tf32.

    Raises:
        Invalid: if not.
    """
    element, truncate = operand_element(a), has_unit_attribute(op, TRUNCATE)
    if truncate and element != TF32:
        raise Invalid(f"has truncate with {element}; it is for f32 data that is read as tf32")
    if is_unrounded(a, b) and not truncate:
        raise Invalid(
            "reads f32 data as tf32, which cuts 13 bits off; copy to a tile of tf32, which rounds, "
            "or set the unit attribute truncate"
        )


def check_single_use(value: Value) -> None:
    """Check that an accumulator in flight has a single use: its registers cannot be copied.

    Raises:
        Invalid: if it has more.
    """
    if is_in_flight(value.type) and len(list(value.uses)) > 1:
        raise Invalid(
            f"uses an accumulator in flight that has {len(list(value.uses))} uses; its registers "
            "cannot be copied before an smem.wait"
        )
