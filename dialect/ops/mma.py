"""`smem.mma`: D = A * B (+ D) by one warpgroup."""

from typing import Any, TypedDict, Unpack

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Op, Type, Value
from ...bindings.mlir import ext, ir
from ...layout import Role, accumulators
from ...layout.uses import Use
from ..arguments import ElementType, Fragment, Tile, TileOrFragment
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
from ..effects import Completion, Effects, Proxy, Scope, read
from ..op import SmemOp
from ..optional_attributes import has_unit_attribute
from ..types import FragmentType, TileType, fragment, tensor_of, tile_element
from ..uses import Chooser, Path
from ..verifier import verifier
from .mma_rules import (
    PAIR,
    OptionalTypes,
    check_modifiers,
    check_single_use,
    check_truncate,
    check_types,
    is_unrounded,
    operand_element,
    result_shape,
)


class AnyMma(SmemOp):
    """An op that starts an mma on tiles or on matrix descriptors."""

    #: The metadata of a sparse A; None for a dense A.
    metadata = None
    #: The scale factors of A and B; None for an mma without.
    scales = None

    @property
    def pair(self) -> bool:
        """Whether a CTA pair executes the mma (`.cta_group::2`).

        Raises:
            Invalid: if the attribute has a value.
        """
        return has_unit_attribute(self, PAIR)

    @property
    def ctas(self) -> int:
        """The number of CTAs that execute the mma together (`.cta_group`)."""
        return 2 if self.pair else 1


class TileMma(AnyMma):
    """An mma on tiles."""

    effects = Effects(
        Scope.WARPGROUP, tuple(read(name, Proxy.ASYNC, Completion.WGMMA_GROUP) for name in "ab")
    )

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use:
        """The constraint on the layout of A or B."""
        role, element = Role(operand), tile_element(getattr(self, operand).type)
        label = f"{role.name} of the mma at {format_location(self.location)}"
        sparse = self.metadata is not None
        return chooser.arch.use(label, role, element, path, sparse, self.ctas)


class DescriptorMma(AnyMma):
    """An mma on descriptors; `smem-materialize-descriptors` replaces a `TileMma` with it."""

    effects = Effects(Scope.WARPGROUP)


class MmaOp(TileMma, name="mma"):
    """Starts D = A * B, or D = A * B + `accumulator` if that operand is present. `result` is D.

    `a` is A (M x K), `b` is B (K x N). B is a tile; A is a tile, or a fragment `#smem.a_fragment` in the
    registers of the warpgroup. M is a multiple of 64, K a multiple of the instruction's K, and N is
    valid for `wgmma` (PTX ISA 9.7.15.2). For 8-bit types that are N-major, which tcgen05 reads, N is a
    multiple of 16. All 128 threads of a warpgroup execute the op together with the same operands. The
    result is in flight until `smem.wait`; until then the tiles must not be overwritten.

    A and B are both f16, bf16, tf32 or i1, or any two of f8E4M3FN, f8E5M2 and, for tcgen05, the narrow
    floats f6E2M3FN, f6E3M2FN and !smem.padded<f4E2M1FN>, or any two of i8 (signed) and ui8. Floats
    accumulate in f32; f16 and floats of 8 bits or fewer also in f16; integers in i32. For i1, D counts
    the bits that are set in both (`and.popc`).

    With the unit attribute `pair`, a CTA pair executes the mma on tcgen05 (`.cta_group::2`): two CTAs of
    a cluster that are adjacent along x, the first with an even index. `a` has the M rows of its own CTA,
    a multiple of 128. `b` has half of the columns of B, the first half in the even CTA. The result of
    each CTA has its own M rows and all N columns. Both CTAs execute the op, with operands at the same
    offsets in their shared memories. They need no synchronization with each other before it.

    Unit attributes: `negate_a` and `negate_b` for floats; `satfinite` for 8-bit integers (sums saturate
    to i32 instead of wrapping around); `truncate` for f32 data, of which the tensor core ignores the
    last 13 bits, whereas a copy to a tile of tf32 rounds them.
    """

    a: ext.Operand[TileType | FragmentType]
    b: ext.Operand[TileType]
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_region_invariants(self) -> None:
        _verify(self)


