"""nvvm: `cvt`, conversions of one or two numbers (PTX ISA, cvt).

Of two numbers, the first operand is in the upper half of the result; a vector has the lower half first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...bindings.mlir import ir
from ..floats import convert, to_tf32
from ..kernel import Op
from ..registry import computes
from ..types import dtype_of, shape_of


def _word(op: Op, name: str) -> str:
    """Return the keyword of an attribute such as `#nvvm.fp_rnd_mode<rn>`."""
    return op.text(name).rsplit("<", 1)[-1].rstrip(">")


def _relu(op: Op) -> bool:
    return "true" in op.text("relu")


def _rounding(op: Op, *known: str) -> str:
    rounding = _word(op, "rnd")
    if rounding not in known:
        raise op.refuse(f"rounds as {op.text('rnd')}, which the emulator does not know")
    return rounding


def _saturates(op: Op) -> bool:
    saturation = _word(op, "sat")
    if saturation not in ("none", "satfinite"):
        raise op.refuse(f"saturates as {op.text('sat')}, which the emulator does not know")
    return saturation == "satfinite"


def _dtype(op: Op, name: str) -> np.dtype:
    """Return the dtype of a type attribute."""
    return dtype_of(ir.TypeAttr(op.attribute(name)).value, op.location)


@computes("nvvm.convert.float.to.tf32")
def _to_tf32(op: Op) -> Any:
    rounding = _rounding(op, "rn", "rz", "rna")
    saturates, relu = _saturates(op), _relu(op)
    return lambda value: to_tf32(value, rounding, saturates, relu)


@computes("nvvm.convert.f32x2.to.f16x2", "nvvm.convert.f32x2.to.bf16x2")
def _to_16_bits(op: Op) -> Any:
    dtype = dtype_of(op.result_types[0], op.location)
    toward_zero = _rounding(op, "rn", "rz") == "rz"
    saturates, relu = _saturates(op), _relu(op)

    def step(high: np.ndarray, low: np.ndarray) -> np.ndarray:
        pair = np.stack(np.broadcast_arrays(low, high), axis=1)
        return convert(pair, dtype, toward_zero=toward_zero, saturates=saturates, relu=relu)

    return step


def _packs(op: Op) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from pairs of f8 to the op's result: i16, or a vector of two i8."""
    packed = shape_of(op.result_types[0]) == ()

    def pack(pair: np.ndarray) -> np.ndarray:
        raw = np.ascontiguousarray(pair).view(np.uint8)
        return raw.view(np.uint16)[:, 0] if packed else raw

    return pack


@computes("nvvm.convert.f32x2.to.f8x2")
def _to_8_bits(op: Op) -> Any:
    dtype, relu, pack = _dtype(op, "dstTy"), _relu(op), _packs(op)
    _rounding(op, "rn")
    if not _saturates(op):
        raise op.refuse("does not saturate, which the emulator does not know")

    def step(high: np.ndarray, low: np.ndarray) -> np.ndarray:
        pair = np.stack(np.broadcast_arrays(low, high), axis=1)
        return pack(convert(pair, dtype, saturates=True, relu=relu))

    return step


@computes("nvvm.convert.f16x2.to.f8x2")
def _halves_to_8_bits(op: Op) -> Any:
    dtype, relu, pack = _dtype(op, "dstTy"), _relu(op), _packs(op)
    # The op has no attributes for it: the instruction rounds to nearest and saturates.
    return lambda pair: pack(convert(pair, dtype, saturates=True, relu=relu))


@computes("nvvm.convert.f8x2.to.f16x2")
def _to_halves(op: Op) -> Any:
    source, relu = _dtype(op, "srcType"), _relu(op)
    half = np.dtype(np.float16)
    return lambda raw: convert(np.ascontiguousarray(raw).view(source), half, relu=relu)
