"""Activation functions for epilogues, in the kernel language; each takes and returns elements of f32.

They are those of PyTorch: `torch.nn.functional.gelu`, its tanh approximation, `silu` and `relu`. Their
exponentials and divisions are approximations with errors of at most 2 units in the last place.
"""

from __future__ import annotations

from math import e, log2, pi, sqrt
from typing import Any

from ... import language as sl

__all__ = ["gelu", "gelu_tanh", "relu", "relu_squared", "sigmoid", "silu"]

_LOG2_E = log2(e)


def __dir__() -> list[str]:
    return __all__


def relu(x: Any) -> Any:
    """Return max(x, 0); NaN stays.

    Example:
        >>> print(relu(scores).type_text)
        a fragment 64x64 of f32
    """
    return sl.maximum(x, 0.0)


def relu_squared(x: Any) -> Any:
    """Return max(x, 0)^2 (So et al., Primer, 2021).

    Example:
        >>> print(relu_squared(scores).type_text)
        a fragment 64x64 of f32
    """
    return relu(x) * relu(x)


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)).

    Example:
        >>> print(sigmoid(scores).type_text)
        a fragment 64x64 of f32
    """
    return sl.fdiv(1.0, 1.0 + sl.exp2(x * -_LOG2_E))


def silu(x: Any) -> Any:
    """Return x * sigmoid(x).

    Example:
        >>> print(silu(scores).type_text)
        a fragment 64x64 of f32
    """
    return sl.fdiv(x, 1.0 + sl.exp2(x * -_LOG2_E))


def gelu(x: Any) -> Any:
    """Return x * (1 + erf(x / sqrt(2))) / 2.

    Example:
        >>> print(gelu(scores).type_text)
        a fragment 64x64 of f32
    """
    return 0.5 * x * (1.0 + sl.erf(x * (1 / sqrt(2))))


def gelu_tanh(x: Any) -> Any:
    """Return x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2.

    tanh(y) is 2 * sigmoid(2 * y) - 1, so it costs one exponential and one division.

    Example:
        >>> print(gelu_tanh(scores).type_text)
        a fragment 64x64 of f32
    """
    return x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x * x * x))
