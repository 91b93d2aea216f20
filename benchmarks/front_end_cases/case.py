"""Programs, and what became of one on the emulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from mlir_smem import from_jax
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import lower_linalg

#: Of the largest element of a result: a few roundings to its type, or to that of what it is made of.
_BOUNDS = {"bfloat16": 2.0**-5, "float16": 2.0**-8, "float32": 2.0**-5}


class Wrong(Exception):
    """A result, or an argument after the call, is not what it should be."""


class Case(NamedTuple):
    """A program.

    Attributes:
        name: of the program.
        contractions: its products and attentions, as a reader counts them; an attention is one.
        run: compiles and calls it on the emulator, and compares; returns the number of products and
            attentions that kernels of the libraries compute, and the remarks. Raises `Wrong`; other
            exceptions are refusals.
    """

    name: str
    contractions: int
    run: Callable[[], tuple[int, list[str]]]


def kernels_of(remarks: Sequence[str]) -> int:
    """Count the products and attentions of which `explain` says that they became kernels."""
    became = [remark for remark in remarks if remark.startswith("becomes the kernel ")]
    return len(became) + sum(", two products" in remark for remark in became)


def rng(seed: int = 0) -> np.random.Generator:
    """The source of a program's arguments."""
    return np.random.default_rng(seed)


def whole(shape: Sequence[int], dtype: Any = ml_dtypes.bfloat16, seed: int = 0) -> np.ndarray:
    """Whole numbers from -2 to 2, most of them 0, whose products and sums are exact."""
    values = rng(seed).choice([0, 0, 0, 0, 1, -1, 2, -2], size=tuple(shape))
    return values.astype(dtype)


def normal(
    shape: Sequence[int], dtype: Any = ml_dtypes.bfloat16, seed: int = 0, scale: float = 1.0
) -> np.ndarray:
    """Random numbers of a normal distribution."""
    return (rng(seed).standard_normal(tuple(shape)) * scale).astype(dtype)


def compare(name: str, got: Any, expected: Any, exact: bool) -> None:
    """Compare an array with what it should be.

    Raises:
        Wrong: if shape, type or elements differ.
    """
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape or got.dtype != expected.dtype:
        raise Wrong(f"{name} is {got.dtype}{got.shape}; expected {expected.dtype}{expected.shape}")
    bound = 0.0 if exact else _BOUNDS.get(expected.dtype.name, 0.0)
    wide = [x.astype(np.float64) for x in (got, expected)]
    finite = np.isfinite(wide[1])
    largest = np.abs(wide[1][finite]).max(initial=0.0)
    same = np.array_equal(wide[0][~finite], wide[1][~finite], equal_nan=True)
    error = np.abs(wide[0][finite] - wide[1][finite]).max(initial=0.0)
    if not same or not error <= bound * largest:
        raise Wrong(f"{name} is off by {error} of {largest}")


def jax_case(
    name: str,
    contractions: int,
    function: Callable[..., Any],
    *arguments: Any,
    exact: bool = False,
    **options: Any,
) -> Case:
    """A function of JAX on NumPy arrays, or on structures of them, compiled by `from_jax`."""

    def run() -> tuple[int, list[str]]:
        import jax

        expected = jax.tree_util.tree_leaves(jax.jit(function)(*arguments))
        before = [np.array(x) for x in jax.tree_util.tree_leaves(arguments)]
        remarks: list[str] = []
        with remark_handler(lambda _, message: remarks.append(message)):
            compiled = from_jax(function, *arguments, on="cpu", mixed=True, explain=True, **options)
        got = jax.tree_util.tree_leaves(compiled(*arguments))
        compare_all("result", got, expected, exact)
        compare_all("argument", jax.tree_util.tree_leaves(arguments), before, exact=True)
        return kernels_of(remarks), remarks

    return Case(name, contractions, run)


def linalg_case(
    name: str,
    contractions: int,
    text: str,
    arguments: Sequence[np.ndarray],
    expected: Callable[..., Any],
    exact: bool = True,
    **options: Any,
) -> Case:
    """A module of linalg on tensors or memrefs, whose first function is called.

    Args:
        name: of the program.
        contractions: its number of products.
        text: the module.
        arguments: of its function. Memrefs that it writes are compared, too.
        expected: of the arguments' copies: the results, in a tuple if they are several; it writes those
            arguments that the function writes.
        exact: whether numbers are whole, and results equal.
        options: of `linalg-to-smem`.
    """

    def run() -> tuple[int, list[str]]:
        own = [array.copy() for array in arguments]
        wanted = expected(*own)
        called = [array.copy() for array in arguments]
        remarks: list[str] = []
        with new_context(), remark_handler(lambda _, message: remarks.append(message)):
            module = parse_module(text)
            lower_linalg(module, explain=True, **options)
            program = Executable(module, on="cpu", mixed=True)
        got = program(*called)
        listed = [() if x is None else x if isinstance(x, tuple) else (x,) for x in (got, wanted)]
        compare_all("result", *listed, exact)
        compare_all("argument", called, own, exact)
        return kernels_of(remarks), remarks

    return Case(name, contractions, run)


def compare_all(what: str, got: Sequence[Any], expected: Sequence[Any], exact: bool) -> None:
    """Compare arrays with what they should be; messages call one `what`.

    Raises:
        Wrong: if one is not what it should be.
    """
    if len(got) != len(expected):
        raise Wrong(f"{len(got)} {what}s; expected {len(expected)}")
    for position, pair in enumerate(zip(got, expected, strict=True)):
        compare(f"{what} {position}", *pair, exact)
