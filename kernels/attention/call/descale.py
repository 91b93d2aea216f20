"""The factors of queries, keys and values of e4m3, with FlashAttention's names."""

from __future__ import annotations

from math import isfinite
from numbers import Real

from ...errors import ProblemError
from .operands import AttentionArrays, AttentionExtents, NamedMatrix

#: The numbers by which q, k and v are multiplied.
Factors = tuple[float, float, float]

ONES: Factors = (1.0, 1.0, 1.0)


def separate_factors(arrays: AttentionArrays) -> tuple[AttentionArrays, Factors]:
    """Return the arrays without descales that are numbers, and these numbers, 1 for the others.

    Raises:
        ProblemError: for a number that is not finite, or not positive for q or k.
    """
    if arrays.q_descale is arrays.k_descale is arrays.v_descale is None:
        # Literals: a graph of torch.compile would take the numbers of a global as its inputs.
        return arrays, (1.0, 1.0, 1.0)
    numbers = {name: factor for name, factor in arrays.descales.items() if isinstance(factor, Real)}
    for name, factor in numbers.items():
        if not isfinite(factor) or (factor <= 0 and name != "v_descale"):
            raise ProblemError(f"{name} is {factor}; expected a positive number, or an array")
    factors = [float(numbers.get(f"{name}_descale", 1.0)) for name in "qkv"]
    return arrays._replace(**dict.fromkeys(numbers)), (factors[0], factors[1], factors[2])


def check_descale(descale: NamedMatrix, extents: AttentionExtents, sequences: int) -> None:
    """Check the array of a descale.

    Args:
        descale: the array.
        extents: the problem's extents.
        sequences: the number of sequences.

    Raises:
        ProblemError: if it lacks a factor of f32 for each sequence and head of keys.
    """
    expected = sequences, extents.groups
    if descale.matrix.shape != expected or descale.element != "f32":
        raise ProblemError(
            f"{descale.name} has the shape {list(descale.matrix.shape)} of {descale.element}; expected "
            f"{list(expected)} of f32, a factor for each sequence and head of keys, or a number"
        )
