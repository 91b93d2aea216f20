"""Random kernels of the language, compared with the same source run as Python on NumPy arrays.

A kernel has loops (also of no iteration), branches, unrolled loops, lists, functions that change
its variables, and counts of integers; Python's own statements on conditions of the kernel: `if`, `while`,
`range` of a bound of the kernel, early exits, conditional expressions, `and`, `or`, `not`, `min` and
`max`; and what Python keeps elsewhere: attributes, elements of lists and dictionaries, globals, closures,
generators (`fuzz/traced/`). Loops and branches of the
reference are Python's own, so that a value that is carried wrongly, or read from another iteration, is
seen. A kernel that the trace refuses is not wrong; which constructs are refused is recorded:

    python -m fuzz.language --seed 1 --count 20000 --record benchmarks/results/fuzz-language.json

An input is the body of the kernel. Elements are small whole numbers, so that results are exact.
"""

import itertools
import linecache
import re
from types import SimpleNamespace
from typing import Any

import numpy as np

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu

from .frame import Fuzzer, Wrong, main
from .traced.draw import draw
from .traced.source import EPILOGUE, MODULE, PROLOGUE, SUPPORTED, constructs

#: The most whole number that fragments keep.
_BOUND = 999.0

#: What is refused, by a part of the message.
_REFUSED = {
    "leaves the": "an early exit of a branch",
    "was left before its end": "an early exit of a loop",
    "gets or loses values": "a container that gets or loses values",
    "changes in the": "an iterator, a generator or a set that changes",
    "begin with a value of the kernel": "a Python value that changes in a branch",
    "which is traced once; a loop carries": "a Python value that changes in a loop",
    "is used here, but": "a value that is used after its loop or branch",
    "truth value": "a traced value as a truth value",
}

_numbers = itertools.count()


# -- checking --------------------------------------------------------------------------------------


class _Reference(np.ndarray):
    """A matrix, with the methods of a fragment."""

    def max(self, axis: int) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return np.max(np.asarray(self), axis=axis, keepdims=True).view(_Reference)

    def min(self, axis: int) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return np.min(np.asarray(self), axis=axis, keepdims=True).view(_Reference)

    def to(self, _: Any) -> Any:
        return self.astype(np.float32)


def _iota(axis: int) -> Any:
    return np.indices((64, 16))[axis].view(_Reference)


def _reference(block: int, stored: list[Any]) -> SimpleNamespace:
    """The functions of the language as functions of NumPy, for a thread block."""
    return SimpleNamespace(
        load=lambda a: a.copy().view(_Reference),
        zeros=lambda shape, _: np.zeros(shape, np.float32).view(_Reference),
        f32=np.float32,
        signed=lambda value: value,
        block_id=lambda _: block,
        maximum=lambda a, b: np.maximum(a, b).view(_Reference),
        minimum=lambda a, b: np.minimum(a, b).view(_Reference),
        where=lambda c, a, b: np.where(c, a, b).astype(np.float32).view(_Reference),
        iota=_iota,
        range=range,
        store=lambda value, _: stored.append(np.asarray(value)),
    )


def _max(*values: Any) -> Any:
    """Python's `max`, of matrices by their elements."""
    if any(isinstance(value, np.ndarray) for value in values):
        first, second = values
        return np.where(second > first, second, first).view(_Reference)
    return max(*values)


def bounded_by(language: Any) -> Any:
    """Return the function that keeps elements small."""

    def clamp(x: Any) -> Any:
        return language.maximum(language.minimum(x, _BOUND), -_BOUND)

    return clamp


def _function(body: str, names: dict[str, Any]) -> Any:
    """Return the function of a source; its lines are readable for errors.

    Raises:
        SyntaxError: if the body is not Python, as one whose lines were left out.
    """
    lines = [f"    {line}" for line in (PROLOGUE + body + EPILOGUE).splitlines()]
    source = MODULE + "def kernel(A, D):\n" + "\n".join(lines) + "\n"
    file = f"<kernel {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = dict(names)
    exec(compile(source, file, "exec"), space)
    return space["kernel"]


def check(text: str) -> str:
    """Check the body of a kernel; return its outcome, and of one that is refused the construct.

    Raises:
        Wrong: if the emulator computes something else than Python, or if a kernel is refused that has
            only what `docs/language.md` says is supported.
    """
    message = outcome(text)
    if not message.startswith("refused"):
        return message
    if SUPPORTED.issuperset(constructs(text)):
        raise Wrong("refused", "supported constructs", message)
    return "refused: " + next((name for look, name in _REFUSED.items() if look in message), "other")


def outcome(text: str) -> str:
    """Check a kernel, and return "computed", "refused: ..." or "malformed".

    Raises:
        Wrong: if the emulator computes something else than Python.
    """
    plain = re.sub(r"with sl\.when\((.*)\):", r"if \1:", text).replace(
        "with sl.otherwise():", "else:"
    )
    a = np.random.default_rng(1).integers(-9, 10, (64, 16)).astype(np.float32)
    d = np.zeros((2, 64, 16), np.float32)
    try:
        traced = _function(text, {"sl": sl, "bounded": bounded_by(sl)})
        expected = []
        for block in range(2):
            stored: list[Any] = []
            reference = _reference(block, stored)
            names = {"sl": reference, "bounded": bounded_by(reference), "max": _max}
            _function(plain, names)(a, d)
            # A kernel that returns early stores nothing.
            expected.append(stored[0] if stored else d[block])
    except (SyntaxError, NameError, LookupError, ValueError, TypeError, AttributeError):
        return "malformed"
    try:
        kernel = sl.kernel("(64,16), (2,64,16)", sync="manual", contract=False)(traced)
        compiled = kernel.compile(sl.f32, sl.f32, emit="nvvm")
    except sl.TraceError as error:
        return f"refused: {error.message}"
    outputs = run_on_cpu(compiled, None, {"A": a}, ["D"], grid=(2,))["D"]
    for block, (computed, correct) in enumerate(zip(outputs, expected, strict=True)):
        if not np.array_equal(computed, correct):
            raise Wrong("wrong result", f"block {block}", f"{computed[0]}, not {correct[0]}")
    return "computed"


# Loops of Python in each other are unrolled: a kernel of 150,000 instructions takes the emulator 25 s.
FUZZER = Fuzzer("language", draw, check, suffix=".txt", lifetime=200, seconds=90)

if __name__ == "__main__":
    main(FUZZER)
