"""math ops as the instructions that they are.

Upstream lowers them to calls of CUDA's libdevice, a library that is not linked here. So what is one or
two instructions of PTX is put in their place; what is more is refused. Approximations stand where
libdevice itself uses them (`math.exp2`, `math.rsqrt`), and else where `fastmath<afn>` allows them.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..dialect.bindings import ir
from ..ir.emit import op as emit_op
from ..ir.emit import value
from ..ir.walk import walk
from .errors import located

Value = Any


def _intrinsic(name: str, *operands: Value, approximate: bool = False) -> Value:
    """A call of an intrinsic of LLVM whose result is of its operands' type."""
    flags = ir.Attribute.parse(f"#llvm.fastmath<{'afn' if approximate else 'none'}>")
    return value(
        "llvm.call_intrinsic",
        operands,
        operands[0].type,
        intrin=ir.StringAttr.get(name),
        fastmathFlags=flags,
        op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(operands), 0]),
    )


def _times(x: Value, factor: float) -> Value:
    number = ir.FloatAttr.get(x.type, factor)
    return value("arith.mulf", (x, value("arith.constant", (), x.type, value=number)), x.type)


def _exp2(x: Value) -> Value:
    return _intrinsic("llvm.exp2", x, approximate=True)


def _log2(x: Value) -> Value:
    return _intrinsic("llvm.nvvm.lg2.approx.f", x)


def _power(x: Value, y: Value) -> Value:
    return _exp2(value("arith.mulf", (y, _log2(x)), x.type))


def _one(name: str) -> Callable[[Value], Value]:
    return lambda x: _intrinsic(name, x, approximate=True)


@dataclass(frozen=True)
class _Approximation:
    """An op that PTX approximates, in f32.

    Attributes:
        make: its instructions.
        instruction: what the error of the result depends on, as PTX names it.
        asks: whether the op must allow it by `afn`.
    """

    make: Callable[..., Value]
    instruction: str
    asks: bool = True


_APPROXIMATIONS = {
    "math.exp2": _Approximation(_exp2, "ex2.approx", asks=False),
    "math.rsqrt": _Approximation(_one("llvm.nvvm.rsqrt.approx.f"), "rsqrt.approx", asks=False),
    "math.exp": _Approximation(lambda x: _exp2(_times(x, math.log2(math.e))), "ex2.approx"),
    "math.log2": _Approximation(_log2, "lg2.approx"),
    "math.log": _Approximation(lambda x: _times(_log2(x), math.log(2)), "lg2.approx"),
    "math.log10": _Approximation(lambda x: _times(_log2(x), math.log10(2)), "lg2.approx"),
    "math.powf": _Approximation(_power, "lg2.approx and ex2.approx"),
    "math.tanh": _Approximation(_one("llvm.tanh"), "tanh.approx"),
    "math.sin": _Approximation(_one("llvm.sin"), "sin.approx"),
    "math.cos": _Approximation(_one("llvm.cos"), "cos.approx"),
}

#: Ops that are exact, of any float type, by their intrinsics.
_EXACT = {
    "math.absf": "llvm.fabs",
    "math.ceil": "llvm.ceil",
    "math.copysign": "llvm.copysign",
    "math.floor": "llvm.floor",
    "math.fma": "llvm.fma",
    "math.round": "llvm.round",
    "math.roundeven": "llvm.roundeven",
    "math.sqrt": "llvm.sqrt",
    "math.trunc": "llvm.trunc",
    "arith.maxnumf": "llvm.maxnum",
    "arith.minnumf": "llvm.minnum",
}


def lower_math(module: Any) -> None:
    """Replaces the math ops of a module's kernels in place; those that are not known stay.

    Raises:
        CompileError: with a located diagnostic, for an approximation that an op does not allow.
    """
    for op in walk(module, *_EXACT, *_APPROXIMATIONS):
        make = _instruction(op)
        with ir.InsertionPoint(op), op.location:
            found = _by_elements(make, list(op.operands), op.result.type)
        op.result.replace_all_uses_with(found)
        op.erase()


def _instruction(op: Any) -> Callable[..., Value]:
    """From the operands of one element to the result."""
    if op.name in _EXACT:
        approximate = op.name == "math.sqrt" and _allows_approximation(op)
        return lambda *xs: _intrinsic(_EXACT[op.name], *xs, approximate=approximate)
    known = _APPROXIMATIONS[op.name]
    if known.asks and not _allows_approximation(op):
        raise located(
            op,
            f"needs CUDA's libdevice, which is not linked; fastmath<afn> makes it {known.instruction}",
        )
    element = _element(op.result.type)
    if element.width > 32:
        raise located(op, f"is of {element}; {known.instruction} is of f32")
    return lambda *xs: _in_f32(known.make, xs)


def _allows_approximation(op: Any) -> bool:
    """Whether the op's fast-math flags let it be an approximation."""
    flags = re.search(r"<(.*)>", str(op.attributes["fastmath"]))
    return flags is not None and not {"afn", "fast"}.isdisjoint(flags[1].split(","))


def _element(type_: Any) -> Any:
    return type_.element_type if isinstance(type_, ir.VectorType) else type_


def _in_f32(make: Callable[..., Value], operands: Sequence[Value]) -> Value:
    """What instructions of f32 make of narrower operands."""
    type_, f32 = operands[0].type, ir.F32Type.get()
    if type_ == f32:
        return make(*operands)
    found = make(*(value("arith.extf", (x,), f32) for x in operands))
    return value("arith.truncf", (found,), type_)


def _by_elements(make: Callable[..., Value], operands: list[Value], type_: Any) -> Value:
    """What instructions make of each element of vectors, or of numbers."""
    if not isinstance(type_, ir.VectorType):
        return make(*operands)
    types = [type_.element_type] * math.prod(type_.shape)
    apart = [emit_op("vector.to_elements", (x,), types).results for x in operands]
    made = [make(*elements) for elements in zip(*apart, strict=True)]
    return value("vector.from_elements", made, type_)
