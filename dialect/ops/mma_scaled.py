"""`smem.mma_scaled`: a block-scaled mma, D = (A * scale_A) * (B * scale_B) (+ D)."""

from typing import Any, TypedDict, Unpack

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Op, Type, Value
from ...bindings.mlir import ext, ir
from ...layout import Element, Mismatch, Role
from ...layout.accumulators import ACC_F32
from ...layout.tcgen05 import (
    KINDS,
    SCALE_ELEMENTS,
    TCGEN05_M,
    BlockScaling,
    ScaledUse,
    ScaleUse,
    scale_blocks,
    scaled_kind,
    scaled_rows,
)
from ...layout.tcgen05.scales import BLOCK_FACTORS
from ...layout.uses import Use
from ...layout.wgmma import n_pieces, n_rule
from ..arguments import Fragment, Tile
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
from ..effects import Completion, Effects, Proxy, Scope, read
from ..optional_attributes import has_unit_attribute
from ..types import (
    FragmentType,
    TileType,
    check_fragment,
    fragment,
    fragment_accumulator,
    is_accumulator,
    layout_of,
    shape_of,
    tensor_of,
    tile_element,
)
from ..uses import Chooser, Path
from ..verifier import verifier
from .mma import TileMma
from .mma_rules import (
    MODIFIERS,
    PAIR,
    TRUNCATE,
    check_added,
    check_pair,
    check_single_use,
    matrix_shape,
    result_shape,
)


class MmaScaledOp(TileMma, name="mma_scaled"):
    """Starts D = A * B (+ `accumulator`) with block scaling along K (PTX ISA 9.7.16.10.7): a scale
    factor multiplies each block of 16 or 32 elements of a row of A and of a column of B. Only tcgen05
    has this mma.

    `a` is A (M x K) and `b` is B (K x N), as for `smem.mma`; both are tiles, and M is a multiple of 128.
    `a_scales` is a tile of M rows, `b_scales` a tile of N rows, N rounded up to a multiple of 128. Each
    row has K / 16 or K / 32 factors, a multiple of 4; their number determines the size of the scale
    blocks. Factors are f8E8M0FNU (powers of two), or non-negative f8E4M3FN.

    | A and B | factors | elements per factor | kind |
    | --- | --- | --- | --- |
    | any two of f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN, padded f4E2M1FN | f8E8M0FNU | 32 | mxf8f6f4 |
    | f4E2M1FN | f8E8M0FNU | 32 | mxf4 |
    | f4E2M1FN | f8E4M3FN or f8E8M0FNU | 16 | mxf4nvf4 |

    D is f32. The unit attributes are `negate_a`, `negate_b` and `pair`, as for `smem.mma`. With `pair`,
    each CTA has the factors of its own rows of A, and those of all N columns of B. On sm_103,
    instructions of 4-bit types read 48 bytes along K if K is a multiple of 96 elements, N is that of one
    instruction, and A and B are K-major in the 128-byte swizzle.
    """

    a: ext.Operand[TileType]
    b: ext.Operand[TileType]
    a_scales: ext.Operand[TileType]
    b_scales: ext.Operand[TileType]
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    effects = Effects(
        Scope.WARPGROUP,
        tuple(
            read(name, Proxy.ASYNC, Completion.WGMMA_GROUP)
            for name in ("a", "b", "a_scales", "b_scales")
        ),
    )

    @property
    def scales(self) -> tuple[Value, Value]:
        """The scale factors of A and B."""
        return self.a_scales, self.b_scales

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use:
        """The constraint on the layout of A, of B, or of their scale factors."""
        role = Role(operand[0])
        label = f"{role.name} of the mma at {format_location(self.location)}"
        if operand.endswith("_scales"):
            return ScaleUse(f"factors of {label}", path)
        scaling = scaling_of(self.a.type, self.b.type, self.a_scales.type)
        k, n = shape_of(self.b.type)
        reads_long = chooser.arch.has_absolute_lbo and scaling.reads_long(k, n * self.ctas)
        return ScaledUse(label, role, scaling, reads_long, self.ctas, path)

    @verifier
    def verify_region_invariants(self) -> None:
        accumulator = self.accumulator
        tiles = (value.type for value in (self.a, self.b, *self.scales))
        added_type = None if accumulator is None else accumulator.type
        problem = _problem(self.result.type, *tiles, added_type, self.ctas)
        if problem:
            raise Invalid(problem)
        if accumulator is not None:
            check_single_use(accumulator)
        check_scaled_modifiers(self)


@cached_in_context
def _problem(result: Type, *arguments: Any) -> str | None:
    """The message for the first rule of the ISA that the types violate; None if there is none."""
    try:
        _check_types(result, *arguments)
    except Invalid as error:
        return str(error)
    return None


