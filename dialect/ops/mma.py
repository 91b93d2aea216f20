"""`smem.mma`: D = A * B (+ D) by one warpgroup."""

from typing import Any

from ...layout import Mismatch, Role, accumulators, operand_blocks, partners
from ...layout.elements import S8, TF32, U8
from ...layout.instruction import INSTRUCTION_M, n_pieces, n_rule
from ..bindings import ext, ir
from ..build import create
from ..caching import cached_in_context
from ..diagnostics import Invalid, verifier
from ..elements import accumulator_types
from ..smem import Smem
from ..types import (
    FragmentType,
    TileType,
    check_fragment,
    fragment,
    fragment_accumulator,
    is_in_flight,
    layout_of,
    shape_of,
    tensor_of,
    tile_element,
)

#: Unit attributes that change what an mma computes.
MODIFIERS = ("negate_a", "negate_b", "satfinite")

#: Takes f32 data as it is: the tensor core ignores the 13 bits that tf32 has not.
TRUNCATE = "truncate"


class MmaOp(Smem.Operation, name="mma"):
    """Starts the product of two tiles, and adds it to the accumulator if one is given.

    A is M x K, B is K x N; M is a multiple of 64, K of the instruction's, N what `wgmma` takes (PTX
    ISA 9.7.15.2). All 128 threads of a warpgroup execute it together with the same operands. The
    result is in flight until `smem.wait`; until then the tiles must not be overwritten.

    A and B are both f16, bf16, tf32 or i1, or any two of f8E4M3FN and f8E5M2, or of i8 (signed) and
    ui8. Products of floats are added in f32, those of f16 and of 8-bit floats also in f16; integers
    in i32. i1 counts the bits that both have (`and.popc`).

    Unit attributes: `negate_a` and `negate_b` of floats, `satfinite` of 8-bit integers (sums stay
    within i32 instead of wrapping around), `truncate` to multiply f32 tiles as they are: the tensor
    core cuts their last 13 bits off, where a copy to a tile of tf32 rounds them.
    """

    a: ext.Operand[TileType]
    b: ext.Operand[TileType]
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_region_invariants(self) -> None:
        operands = list(self.operands)
        types = tuple(v.type for v in operands)
        problem = _problem(self.results[0].type, *types) or _modifier_problem(self, *types[:2])
        if problem:
            raise Invalid(problem)
        if len(operands) == 3:
            check_single_use(operands[2])


@cached_in_context
def _problem(result: Any, *types: Any) -> str | None:
    """The first rule of the ISA that operands of those types break; None if there is none."""
    try:
        a, b = types[0], types[1]
        for role, tile in ((Role.A, a), (Role.B, b)):
            if len(shape_of(tile)) != 2:
                return (
                    f"takes {role.name} (rows, columns), not {list(shape_of(tile))}; take a stage"
                )
        kind = tile_element(a)
        added_in = accumulators(kind, tile_element(b))
        if not added_in:
            expected = " or ".join(map(str, partners(kind)))
            return f"multiplies {kind} by {tile_element(b)}; expected B of {expected}"
        (m, k), (k_b, n) = shape_of(a), shape_of(b)
        if k != k_b:
            return f"multiplies A of {m}x{k} by B of {k_b}x{n}: K differs, {k} and {k_b}"
        if k % kind.instruction_k:
            return f"has K = {k}; expected a multiple of {kind.instruction_k} for {kind}"
        if m % INSTRUCTION_M:
            return f"has M = {m}; expected a multiple of {INSTRUCTION_M}"
        if n_pieces(kind, n) is None:
            return f"has N = {n}; expected {n_rule(kind, n)}"
        check_fragment(result)
        kept = tensor_of(result).element_type
        if fragment_accumulator(result) not in added_in:
            return (
                f"adds products of {kind} and {tile_element(b)} in {kept}; expected "
                f"{accumulator_types(added_in)}"
            )
        if shape_of(result) != (m, n) or not is_in_flight(result):
            return (
                f"results in {result}; expected !smem.fragment<tensor<{m}x{n}x{kept}>, "
                "#smem.in_flight>"
            )
        if len(types) == 3:
            check_fragment(types[2])
            if tensor_of(types[2]) != tensor_of(result):
                return f"adds to {tensor_of(types[2])}; expected {tensor_of(result)}"
        for role, tile in ((Role.A, a), (Role.B, b)):
            layout = layout_of(tile)
            found = operand_blocks(layout, role) if layout else None
            if isinstance(found, Mismatch):
                return f"cannot read {role.name} of layout {layout}: {found.reason}"
    except Invalid as error:
        return str(error)
    return None


def _modifier_problem(op: Any, a: Any, b: Any) -> str | None:
    """Why the unit attributes do not fit the element types; None if they do."""
    kind = tile_element(a)
    said = [name for name in (*MODIFIERS, TRUNCATE) if name in op.attributes]
    integers = accumulators(kind, tile_element(b))[0].integer
    for name in said:
        if name.startswith("negate") and integers:
            return f"has {name} of {kind}; only floats can be negated"
        if name == "satfinite" and kind not in (S8, U8):
            return f"has satfinite with {kind}; it is for products of s8 and u8"
        if name == TRUNCATE and kind != TF32:
            return f"has truncate with {kind}; it is for f32 data that is read as tf32"
    unrounded = any(str(tensor_of(tile).element_type) == "f32" for tile in (a, b))
    if unrounded and TRUNCATE not in said:
        return (
            "reads f32 data as tf32, which cuts 13 bits off; copy to a tile of tf32, which rounds "
            "them, or say that they are to be cut with the unit attribute truncate"
        )
    return None


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
        a, b: tiles.
        accumulator: a fragment that is added.
        element: MLIR type of the result's elements; the accumulator's, or the usual one of the
            tiles' types, if left out.
        modifiers: `negate_a`, `negate_b`, `satfinite`, `truncate`, to be set if true.
    """
    shape = (shape_of(a.type)[0], shape_of(b.type)[1])
    operands = [a, b] if accumulator is None else [a, b, accumulator]
    if element is None and accumulator is not None:
        element = tensor_of(accumulator.type).element_type
    if element is None:
        # A pair that does not go together is the verifier's to refuse.
        usual = accumulators(tile_element(a.type), tile_element(b.type))[:1]
        integers = any(accumulator.integer for accumulator in usual)
        element = ir.IntegerType.get_signless(32) if integers else ir.F32Type.get()
    unit = {name: ir.UnitAttr.get() for name, wanted in modifiers.items() if wanted}
    return create(MmaOp, operands, [fragment(shape, element, in_flight=True)], unit).result
