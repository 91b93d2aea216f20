"""`smem.mma`: D = A * B (+ D) by one warpgroup."""

from typing import Any

from ...layout import ELEMENTS, Mismatch, Role, operand_blocks
from ...layout.instruction import INSTRUCTION_M, n_pieces, n_rule
from ..bindings import ext, ir
from ..build import create
from ..caching import cached_in_context
from ..diagnostics import Invalid, verifier
from ..smem import Smem
from ..types import (
    FragmentType,
    TileType,
    check_fragment,
    fragment,
    is_in_flight,
    layout_of,
    shape_of,
    tile_element,
)

#: Element types that are lowered; both multiplicands have the same.
LOWERED = (ELEMENTS["f16"], ELEMENTS["bf16"])


class MmaOp(Smem.Operation, name="mma"):
    """Starts the product of two tiles, and adds it to the accumulator if one is given.

    A is M x K, B is K x N; M is a multiple of 64, K of the instruction's, N what `wgmma` takes (PTX
    ISA 9.7.15.2). All 128 threads of a warpgroup execute it together with the same operands. The
    result is in flight until `smem.wait`; until then the tiles must not be overwritten.
    """

    a: ext.Operand[TileType]
    b: ext.Operand[TileType]
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_region_invariants(self) -> None:
        operands = list(self.operands)
        types = tuple(v.type for v in operands)
        problem = _problem(self.results[0].type, *types)
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
        if kind not in LOWERED or tile_element(b) != kind:
            return (
                f"multiplies {tile_element(a)} by {tile_element(b)}; expected both "
                f"{' or both '.join(map(str, LOWERED))}"
            )
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
        if shape_of(result) != (m, n) or not is_in_flight(result):
            return f"results in {result}; expected !smem.fragment<tensor<{m}x{n}xf32>, #smem.in_flight>"
        if len(types) == 3:
            check_fragment(types[2])
            if shape_of(types[2]) != (m, n):
                return f"adds to a fragment of {list(shape_of(types[2]))}; expected [{m}, {n}]"
        for role, tile in ((Role.A, a), (Role.B, b)):
            layout = layout_of(tile)
            found = operand_blocks(layout, role) if layout else None
            if isinstance(found, Mismatch):
                return f"cannot read {role.name} of layout {layout}: {found.reason}"
    except Invalid as error:
        return str(error)
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


def mma(a: Any, b: Any, accumulator: Any = None) -> Any:
    """Starts D = A * B (+ accumulator); the result is an f32 fragment in flight."""
    shape = (shape_of(a.type)[0], shape_of(b.type)[1])
    operands = [a, b] if accumulator is None else [a, b, accumulator]
    return create(MmaOp, operands, [fragment(shape, ir.F32Type.get(), in_flight=True)]).result
