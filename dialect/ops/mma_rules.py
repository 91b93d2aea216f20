"""What the ISA asks of a product's operands and modifiers; messages say what fits."""

from typing import Any, NamedTuple

from ...layout import Element, Role, accumulators, partners, unreadable
from ...layout.elements import E2M1, S8, TF32, U8
from ...layout.instruction import instruction_k
from ...layout.tcgen05 import TCGEN05_M, Kind, Shape, ShapeError, check_shape, kind_of
from ...layout.wgmma import INSTRUCTION_M, SPARSE, SPARSITY, n_pieces, n_rule
from ..caching import cached_in_context
from ..diagnostics import Invalid
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

#: Unit attributes that change what an mma computes.
MODIFIERS = ("negate_a", "negate_b", "satfinite")

#: Multiplies together with the block beside it.
PAIR = "pair"

#: Takes f32 data as it is: the tensor core ignores the 13 bits that tf32 has not.
TRUNCATE = "truncate"


class Beside(NamedTuple):
    """The types of what an mma takes beside A and B; None for what it does not."""

    accumulator: Any = None
    metadata: Any = None


def check_types(result: Any, a: Any, b: Any, beside: Beside, ctas: int) -> None:
    """Checks the types of an mma against the rules of the ISA.

    Raises:
        Invalid: for the first that is broken.
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
    kind = operand_element(a)
    added_in = accumulators(kind, tile_element(b))
    if not added_in:
        if not partners(kind):
            scaled = ", but by scaled blocks" if kind == E2M1 else ""
            raise Invalid(f"multiplies {kind}, which no tensor core does{scaled}")
        expected = " or ".join(map(str, partners(kind)))
        raise Invalid(f"multiplies {kind} by {tile_element(b)}; expected B of {expected}")
    sparse = beside.metadata is not None
    (m, k), (k_b, n) = _whole_a(a, beside.metadata), shape_of(b)
    if k != k_b:
        raise Invalid(f"multiplies A of {m}x{k} by B of {k_b}x{n}: K differs, {k} and {k_b}")
    step = instruction_k(kind) * (SPARSITY if sparse else 1)
    if k % step:
        raise Invalid(f"has K = {k}; expected a multiple of {step} for {kind}")
    if ctas > 1:
        if sparse:
            raise Invalid("has pair with a sparse A; expected a dense one")
        check_pair(kind_of(kind, tile_element(b)), m, n, tile_element(b))
    n *= ctas
    if m % INSTRUCTION_M:
        raise Invalid(f"has M = {m}; expected a multiple of {INSTRUCTION_M}")
    if n_pieces(kind, n) is None:
        raise Invalid(f"has N = {n}; expected {n_rule(n)}")
    check_fragment(result)
    kept = tensor_of(result).element_type
    if fragment_accumulator(result) not in added_in:
        raise Invalid(
            f"adds products of {kind} and {tile_element(b)} in {kept}; expected "
            f"{accumulator_types(added_in)}"
        )
    if shape_of(result) != (m, n) or not is_in_flight(result):
        raise Invalid(
            f"results in {result}; expected !smem.fragment<tensor<{m}x{n}x{kept}>, #smem.in_flight>"
        )
    if beside.accumulator is not None:
        check_added(beside.accumulator, result)
    for role, type_ in ((Role.A, a), (Role.B, b)):
        layout = layout_of(type_) if isinstance(type_, TileType) else None
        problem = unreadable(layout, role, sparse, ctas) if layout else None
        if problem:
            raise Invalid(f"cannot read {role.name} of layout {layout}: {problem}")


def matrix_shape(name: str, type_: Any) -> tuple[int, int]:
    """The shape of an operand, of which messages say the name.

    Raises:
        Invalid: if it has stages.
    """
    shape = shape_of(type_)
    if len(shape) != 2:
        raise Invalid(f"takes {name} (rows, columns), not {list(shape)}; take a stage")
    return shape[0], shape[1]


def product_shape(a: Any, b: Any, pair: bool) -> tuple[int, int]:
    """The shape of what operands of those types, of one block or of a pair, are multiplied to.

    Raises:
        Invalid: if one of them has stages.
    """
    return matrix_shape("A", a)[0], matrix_shape("B", b)[1] * (2 if pair else 1)


def check_pair(kind: Kind | None, m: int, n: int, b: Element) -> None:
    """Checks that two blocks multiply together.

    Args:
        kind: the instructions' kind; None if tcgen05 has none.
        m, n: rows of A and columns of B of each block.
        b: the type of B.

    Raises:
        Invalid: if they do not.
    """
    if kind is None:
        raise Invalid(f"has pair with B of {b}; pairs of blocks multiply what tcgen05 does")
    if m % TCGEN05_M:
        raise Invalid(f"has M = {m} with pair; expected a multiple of {TCGEN05_M} in each block")
    try:
        check_shape(kind, Shape(2 * TCGEN05_M, 2 * n, ctas=2), b)
    except ShapeError as error:
        raise Invalid(f"has B of {n} columns in each of two blocks: {error}") from None


def check_added(accumulator: Any, result: Any) -> None:
    """Checks the type of what products are added to.

    Raises:
        Invalid: if it is no accumulator like the result.
    """
    check_fragment(accumulator)
    if not is_accumulator(accumulator):
        raise Invalid(f"adds to {accumulator}, which is no accumulator")
    if tensor_of(accumulator) != tensor_of(result):
        raise Invalid(f"adds to {tensor_of(accumulator)}; expected {tensor_of(result)}")


def operand_element(type_: Any) -> Element:
    """The element type of a multiplicand, in shared memory or in registers."""
    return element_of(tensor_of(type_).element_type)


def _whole_a(a: Any, metadata: Any) -> tuple[int, int]:
    """The shape of A with its zeros.

    Raises:
        Invalid: if the metadata is not that of A.
    """
    (m, k), kind = shape_of(a), operand_element(a)
    if metadata is None:
        return m, k
    check_sparse(kind)
    check_fragment(metadata)
    if not is_metadata(metadata):
        raise Invalid(f"takes metadata as #smem.metadata, not {metadata}")
    if shape_of(metadata) != (m, SPARSITY * k) or operand_element(metadata) != kind:
        raise Invalid(
            f"has metadata of {tensor_of(metadata)} for an A that keeps {m}x{k}x{kind}; expected "
            f"that of {m}x{SPARSITY * k}x{kind}"
        )
    return m, SPARSITY * k


def check_sparse(kind: Element) -> None:
    """Checks that matrices of a type are multiplied sparse.

    Raises:
        Invalid: if they are not.
    """
    if kind not in SPARSE:
        raise Invalid(f"multiplies sparse {kind}, which wgmma cannot; smem.mma multiplies it dense")


def check_modifiers(op: Any, kind: Element) -> None:
    """Checks that the modifiers of a product fit the element type of A.

    Raises:
        Invalid: for the first that does not.
    """
    said = [name for name in MODIFIERS if has_unit_attribute(op, name)]
    integers = accumulators(kind, kind)[0].integer
    for name in said:
        if name.startswith("negate") and integers:
            raise Invalid(f"has {name} of {kind}; only floats can be negated")
        if name == "satfinite" and kind not in (S8, U8):
            raise Invalid(f"has satfinite with {kind}; it is for products of s8 and u8")


@cached_in_context
def is_unrounded(a: Any, b: Any) -> bool:
    """Whether an operand of one of those types holds f32 that is read as tf32."""
    return any(str(tensor_of(type_).element_type) == "f32" for type_ in (a, b))


def check_truncate(op: Any, a: Any, b: Any) -> None:
    """Checks that f32 data is cut to tf32 where that is said, and only there.

    Raises:
        Invalid: if it is not.
    """
    kind, truncate = operand_element(a), has_unit_attribute(op, TRUNCATE)
    if truncate and kind != TF32:
        raise Invalid(f"has truncate with {kind}; it is for f32 data that is read as tf32")
    if is_unrounded(a, b) and not truncate:
        raise Invalid(
            "reads f32 data as tf32, which cuts 13 bits off; copy to a tile of tf32, which rounds "
            "them, or say that they are to be cut with the unit attribute truncate"
        )


def check_single_use(value: Any) -> None:
    """Checks that an accumulator in flight has no other use: its registers cannot be copied.

    Raises:
        Invalid: if it has.
    """
    if is_in_flight(value.type) and len(list(value.uses)) > 1:
        raise Invalid(
            f"uses an accumulator in flight that has {len(list(value.uses))} uses; its registers "
            "cannot be copied before an smem.wait"
        )
