"""Correct kernels, with data and what they must compute."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import ml_dtypes
import numpy as np
import ring
import tma_ring
from random_programs import Operand, Program

EXAMPLE = (Path(__file__).parents[2] / "examples" / "matmul.mlir").read_text()


@dataclass(frozen=True)
class Base:
    """A correct kernel.

    Attributes:
        text: the kernel with `smem` ops.
        entry, inputs, output, grid: how it is run.
        exact: the result in float64.
        bound: how far from it a result may be.
        reserved_bytes: an option of the lowering.
    """

    text: str
    entry: str
    inputs: dict[str, np.ndarray]
    output: str
    grid: tuple[int, ...] | None
    exact: np.ndarray
    bound: np.ndarray
    reserved_bytes: int


def _random(program: Program) -> Base:
    inputs = program.inputs()
    exact, bound = program.product(inputs)
    return Base(
        program.text, "product", inputs, "D", program.grid, exact, bound, program.reserved_bytes
    )


def _example() -> Base:
    random = np.random.default_rng(3)
    shapes = {"A": (128, 384), "B": (384, 256)}
    inputs = {
        name: random.standard_normal(shape).astype(ml_dtypes.bfloat16)
        for name, shape in shapes.items()
    }
    a, b = (inputs[name].astype(np.float64) for name in "AB")
    bound = 2.0**-12 * (np.abs(a) @ np.abs(b)) + 2.0**-8 * np.abs(a @ b)
    return Base(EXAMPLE, "matmul", inputs, "C", None, a @ b, bound, 0)


def _ring() -> Base:
    rows = np.arange(ring.STEPS * ring.LANES, dtype=np.int32).reshape(ring.STEPS, ring.LANES)
    exact = rows[:, ::-1].astype(np.float64)
    return Base(ring.TEXT, "ring", {"A": rows}, "D", (1,), exact, np.zeros_like(exact), 0)


def _tma_ring(blocks: int) -> Base:
    given = tma_ring.data(blocks, blocks)
    exact = np.stack([given] * blocks).astype(np.float64)
    text = tma_ring.text(blocks, blocks)
    return Base(text, "ring", {"A": given}, "D", (blocks,), exact, np.zeros_like(exact), 0)


def _program(a: str, b: str, b_major: str = "mn", view: int | None = None) -> Program:
    """Two chunks of K = 64, one warpgroup, M = 64, N = 128, one stage."""
    return Program(
        element="bf16",
        result="f32",
        column_major=False,
        m=64,
        n=128,
        k=64,
        chunks=2,
        stages=1,
        warpgroups=1,
        blocks=1,
        a=Operand("k", a, (0, 0), False, False),
        b=Operand(b_major, b, (0, 0), False, False),
        view=view,
        seed=1,
    )


_BASES: dict[str, Callable[[], Base]] = {
    # Without a swizzle every stride matters.
    "plain": lambda: _random(_program("none", "none")),
    "swizzled": lambda: _random(_program("128B", "64B")),
    "view": lambda: _random(_program("128B", "128B", "k", view=3)),
    # Four stages, cp.async, two warpgroups.
    "example": _example,
    # Two roles that hand over stages by mbarriers.
    "ring": _ring,
    # The same by bulk tensor copies, in one block and in a cluster of two that share them.
    "TMA": lambda: _tma_ring(1),
    "cluster": lambda: _tma_ring(2),
}

NAMES = tuple(_BASES)


@lru_cache
def base(name: str) -> Base:
    """The kernel of that name."""
    return _BASES[name]()
