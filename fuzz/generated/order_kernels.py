"""Kernels of the language in program order: traced, and run as Python on NumPy arrays."""

import itertools
import linecache
import re
from types import SimpleNamespace
from typing import Any

import numpy as np

import mlir_smem.language as sl

from . import order_text
from .kernels import KernelCase

_numbers = itertools.count()

#: The loop bound T of kernels of the language, in two runs.
_BOUNDS = (3, 0)

_HELPERS = """\
def small(x):
    return sl.maximum(sl.minimum(x, 2.0), -2.0)
x, y, z = (sl.zeros((rows, 64), sl.f32) for _ in range(3))
"""


def _header(text: str, name: str) -> int:
    match = re.search(rf"^# {name} = (\d+)$", text, re.MULTILINE)
    return int(match[1]) if match else 1


def _function(text: str, head: str, names: dict[str, Any]) -> Any:
    """Return the function of a source; its lines are readable for errors.

    Raises:
        SyntaxError: if the body is not Python, as one whose lines were left out.
    """
    lines = [f"    {line}" for line in (head + _HELPERS + text).splitlines()]
    source = "def kernel(A, B, D, T):\n" + "\n".join(lines) + "\n"
    file = f"<kernel {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = dict(names)
    exec(compile(source, file, "exec"), space)
    return space["kernel"]


_TRACED = """\
first = sl.warpgroup_id() * 64 if warpgroups > 1 else 0
own = sl.ds(first, 64)
rows = 64
a_block = lambda at: sl.ds(at % 4 * (64 * warpgroups), 64 * warpgroups)
b_block = lambda at: sl.ds(at % 4 * 64, 64)
out = lambda at: sl.ds(at * (64 * warpgroups) + first, 64)
a, b = sl.alloc((stages, 64 * warpgroups, 64), sl.f16), sl.alloc((stages, 64, 64), sl.f16)
"""

_RUN = """\
own = slice(None)
rows = 64 * warpgroups
a_block = out = lambda at: slice(at % 4 * rows, (at % 4 + 1) * rows)
b_block = lambda at: slice(at % 4 * 64, (at % 4 + 1) * 64)
a, b = np.zeros((stages, rows, 64), np.float16), np.zeros((stages, 64, 64), np.float16)
"""


class _Matrix(np.ndarray):
    """A matrix, with the method of a fragment."""

    def to(self, dtype: Any) -> Any:
        return self.astype(dtype)


def _reference() -> SimpleNamespace:
    """The functions of the language as functions of NumPy, for all warpgroups together."""

    def copy(source: Any, tile: Any) -> None:
        tile[...] = source

    def mma(a: Any, b: Any, acc: Any = 0.0) -> Any:
        product = np.asarray(a, np.float32) @ np.asarray(b, np.float32) + acc
        return np.asarray(product, np.float32).view(_Matrix)

    def store(value: Any, target: Any) -> None:
        target[...] = value

    return SimpleNamespace(
        copy=copy,
        copy_async=copy,
        mma=mma,
        store=store,
        load=lambda a: a.copy().view(_Matrix),
        zeros=lambda shape, _: np.zeros(shape, np.float32).view(_Matrix),
        maximum=lambda a, b: np.maximum(a, b).view(_Matrix),
        minimum=lambda a, b: np.minimum(a, b).view(_Matrix),
        range=range,
        block_id=lambda _: 0,
        f16=np.float16,
        f32=np.float32,
    )


def language_kernels(text: str) -> list[KernelCase]:
    """Return the kernel that a source is, with the results for several bounds of its loops.

    Raises:
        SyntaxError, NameError: if lines of the source are missing.
        TraceError: if the language refuses it.
    """
    warpgroups, stages = _header(text, "warpgroups"), max(_header(text, "stages"), 1)
    sizes = {"warpgroups": warpgroups, "stages": stages}
    traced = _function(text, _TRACED, {"sl": sl, **sizes})
    plain = re.sub(r"with sl\.when\((.*)\):", r"if \1:", text)
    run = _function(plain, _RUN, {"sl": _reference(), "np": np, **sizes})
    random = np.random.default_rng(1)
    rows = order_text.BLOCKS * 64 * warpgroups
    a = random.integers(-1, 2, (rows, 64)).astype(np.float16)
    b = random.integers(-1, 2, (order_text.BLOCKS * 64, 64)).astype(np.float16)
    signature = f"({rows},64):f16, ({order_text.BLOCKS * 64},64):f16, ({rows},64):f32, ():index"
    module = sl.kernel(signature, warpgroups=warpgroups)(traced).mlir(
        sl.f16, sl.f16, sl.f32, sl.index
    )
    kernels = []
    for bound in _BOUNDS:
        expected = np.zeros((rows, 64), np.float32)
        run(a, b, expected, bound)
        kernels.append(
            KernelCase(
                module,
                "kernel",
                {"A": a, "B": b, "D": np.zeros_like(expected), "T": bound},
                "D",
                (1,),
                expected.astype(np.float64),
                np.zeros_like(expected, np.float64),
            )
        )
    return kernels
