"""`smem.mma_desc_scaled`: a block-scaled mma on matrix descriptors."""

from typing import Any

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ext, ir
from ...layout import Major, element
from ...layout.tcgen05 import (
    LONG_K_BYTES,
    TCGEN05_M,
    BlockScaling,
    scaled_kind,
    scaled_rows,
    swizzles_of,
)
from ...layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS
from ...layout.wgmma import n_pieces
from ..types import FragmentType, check_fragment, is_in_flight, shape_of, tensor_of
from ..verifier import verifier
from .bases import DescriptorOperand, check_bases, check_reach
from .mma import DescriptorMma
from .mma_rules import check_added, check_pair, check_single_use
from .mma_scaled import check_scaled_modifiers

I64 = ir.IntegerType[64]


class MmaDescScaledOp(DescriptorMma, name="mma_desc_scaled"):
    """A block-scaled mma on matrix descriptors. `smem-materialize-descriptors` replaces
    `smem.mma_scaled` with it. The operands and attributes of `smem.mma_desc` are the same here.

    `a_scales` and `b_scales` are descriptors of the scale factors. `scale` is the ISA's element type of
    the factors, and `block` the number of elements along K that share a factor. `a_scale_steps` and
    `b_scale_steps` hold, for each 128 rows and then for each 4 factors along K, the number that is added
    to the descriptor of the factors, in 16-byte units.

    If an instruction reads 48 bytes along K, `a_second_chunks` and `b_second_chunks` hold, for each
    MMA tile as in `a_steps`, the start of the second chunk of its rows, in 16-byte units; -1 if there
    is no second chunk.
    """

    a: ext.Operand[DescriptorOperand]
    b: ext.Operand[DescriptorOperand]
    a_scales: ext.Operand[I64]
    b_scales: ext.Operand[I64]
    a_element: ir.StringAttr
    b_element: ir.StringAttr
    a_major: ir.StringAttr
    b_major: ir.StringAttr
    a_steps: Any
    b_steps: Any
    scale: ir.StringAttr
    block: ir.IntegerAttr
    a_scale_steps: Any
    b_scale_steps: Any
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    i64 = ("block",)

    @property
    def scales(self) -> tuple[Value, Value]:
        """The descriptors of the scale factors of A and B."""
        return self.a_scales, self.b_scales

    @verifier
    def verify_region_invariants(self) -> None:
        result, accumulator = self.result.type, self.accumulator
        check_fragment(result)
        if not is_in_flight(result) or str(tensor_of(result).element_type) != "f32":
            raise Invalid(f"results in {result}; expected a fragment of f32 in flight")
        if accumulator is not None:
            check_added(accumulator.type, result)
            check_single_use(accumulator)
        check_scaled_modifiers(self)
        scaling = scaling_of_descriptors(self)
        _check_majors(self, scaling)
        _check_steps(self, scaling)
        for operand in "ab":
            check_bases(self, operand)


def scaling_of_descriptors(op: Op) -> BlockScaling:
    """Return the block scaling of an `smem.mma_desc_scaled`.

    Raises:
        Invalid: if no kind of tcgen05 has it.
    """
    scale, block = op.scale.value, op.block.value
    try:
        a, b = element(op.a_element.value), element(op.b_element.value)
    except ValueError as error:
        raise Invalid(str(error)) from None
    kind = scaled_kind(a, b, scale, block)
    if kind is None:
        raise Invalid(
            f"multiplies {a} by {b} with {scale} for {block} elements, which no instruction does"
        )
    return BlockScaling(kind, a, b, scale, block)


def k_bytes_of(op: Op, scaling: BlockScaling, m: int) -> int:
    """Return the bytes along K that each instruction reads.

    Args:
        op: the `smem.mma_desc_scaled`.
        scaling: its block scaling.
        m: rows of the result; given because a lowering changes the type of the result.
    """
    k = len(op.a_scale_steps) * BLOCK_ROWS // m * BLOCK_FACTORS * scaling.block
    steps = len(op.a_steps) * TCGEN05_M // m
    return k * scaling.a.bits // 8 // steps


def _check_majors(op: Op, scaling: BlockScaling) -> None:
    for name, element_ in (("a_major", scaling.a), ("b_major", scaling.b)):
        major = getattr(op, name).value
        legal = [m.value for m in Major if swizzles_of(element_, m)]
        if major not in legal:
            raise Invalid(f"has {name} = '{major}' of {element_}; expected {' or '.join(legal)}")


def _check_steps(op: Op, scaling: BlockScaling) -> None:
    m, n = shape_of(op.result.type)
    if m % TCGEN05_M:
        raise Invalid(f"has M = {m}; expected a multiple of {TCGEN05_M}")
    if op.ctas > 1:
        check_pair(scaling.kind, m, n // 2, scaling.b)
    pieces = len(n_pieces(scaling.b, n) or ())
    tiles = {
        "a_steps": m // TCGEN05_M,
        "b_steps": pieces,
        "a_scale_steps": m // BLOCK_ROWS,
        "b_scale_steps": scaled_rows(n) // BLOCK_ROWS,
    }
    counts = {}
    for name, count in tiles.items():
        steps = op.attributes[name]
        if not isinstance(steps, ir.DenseI64ArrayAttr) or not len(steps) or len(steps) % count:
            raise Invalid(
                f"has {name} = {steps}; expected array<i64: ...> with the same number of steps along k "
                f"for each of {count} blocks of rows or columns"
            )
        check_reach(name, steps)
        counts[name] = len(steps) // count
    for name in ("steps", "scale_steps"):
        a, b = counts[f"a_{name}"], counts[f"b_{name}"]
        if a != b:
            raise Invalid(f"has {name} for {a} and {b} blocks along k")
    k = counts["a_scale_steps"] * BLOCK_FACTORS * scaling.block
    k_extents = [scaling.k, *([scaling.long_k] if scaling.reads_long(k, n) else [])]
    if counts["a_steps"] not in [k // x for x in k_extents]:
        expected = " or ".join(f"{k // x} (of {x})" for x in k_extents)
        raise Invalid(f"has {counts['a_steps']} steps along k for K = {k}; expected {expected}")
    reads_long = k_bytes_of(op, scaling, m) == LONG_K_BYTES
    for name in ("a_second_chunks", "b_second_chunks"):
        seconds = op.attributes.get(name, None)
        count = len(op.attributes[name.replace("second_chunks", "steps")]) if reads_long else 0
        length = len(seconds) if isinstance(seconds, ir.DenseI64ArrayAttr) else 0
        if length != count or (seconds is not None and not reads_long):
            raise Invalid(
                f"has {name} = {seconds}; expected "
                + (f"array<i64: ...> of {count}" if reads_long else "none, for 32 bytes along k")
            )
        steps = list(seconds or ())
        if min(steps, default=0) < -1:
            raise Invalid(f"has {name} = {seconds}; expected -1, or 0 and more 16-byte units")
        check_reach(name, steps)
        operand = getattr(op, name[0]).type
        if reads_long and isinstance(operand, ir.VectorType):
            raise Invalid(f"has {name}, but {name[0]} is {operand}; expected i64")