class MmaSpOp(TileMma, name="mma_sp"):
    """Starts D = A * B (+ `accumulator`) with a sparse A (`wgmma.mma_async.sp`, PTX ISA 9.7.15.6).

    `a` stores half of each row of the M x K matrix A: 2 of every 4 elements, or 1 of every 2 for tf32.
    `metadata`, a fragment of A's full shape, holds the indices of these elements (`layout.compress`).
    There is no sparse i1. K is a multiple of twice the instruction's K. All other rules are those of
    `smem.mma`.
    """

    a: ext.Operand[TileType | FragmentType]
    b: ext.Operand[TileType]
    metadata: ext.Operand[FragmentType]
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_region_invariants(self) -> None:
        _verify(self)


def _verify(op: Op) -> None:
    a, b, accumulator, metadata = op.a.type, op.b.type, op.accumulator, op.metadata
    optional = OptionalTypes(*(v if v is None else v.type for v in (accumulator, metadata)))
    problem = _problem(op.result.type, a, b, optional, op.ctas)
    if problem:
        raise Invalid(problem)
    has_attributes = len(op.attributes) > 0
    if has_attributes:
        check_modifiers(op, operand_element(a))
    if has_attributes or is_unrounded(a, b):
        check_truncate(op, a, b)
    if accumulator is not None:
        check_single_use(accumulator)


@cached_in_context
def _problem(result: Type, a: Type, b: Type, optional: OptionalTypes, ctas: int) -> str | None:
    """The message for the first rule of the ISA that the types violate; None if there is none."""
    try:
        check_types(result, a, b, optional, ctas)
    except Invalid as error:
        return str(error)
    return None


class Modifiers(TypedDict, total=False):
    """Unit attributes of an mma; each is set if its value is true."""

    negate_a: bool
    negate_b: bool
    satfinite: bool
    truncate: bool
    pair: bool


@builder
def mma(
    a: TileOrFragment,
    b: Tile,
    accumulator: Fragment | None = None,
    element: ElementType | None = None,
    **modifiers: Unpack[Modifiers],
) -> Value:
    """Build an `smem.mma`, D = A * B (+ accumulator), and return D, a fragment in flight.

    Args:
        a: a tile, or an A fragment.
        b: a tile.
        accumulator: an accumulator that is added.
        element: the MLIR element type of D; by default that of the accumulator, or the first that the
            types of A and B allow.
        modifiers: `negate_a`, `negate_b`, `satfinite`, `truncate`, `pair`.

    Example:
        >>> first = smem.mma(a, b)
        >>> second = smem.mma(a, b, first, negate_a=True)
        >>> print(second.type)
        !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
    """
    return _build(MmaOp, [a, b], accumulator, element, modifiers)


@builder
def mma_sp(
    a: TileOrFragment,
    b: Tile,
    metadata: Fragment,
    accumulator: Fragment | None = None,
    element: ElementType | None = None,
    **modifiers: Unpack[Modifiers],
) -> Value:
    """Build an `smem.mma_sp`, D = A * B (+ accumulator) with a sparse A and its metadata; see `mma`.

    Args:
        a: a tile, or an A fragment, with half of the columns of A.
        b: a tile.
        metadata: which columns `a` holds, a fragment.
        accumulator: an accumulator that is added.
        element: the MLIR element type of D, as for `mma`.
        modifiers: as for `mma`.

    Returns:
        D, a fragment in flight.

    Example:
        >>> half = smem.subtile(a, (0, 0), (64, 32))  # the kept half of a 64x64 matrix
        >>> words = memref.alloca(ir.Type.parse("memref<1x1x128xi32>"), [], [])
        >>> metadata = smem.load(words, types.metadata((64, 64), bf16))
        >>> print(smem.mma_sp(half, b, metadata).type)
        !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
    """
    return _build(MmaSpOp, [a, b, metadata], accumulator, element, modifiers)


def _build(
    op: Any,
    operands: list[Value],
    accumulator: Value | None,
    element: Type | None,
    modifiers: Modifiers,
) -> Value:
    a, b = operands[0].type, operands[1].type
    if accumulator is not None:
        operands = [*operands, accumulator]
        element = element or tensor_of(accumulator.type).element_type
    if element is None:
        # The verifier rejects a pair of types without an accumulator type.
        possible = accumulators(operand_element(a), tile_element(b))[:1]
        integers = any(accumulator.integer for accumulator in possible)
        element = ir.IntegerType.get_signless(32) if integers else ir.F32Type.get()
    shape = result_shape(a, b, modifiers.get(PAIR, False))
    return create(op, operands, [fragment(shape, element, in_flight=True)], **modifiers).result
