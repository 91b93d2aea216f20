"""`smem.mma`: D = A * B (+ D) by one warpgroup."""

from typing import Any, TypedDict, Unpack

from ...layout import Role, accumulators
from ...layout.uses import Use
from ..arguments import ElementType, Fragment, Tile, TileOrFragment
from ..bindings import ext, ir
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
from ..diagnostics import Invalid, format_location, verifier
from ..effects import Completion, Effects, Proxy, Scope, read
from ..op import SmemOp
from ..optional_attributes import has_unit_attribute
from ..types import FragmentType, TileType, fragment, tensor_of, tile_element
from ..uses import Chooser, Path
from .mma_rules import (
    PAIR,
    Beside,
    check_modifiers,
    check_single_use,
    check_truncate,
    check_types,
    is_unrounded,
    operand_element,
    product_shape,
)


class AnyMma(SmemOp):
    """An op that starts an mma: its operands are tiles, or descriptors of them."""

    #: The metadata of a sparse A; None for a dense one.
    metadata = None
    #: The scale factors of A and of B; None for an mma that scales nothing.
    scales = None

    @property
    def pair(self) -> bool:
        """Whether two blocks compute the product together.

        Raises:
            Invalid: if the attribute has a value.
        """
        return has_unit_attribute(self, PAIR)

    @property
    def ctas(self) -> int:
        """How many blocks compute the product together (`.cta_group`)."""
        return 2 if self.pair else 1


class TileMma(AnyMma):
    """An mma that reads tiles."""

    effects = Effects(
        Scope.WARPGROUP, tuple(read(name, Proxy.ASYNC, Completion.WGMMA_GROUP) for name in "ab")
    )

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use:
        """What it asks of the layout of A or B."""
        role, element = Role(operand), tile_element(getattr(self, operand).type)
        what = f"{role.name} of the mma at {format_location(self.location)}"
        sparse = self.metadata is not None
        return chooser.arch.use(what, role, element, path, sparse, self.ctas)


class DescriptorMma(AnyMma):
    """What a `TileMma` is once its operands are descriptors; made by `smem-materialize-descriptors`."""

    effects = Effects(Scope.WARPGROUP)


class MmaOp(TileMma, name="mma"):
    """Starts the product of two matrices, and adds it to the accumulator if one is given.

    A is M x K, B is K x N; M is a multiple of 64, K of the instruction's, N what `wgmma` takes (PTX
    ISA 9.7.15.2); of 8-bit types that lie N-major, which tcgen05 reads, N is a multiple of 16. B is a
    tile; A a tile, or a fragment (`#smem.a_fragment`) that the warpgroup holds in its registers.
    All 128 threads of a warpgroup execute it together with the same operands. The result is in
    flight until `smem.wait`; until then the tiles must not be overwritten.

    A and B are both f16, bf16, tf32 or i1, or any two of f8E4M3FN, f8E5M2 and, for tcgen05, the narrow
    floats f6E2M3FN, f6E3M2FN and !smem.padded<f4E2M1FN>, or of i8 (signed) and ui8. Products of floats
    are added in f32, those of f16 and of 8 bits or fewer also in f16; integers in i32. i1 counts the
    bits that both have (`and.popc`).

    With the unit attribute `pair`, two blocks multiply together on tcgen05 (`.cta_group::2`): those of a
    cluster that are next to each other along x, from an even one on. A has M rows of each block's own, a
    multiple of 128; B half of the columns in each, the first half in the even block; each block gets its
    own rows of the result, with all N columns. Both execute the op, and their operands begin at the
    same places in their shared memories; neither has to wait for the other before.

    Unit attributes: `negate_a` and `negate_b` of floats, `satfinite` of 8-bit integers (sums stay
    within i32 instead of wrapping around), `truncate` to multiply f32 data as it is: the tensor
    core cuts its last 13 bits off, where a copy to a tile of tf32 rounds them.
    """

    a: ext.Operand[TileType | FragmentType]
    b: ext.Operand[TileType]
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_region_invariants(self) -> None:
        _verify(self)


class MmaSpOp(TileMma, name="mma_sp"):
    """Starts the product of a sparse A and B (`wgmma.mma_async.sp`, PTX ISA 9.7.15.6).

    A holds half of each row of the M x K matrix: 2 of every 4 elements, or 1 of every 2 for tf32. The
    metadata, a fragment of A's whole shape, says which (`layout.compress`); there is no sparse i1. K is a
    multiple of twice the instruction's. All else is as with `smem.mma`.
    """

    a: ext.Operand[TileType | FragmentType]
    b: ext.Operand[TileType]
    metadata: ext.Operand[FragmentType]
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_region_invariants(self) -> None:
        _verify(self)


def _verify(op: Any) -> None:
    a, b, accumulator, metadata = op.a.type, op.b.type, op.accumulator, op.metadata
    beside = Beside(*(None if value is None else value.type for value in (accumulator, metadata)))
    problem = _problem(op.result.type, a, b, beside, op.ctas)
    if problem:
        raise Invalid(problem)
    said = len(op.attributes) > 0
    if said:
        check_modifiers(op, operand_element(a))
    if said or is_unrounded(a, b):
        check_truncate(op, a, b)
    if accumulator is not None:
        check_single_use(accumulator)


@cached_in_context
def _problem(result: Any, a: Any, b: Any, beside: Beside, ctas: int) -> str | None:
    """The first rule of the ISA that operands of those types break; None if there is none."""
    try:
        check_types(result, a, b, beside, ctas)
    except Invalid as error:
        return str(error)
    return None


class Modifiers(TypedDict, total=False):
    """Unit attributes of a product, each to be set if true."""

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
) -> Any:
    """Starts D = A * B (+ accumulator); the result is a fragment in flight.

    Args:
        a: a tile, or a fragment that is a multiplicand.
        b: a tile.
        accumulator: a fragment that is added.
        element: MLIR type of the result's elements; the accumulator's, or the usual one of the
            operands' types, if left out.
        modifiers: `negate_a`, `negate_b`, `satfinite`, `truncate`, `pair`.
    """
    return _product(MmaOp, [a, b], accumulator, element, modifiers)


@builder
def mma_sp(
    a: TileOrFragment,
    b: Tile,
    metadata: Fragment,
    accumulator: Fragment | None = None,
    element: ElementType | None = None,
    **modifiers: Unpack[Modifiers],
) -> Any:
    """Starts D = A * B (+ accumulator) of a sparse A, with its metadata; see `mma`."""
    return _product(MmaSpOp, [a, b, metadata], accumulator, element, modifiers)


def _product(
    op: Any, operands: list[Any], accumulator: Any, element: Any, modifiers: Modifiers
) -> Any:
    a, b = operands[0].type, operands[1].type
    if accumulator is not None:
        operands = [*operands, accumulator]
        element = element or tensor_of(accumulator.type).element_type
    if element is None:
        # A pair that does not go together is the verifier's to refuse.
        usual = accumulators(operand_element(a), tile_element(b))[:1]
        integers = any(accumulator.integer for accumulator in usual)
        element = ir.IntegerType.get_signless(32) if integers else ir.F32Type.get()
    shape = product_shape(a, b, modifiers.get(PAIR, False))
    return create(op, operands, [fragment(shape, element, in_flight=True)], **modifiers).result
