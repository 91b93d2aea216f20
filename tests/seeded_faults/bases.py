"""Correct kernels, with inputs and expected results."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import ml_dtypes
import numpy as np
import pipeline_kernel
import tma_pipeline

from fuzz.generated.gemms import GemmCase, GemmOperand
from fuzz.generated.kernels import KernelCase

EXAMPLE = (Path(__file__).parents[2] / "examples" / "matmul.mlir").read_text()


def _example() -> KernelCase:
    random = np.random.default_rng(3)
    shapes = {"A": (128, 384), "B": (384, 256)}
    inputs = {
        name: random.standard_normal(shape).astype(ml_dtypes.bfloat16)
        for name, shape in shapes.items()
    }
    a, b = (inputs[name].astype(np.float64) for name in "AB")
    bound = 2.0**-12 * (np.abs(a) @ np.abs(b)) + 2.0**-8 * np.abs(a @ b)
    return KernelCase(EXAMPLE, "matmul", inputs, "C", None, a @ b, bound)


def _pipeline() -> KernelCase:
    rows = np.arange(pipeline_kernel.STEPS * pipeline_kernel.LANES, dtype=np.int32).reshape(
        pipeline_kernel.STEPS, pipeline_kernel.LANES
    )
    exact = rows[:, ::-1].astype(np.float64)
    return KernelCase(
        pipeline_kernel.TEXT, "pipeline", {"A": rows}, "D", (1,), exact, np.zeros_like(exact)
    )


def _tma_pipeline(ctas: int) -> KernelCase:
    source = tma_pipeline.data(ctas, ctas)
    exact = np.stack([source] * ctas).astype(np.float64)
    text = tma_pipeline.text(ctas, ctas)
    return KernelCase(text, "pipeline", {"A": source}, "D", (ctas,), exact, np.zeros_like(exact))


def _program(a: str, b: str, b_major: str = "mn", view: int | None = None) -> GemmCase:
    """Two chunks of K = 64, one warpgroup, M = 64, N = 128, one stage."""
    return GemmCase(
        element="bf16",
        result="f32",
        column_major=False,
        m=64,
        n=128,
        k=64,
        chunks=2,
        stages=1,
        warpgroups=1,
        ctas=1,
        a=GemmOperand("k", a, (0, 0), False, False),
        b=GemmOperand(b_major, b, (0, 0), False, False),
        view=view,
        seed=1,
    )


_BASES: dict[str, Callable[[], KernelCase]] = {
    # Without a swizzle the result depends on every stride.
    "plain": lambda: _program("none", "none").kernel(),
    "swizzled": lambda: _program("128B", "64B").kernel(),
    "view": lambda: _program("128B", "128B", "k", view=3).kernel(),
    # Four stages, cp.async, two warpgroups.
    "example": _example,
    # Two partitions that pass stages to each other by mbarriers.
    "pipeline": _pipeline,
    # The same by bulk tensor copies, in one CTA and in a cluster of two that share the copies.
    "TMA": lambda: _tma_pipeline(1),
    "cluster": lambda: _tma_pipeline(2),
}

NAMES = tuple(_BASES)


@lru_cache
def base(name: str) -> KernelCase:
    """The kernel of that name."""
    return _BASES[name]()
