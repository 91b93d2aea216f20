"""Functions of elements: of numbers, of fragments, and the smaller or larger of indices."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith
from ..errors import TraceError
from ..trace import op_builder
from ..values import elements, fragment, scalar
from ..values.base import describe
from ..values.fragment import Fragment
from ..values.index import Index, as_index, index_of_op, is_index
from ..values.scalar import Number


def _apply(name: str, *operands: Any) -> Any:
    if any(isinstance(operand, Fragment) for operand in operands):
        return fragment.apply(name, *operands)
    if any(isinstance(operand, Number) for operand in operands):
        return scalar.apply(name, *operands)
    return _refuse(name, operands)


def _approximable(name: str, x: Any, approx: bool) -> Any:
    return _apply(elements.APPROXIMATE[name] if approx else name, x)


@op_builder
def _refuse(name: str, operands: tuple[Any, ...]) -> Any:
    raise TraceError(
        f"sl.{name} of {' and '.join(map(describe, operands))}; expected a fragment or a number of the "
        "kernel"
    )


def _extreme(name: str, a: Any, b: Any) -> Any:
    if is_index(a) and is_index(b):
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b) if name == "maximum" else min(a, b)
        return _index_extreme(name, a, b)
    return _apply(name, a, b)


@op_builder
def _index_extreme(name: str, a: Any, b: Any) -> Index:
    a, b = as_index(a), as_index(b)
    unsigned = a.unsigned and b.unsigned
    operation = f"{name[:3]}{'u' if unsigned else 's'}i"
    return index_of_op(getattr(arith, operation)(a.value, b.value), unsigned=unsigned)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two elements; NaN if one is.

    Args:
        a, b: fragments, numbers or indices.

    Example:
        >>> print(sl.maximum(scores, 0.0).type_text)
        a fragment 64x64 of f32
    """
    return _extreme("maximum", a, b)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two elements; NaN if one is.

    Args:
        a, b: fragments, numbers or indices.

    Example:
        >>> sl.minimum(3, 4)
        3
    """
    return _extreme("minimum", a, b)


def abs_(x: Any) -> Any:
    """Return the absolute value, element by element.

    Args:
        x: a fragment, or a number of the kernel.

    Example:
        >>> print(sl.abs(scores).type_text)
        a fragment 64x64 of f32
    """
    return _apply("abs", x)


def ceil(x: Any) -> Any:
    """Return the smallest whole number that is not less, element by element.

    Args:
        x: a fragment, or a number of the kernel.

    Example:
        >>> print(sl.ceil(scores).type_text)
        a fragment 64x64 of f32
    """
    return _apply("ceil", x)


def cos(x: Any, approx: bool = False) -> Any:
    """Return the cosine, of radians, element by element.

    Args:
        x: a fragment, or a number of the kernel.
        approx: take `cos.approx`: at most 2^-20.2 off for x in [-2π, 2π], 2^-14.7 in [-100π, 100π] (PTX
            ISA, `cos`; measured). Of floats of up to 32 bits.

    Example:
        >>> print(sl.cos(scores).type_text)
        a fragment 64x64 of f32
    """
    return _approximable("cos", x, approx)


def erf(x: Any) -> Any:
    """Return the error function, element by element.

    Args:
        x: a fragment, or a number of the kernel.

    Example:
        >>> print(sl.erf(scores).type_text)
        a fragment 64x64 of f32
    """
    return _apply("erf", x)


def exp(x: Any, approx: bool = False) -> Any:
    """Return e to the power of x, element by element.

    Args:
        x: a fragment, or a number of the kernel.
        approx: take `ex2.approx.ftz` of x * log2(e): at most 2 + ⌊1.173 |x|⌋ units in the last place
            (CUDA's `__expf`); a result below 2^-126 is 0. Of floats of up to 32 bits.

    Example:
        >>> print(sl.exp(scores).type_text)
        a fragment 64x64 of f32
    """
    return _approximable("exp", x, approx)


def exp2(x: Any, approx: bool = False) -> Any:
    """Return 2 to the power of x, element by element.

    Args:
        x: a fragment, or a number of the kernel.
        approx: take `ex2.approx.ftz`, one instruction instead of four: at most 2 units in the last place,
            as without (CUDA's `exp2f`); a result below 2^-126 is 0. Of floats of up to 32 bits.

    Example:
        >>> print(sl.exp2(scores).type_text)
        a fragment 64x64 of f32
    """
    return _approximable("exp2", x, approx)


def fdiv(a: Any, b: Any) -> Any:
    """Return a / b, of f32 by `div.approx`: one instruction on the chip and one multiplication.

    `/` is rounded to nearest and takes about ten instructions and a branch. The error is at most 2 units
    in the last place if b, without its sign, is in [2^-126, 2^126]; if it is larger and finite, the
    result is 0 (PTX ISA, `div`).

    Args:
        a, b: fragments, or numbers of the kernel.

    Example:
        >>> print(sl.fdiv(1.0, scores).type_text)
        a fragment 64x64 of f32
    """
    return _apply("fdiv", a, b)


def floor(x: Any) -> Any:
    """Return the largest whole number that is not greater, element by element.

    Args:
        x: a fragment, or a number of the kernel.

    Example:
        >>> print(sl.floor(scores).type_text)
        a fragment 64x64 of f32
    """
    return _apply("floor", x)


def log(x: Any, approx: bool = False) -> Any:
    """Return the natural logarithm, element by element.

    Args:
        x: a fragment, or a number of the kernel.
        approx: take `lg2.approx` and a product: at most 3 units in the last place, and 2^-21.4 off for x
            in [0.5, 2] (CUDA's `__logf`). Of floats of up to 32 bits.

    Example:
        >>> print(sl.log(scores).type_text)
        a fragment 64x64 of f32
    """
    return _approximable("log", x, approx)


def log2(x: Any, approx: bool = False) -> Any:
    """Return the logarithm to base 2, element by element.

    Args:
        x: a fragment, or a number of the kernel.
        approx: take `lg2.approx`: at most 2 units in the last place, and 2^-22 off for x in [0.5, 2]
            (CUDA's `__log2f`). Of floats of up to 32 bits.

    Example:
        >>> print(sl.log2(scores).type_text)
        a fragment 64x64 of f32
    """
    return _approximable("log2", x, approx)


def rsqrt(x: Any) -> Any:
    """Return the reciprocal of the square root, element by element: `rsqrt.approx` of floats of up to 32
    bits, at most 2 units in the last place (PTX ISA, `rsqrt`).

    Args:
        x: a fragment, or a number of the kernel.

    Example:
        >>> print(sl.rsqrt(scores).type_text)
        a fragment 64x64 of f32
    """
    return _apply("rsqrt", x)


def sin(x: Any, approx: bool = False) -> Any:
    """Return the sine, of radians, element by element.

    Args:
        x: a fragment, or a number of the kernel.
        approx: take `sin.approx`: at most 2^-20.2 off for x in [-2π, 2π], 2^-14.7 in [-100π, 100π] (PTX
            ISA, `sin`; measured). Of floats of up to 32 bits.

    Example:
        >>> print(sl.sin(scores).type_text)
        a fragment 64x64 of f32
    """
    return _approximable("sin", x, approx)


def sqrt(x: Any, approx: bool = False) -> Any:
    """Return the square root, element by element.

    Args:
        x: a fragment, or a number of the kernel.
        approx: take `sqrt.approx`: at most 1 unit in the last place (PTX ISA, `sqrt`); without, 0.5. Of
            floats of up to 32 bits.

    Example:
        >>> print(sl.sqrt(scores).type_text)
        a fragment 64x64 of f32
    """
    return _approximable("sqrt", x, approx)


def tanh(x: Any, approx: bool = False) -> Any:
    """Return the hyperbolic tangent, element by element.

    Args:
        x: a fragment, or a number of the kernel.
        approx: take `tanh.approx`: a relative error of at most 2^-11, 2^13 units in the last place (PTX
            ISA, `tanh`). Of floats of up to 32 bits.

    Example:
        >>> print(sl.tanh(scores).type_text)
        a fragment 64x64 of f32
    """
    return _approximable("tanh", x, approx)


def pow_(x: Any, y: Any) -> Any:
    """Return x to the power of y, element by element.

    Args:
        x, y: fragments, or numbers of the kernel.

    Example:
        >>> print(sl.pow(scores, 2.0).type_text)
        a fragment 64x64 of f32
    """
    return _apply("pow", x, y)
