"""`smem-uplift-to-fma`: contract products and sums to `math.fma`, where their flags allow it."""

from dataclasses import dataclass

from ..bindings.irtypes import Attribute, Module, Op, Value
from ..bindings.mlir import ir
from ..ir import emit
from ..ir.walk import walk
from .driver.base import Pass

_SUMS, _PRODUCT = ("arith.addf", "arith.subf"), "arith.mulf"

#: Elements of which both the emulator and PTX have an fma.
_ELEMENTS = ("f16", "bf16", "f32")

_FLAG = "contract"

#: What `fast` stands for (MLIR, arith dialect).
_FAST = ("reassoc", "nnan", "ninf", "nsz", "arcp", _FLAG, "afn")


@dataclass(frozen=True)
class UpliftToFma(Pass):
    """Replaces `a * b + c`, `a * b - c` and `c - a * b` by an fma, which rounds once.

    Both ops must have the fast-math flag `contract`, and the product no other use. Of `a * b + c * d` the
    left product is contracted. Then the flag is removed from all ops: LLVM contracts nothing more, and
    the emulator and a GPU compute the same bytes. f64, of which the emulator has no fma, stays.

    Upstream's `math-uplift-to-fma` takes no differences, contracts products with other uses, and leaves
    the flag.
    """

    name = "smem-uplift-to-fma"
    description = "contract products and sums to math.fma, where fastmath<contract> allows it"

    def run(self, module: Module) -> None:
        for op in walk(module, *_SUMS):
            if _FLAG in _flags(op) and _element(op) in _ELEMENTS:
                _contract(op)
        for op in walk(module, *_SUMS, _PRODUCT):
            if _FLAG in _flags(op):
                op.attributes["fastmath"] = _other_flags(op)


def _contract(op: Op) -> None:
    """Replace a sum or a difference by an fma, if an operand is a product that may be contracted."""
    side = next((side for side in (0, 1) if _is_contractible(op.operands[side])), None)
    if side is None:
        return
    product = op.operands[side].owner
    terms = [*product.operands, op.operands[1 - side]]
    type_, fastmath = op.results[0].type, _other_flags(op)
    with ir.InsertionPoint(op), op.location:
        if op.name == "arith.subf":
            # c of a * b - c, a of c - a * b.
            negated = 0 if side else 2
            terms[negated] = emit.value("arith.negf", [terms[negated]], type_, fastmath=fastmath)
        fused = emit.value("math.fma", terms, type_, fastmath=fastmath)
    op.results[0].replace_all_uses_with(fused)
    op.erase()
    product.erase()


def _is_contractible(operand: Value) -> bool:
    """Return whether an operand is a product without another use that may be contracted."""
    product = operand.owner
    return (
        not isinstance(product, ir.Block)
        and product.name == _PRODUCT
        and _FLAG in _flags(product)
        and len(list(operand.uses)) == 1
    )


def _element(op: Op) -> str:
    type_ = op.results[0].type
    return str(type_.element_type if isinstance(type_, ir.VectorType) else type_)


def _flags(op: Op) -> list[str]:
    """Return the fast-math flags of an op."""
    text = str(op.attributes["fastmath"]).partition("<")[2].rstrip(">")
    return list(_FAST) if text == "fast" else text.split(",")


def _other_flags(op: Op) -> Attribute:
    """Return the fast-math flags of an op without `contract`."""
    flags = [flag for flag in _flags(op) if flag != _FLAG]
    return ir.Attribute.parse(f"#arith.fastmath<{','.join(flags) or 'none'}>")
