"""`smem.mma`: D = A * B (+ D) by one warpgroup."""

from typing import Any, NamedTuple

from ...layout import Element, Role, accumulators, partners
from ...layout.arch import unreadable
from ...layout.choice import Use
from ...layout.elements import E2M1, S8, SPARSITY, TF32, U8
from ...layout.instruction import INSTRUCTION_M, TCGEN05_M, n_pieces, n_rule
from ...layout.tcgen05 import Kind, Shape, ShapeError, check_shape, kind_of
from ..bindings import ext, ir
from ..build import create
from ..caching import cached_in_context
from ..diagnostics import Invalid, format_location, verifier
from ..effects import Completion, Effects, Proxy, Scope, read
from ..elements import accumulator_types, element_of
from ..op import SmemOp
from ..types import (
    FragmentType,
    TileType,
    check_fragment,
    fragment,
    fragment_accumulator,
    is_accumulator,
    is_in_flight,
    is_metadata,
    is_multiplicand,
    layout_of,
    shape_of,
    tensor_of,
    tile_element,
)
from ..units import is_said
from ..uses import Chooser, Path

#: Unit attributes that change what an mma computes.
MODIFIERS = ("negate_a", "negate_b", "satfinite")

#: Multiplies together with the block beside it.
PAIR = "pair"

#: Takes f32 data as it is: the tensor core ignores the 13 bits that tf32 has not.
TRUNCATE = "truncate"


class AnyMma(SmemOp):
    """An op that starts an mma: its operands are tiles, or descriptors of them."""

    #: The metadata of a sparse A; None for a dense one.
    metadata = None
    #: The scale factors of A and of B; None for an mma that scales nothing.
    scales = None

    @property
    def ctas(self) -> int:
        """How many blocks compute the product together (`.cta_group`)."""
        return 2 if is_said(self, PAIR) else 1


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
    tile; A a tile, or a fragment (`#smem.multiplicand`) that the warpgroup holds in its registers.
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
    metadata, a fragment of A's whole shape, says which (`layout.sparsity`); there is no sparse i1. K is a
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


class Beside(NamedTuple):
    """The types of what an mma takes beside A and B; None for what it does not."""

    accumulator: Any = None
    metadata: Any = None


def _verify(op: Any) -> None:
    a, b, accumulator, metadata = op.a.type, op.b.type, op.accumulator, op.metadata
    beside = Beside(*(None if value is None else value.type for value in (accumulator, metadata)))
    problem = _problem(op.result.type, a, b, beside, op.ctas)
    if problem:
        raise Invalid(problem)
    said = len(op.attributes) > 0
    if said:
        check_modifiers(op, operand_element(a))
    if said or _is_unrounded(a, b):
        _check_truncate(op, a, b)
    if accumulator is not None:
        check_single_use(accumulator)


@cached_in_context
def _problem(result: Any, a: Any, b: Any, beside: Beside, ctas: int) -> str | None:
    """The first rule of the ISA that operands of those types break; None if there is none."""
    try:
        _check_types(result, a, b, beside, ctas)
    except Invalid as error:
        return str(error)
    return None


def _check_types(result: Any, a: Any, b: Any, beside: Beside, ctas: int) -> None:
    """Checks the types of an mma against the rules of the ISA.

    Raises:
        Invalid: for the first that is broken.
    """
    if isinstance(a, FragmentType):
        check_fragment(a)
        if not is_multiplicand(a):
            raise Invalid(
                f"takes A in registers as #smem.multiplicand, not {a}; smem.convert makes one of an "
                "accumulator, smem.load of a tile"
            )
    for role, type_ in ((Role.A, a), (Role.B, b)):
        if len(shape_of(type_)) != 2:
            raise Invalid(
                f"takes {role.name} (rows, columns), not {list(shape_of(type_))}; take a stage"
            )
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
    step = kind.instruction_k * (SPARSITY if sparse else 1)
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
        raise Invalid(f"has N = {n}; expected {n_rule(kind, n)}")
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
    if not kind.has_sparse:
        raise Invalid(f"multiplies sparse {kind}, which wgmma cannot; smem.mma multiplies it dense")


def check_modifiers(op: Any, kind: Element) -> None:
    """Checks that the modifiers of a product fit the element type of A.

    Raises:
        Invalid: for the first that does not.
    """
    said = [name for name in MODIFIERS if is_said(op, name)]
    integers = accumulators(kind, kind)[0].integer
    for name in said:
        if name.startswith("negate") and integers:
            raise Invalid(f"has {name} of {kind}; only floats can be negated")
        if name == "satfinite" and kind not in (S8, U8):
            raise Invalid(f"has satfinite with {kind}; it is for products of s8 and u8")


@cached_in_context
def _is_unrounded(a: Any, b: Any) -> bool:
    """Whether an operand of one of those types holds f32 that is read as tf32."""
    return any(str(tensor_of(type_).element_type) == "f32" for type_ in (a, b))


def _check_truncate(op: Any, a: Any, b: Any) -> None:
    """Checks that f32 data is cut to tf32 where that is said, and only there.

    Raises:
        Invalid: if it is not.
    """
    kind, truncate = operand_element(a), is_said(op, TRUNCATE)
    if truncate and kind != TF32:
        raise Invalid(f"has truncate with {kind}; it is for f32 data that is read as tf32")
    if _is_unrounded(a, b) and not truncate:
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


def mma(a: Any, b: Any, accumulator: Any = None, element: Any = None, **modifiers: bool) -> Any:
    """Starts D = A * B (+ accumulator); the result is a fragment in flight.

    Args:
        a: a tile, or a fragment that is a multiplicand.
        b: a tile.
        accumulator: a fragment that is added.
        element: MLIR type of the result's elements; the accumulator's, or the usual one of the
            operands' types, if left out.
        modifiers: `negate_a`, `negate_b`, `satfinite`, `truncate`, `pair`, to be set if true.
    """
    return _product(MmaOp, [a, b], accumulator, element, modifiers)


def mma_sp(
    a: Any, b: Any, metadata: Any, accumulator: Any = None, element: Any = None, **modifiers: bool
) -> Any:
    """Starts D = A * B (+ accumulator) of a sparse A, with its metadata; see `mma`."""
    return _product(MmaSpOp, [a, b, metadata], accumulator, element, modifiers)


def _product(
    op: Any, operands: list[Any], accumulator: Any, element: Any, modifiers: dict[str, bool]
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
    unit = {name: ir.UnitAttr.get() for name, wanted in modifiers.items() if wanted}
    shape = (shape_of(a)[0], shape_of(b)[1] * (2 if PAIR in unit else 1))
    return create(op, operands, [fragment(shape, element, in_flight=True)], unit).result