def _check_types(
    result: Type,
    a: Type,
    b: Type,
    a_scales: Type,
    b_scales: Type,
    accumulator: Type | None,
    ctas: int,
) -> None:
    named = {"A": a, "B": b, "the factors of A": a_scales, "the factors of B": b_scales}
    for name, type_ in named.items():
        matrix_shape(name, type_)
    (m, k), (k_b, n) = shape_of(a), shape_of(b)
    if k != k_b:
        raise Invalid(f"multiplies A of {m}x{k} by B of {k_b}x{n}: K differs, {k} and {k_b}")
    scaling = scaling_of(a, b, a_scales)
    step = BLOCK_FACTORS * scaling.block
    if k % step:
        raise Invalid(
            f"has K = {k}; expected a multiple of {step}: {BLOCK_FACTORS} factors for {scaling.block} "
            "elements each"
        )
    if m % TCGEN05_M:
        raise Invalid(f"has M = {m}; expected a multiple of {TCGEN05_M}")
    if ctas > 1:
        check_pair(scaling.kind, m, n, scaling.b)
    n *= ctas
    if n_pieces(tile_element(b), n) is None:
        raise Invalid(f"has N = {n}; expected {n_rule(n)}")
    factors = k // scaling.block
    for name, type_, rows in (("A", a_scales, m), ("B", b_scales, scaled_rows(n))):
        if shape_of(type_) != (rows, factors) or tile_element(type_) != tile_element(a_scales):
            raise Invalid(
                f"scales {name} by {tensor_of(type_)}; expected {rows}x{factors} of "
                f"{tensor_of(a_scales).element_type}"
            )
        layout = layout_of(type_)
        blocks = scale_blocks(layout) if layout else None
        if isinstance(blocks, Mismatch):
            raise Invalid(f"cannot read the factors of {name}: {blocks.reason}")
    check_fragment(result)
    if fragment_accumulator(result) is not ACC_F32:
        result_element = tensor_of(result).element_type
        raise Invalid(f"adds scaled products in {result_element}; expected f32")
    if shape_of(result) != (m, n) or not is_accumulator(result):
        raise Invalid(
            f"results in {result}; expected !smem.fragment<tensor<{m}x{n}xf32>, #smem.in_flight>"
        )
    if accumulator is not None:
        check_added(accumulator, result)
    for role, type_ in ((Role.A, a), (Role.B, b)):
        layout = layout_of(type_)
        problem = scaling.operand_problem(layout, role, ctas) if layout else None
        if problem:
            raise Invalid(f"cannot read {role.name} of layout {layout}: {problem}")


def check_scaled_modifiers(op: Op) -> None:
    """Check the modifiers of a block-scaled mma.

    Raises:
        Invalid: for the first that it does not have.
    """
    for name in (*MODIFIERS, TRUNCATE):
        if has_unit_attribute(op, name) and not name.startswith("negate"):
            raise Invalid(
                f"has {name}, a modifier of integers or tf32; expected negate_a or negate_b"
            )


def scaling_of(a: Type, b: Type, a_scales: Type) -> BlockScaling:
    """Return the block scaling for tile types of A, B and the scale factors of A.

    Raises:
        Invalid: if no kind of tcgen05 has it.
    """
    elements, scale_element = (tile_element(a), tile_element(b)), tile_element(a_scales)
    scale = next((name for name, e in SCALE_ELEMENTS.items() if e == scale_element), None)
    k, factors = shape_of(a)[1], shape_of(a_scales)[1]
    block = k // factors if factors and k % factors == 0 else 0
    kind = scaled_kind(*elements, scale, block) if scale else None
    if scale is None or kind is None:
        factors_text = (
            f"one factor for {block} elements" if block else f"{factors} factors for K = {k}"
        )
        raise Invalid(
            f"multiplies {elements[0]} by {elements[1]} with {factors_text} of {scale_element}; "
            f"{_expected_factors(elements)}"
        )
    return BlockScaling(kind, *elements, scale, block)


def _expected_factors(elements: tuple[Element, Element]) -> str:
    """The scale factors that the kinds of tcgen05 take for element types of A and B, for a message."""
    fitting = [kind for kind in KINDS.values() if kind.scales and kind.multiplies(*elements)]
    if fitting:
        expected = {
            f"{SCALE_ELEMENTS[name]} for {block} elements": None
            for k in fitting
            for name, block in k.scales
        }
        return f"expected factors of {' or '.join(expected)} along K"
    return "the kinds that scale blocks: " + "; ".join(
        f"{kind} of {', '.join(map(str, kind.codes))}" for kind in KINDS.values() if kind.scales
    )


class ScaledModifiers(TypedDict, total=False):
    """Unit attributes of a block-scaled mma; each is set if its value is true."""

    negate_a: bool
    negate_b: bool
    pair: bool


@builder
def mma_scaled(
    a: Tile,
    b: Tile,
    a_scales: Tile,
    b_scales: Tile,
    accumulator: Fragment | None = None,
    **modifiers: Unpack[ScaledModifiers],
) -> Value:
    """Build an `smem.mma_scaled`, and return D, a fragment in flight.

    Args:
        a, b: tiles.
        a_scales, b_scales: tiles of their scale factors.
        accumulator: an accumulator of f32 that is added.
        modifiers: `negate_a`, `negate_b`, `pair`.

    Example:
        >>> f8, factor = ir.Float8E4M3FNType.get(), ir.Float8E8M0FNUType.get()
        >>> x, y = smem.alloc((128, 128), f8), smem.alloc((128, 128), f8)
        >>> x_scales, y_scales = smem.alloc((128, 4), factor), smem.alloc((128, 4), factor)
        >>> print(smem.mma_scaled(x, y, x_scales, y_scales).type)
        !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
    """
    operands = [a, b, a_scales, b_scales, *([] if accumulator is None else [accumulator])]
    shape = result_shape(a.type, b.type, modifiers.get(PAIR, False))
    result = fragment(shape, ir.F32Type.get(), in_flight=True)
    return create(MmaScaledOp, operands, [result], **modifiers).result
