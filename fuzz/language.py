"""Random kernels of the language, compared with the same source run as Python on NumPy arrays.

A kernel has loops (also of no iteration), branches, unrolled loops, lists, functions that change
its variables, and counts of integers. Loops and branches of the reference are Python's own, so that a
variable that is carried wrongly, or read from another iteration, is seen. A kernel that the trace
refuses is not wrong.

An input is the body of the kernel. Elements are small whole numbers, so that results are exact.
"""

import itertools
import linecache
import re
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu

from .frame import Fuzzer, Wrong, main

_FRAGMENTS = ("x", "y", "z")
_INTEGERS = ("i", "n", "s")

_PROLOGUE = """\
x = sl.load(A)
y, z, i, n, s = x + 1.0, sl.zeros((64, 64), sl.f32), 0, 2, sl.signed(1)
both = [x, y]
def bump(by):
    nonlocal x, n
    x, n = sl.maximum(x, by) + 1.0, n + 1
"""

_EPILOGUE = """\
total = bounded(x + y * 2.0 + z * 3.0 + both[0] * 5.0 + both[1] * 7.0)
for position, number in enumerate((i, n, s)):
    total = sl.where(sl.iota(1) == position, (sl.iota(0) * 0 + number).to(sl.f32) + total * 0.0, total)
sl.store(total, D[sl.block_id(0), 0:64, 0:64])
"""

#: The most whole number that fragments keep.
_BOUND = 999.0

_STATEMENTS = 9

_numbers = itertools.count()


# -- drawing ---------------------------------------------------------------------------------------


def draw(random: Random) -> str:
    """Draw the body of a kernel."""
    return "\n".join(_block(random, random.randint(2, 6), 0)) + "\n"


def _block(random: Random, count: int, depth: int) -> list[str]:
    lines = [line for _ in range(count) for line in _statement(random, depth)]
    return lines or ["pass"]


def _statement(random: Random, depth: int) -> list[str]:
    kind = random.randrange(_STATEMENTS if depth < 3 else 5)
    if kind < 2:
        return [f"{random.choice(_FRAGMENTS)} = bounded({_fragment(random, 2)})"]
    if kind == 2:
        return [_count(random)]
    if kind == 3:
        return [
            random.choice(
                ("both = [both[1], bounded(both[0] + x)]", "bump(1.0)", "y = x", "z = both[0]")
            )
        ]
    if kind == 4:
        name, other = random.sample(_FRAGMENTS, 2)
        reduced = f"{other}.{random.choice(('max', 'min'))}(axis={random.randrange(2)})"
        return [f"{name} = bounded({other} - {reduced})"]
    body = ["    " + line for line in _block(random, random.randint(1, 3), depth + 1)]
    if kind == 5:
        return [f"for q{depth} in range({random.randint(0, 2)}):", *body]
    if kind == 6:
        lines = [f"with sl.when({_condition(random)}):", *body]
        if random.random() < 0.5:
            other = _block(random, random.randint(1, 2), depth + 1)
            lines += ["with sl.otherwise():", *("    " + line for line in other)]
        return lines
    stop = random.choice(("0", "1", "2", "3", "n % 3", "sl.block_id(0)", "i % 2 + 1"))
    return [f"for k{depth} in sl.range({stop}):", *body]


def _fragment(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.2:
        return random.choice((*_FRAGMENTS, "both[0]", "both[1]"))
    one, two = _fragment(random, depth - 1), _fragment(random, depth - 1)
    return random.choice(
        (
            f"({one} + {two})",
            f"({one} - 3.0)",
            f"sl.maximum({one}, {two})",
            f"sl.where({one} > {two}, {two}, {one} + 2.0)",
            f"sl.where(sl.iota({random.randrange(2)}) < {random.choice(_INTEGERS)}, {one}, {two})",
            f"(-{one})",
        )
    )


def _count(random: Random) -> str:
    name, other = random.choice(_INTEGERS), random.choice(_INTEGERS)
    if name == "s":
        return random.choice(("s = (s - 3) % 7 - 2", f"s = s // 2 - {other} % 3", "s = 1 - s % 5"))
    step = random.choice(("1", "2", f"{other} % 4", "sl.block_id(0)"))
    return f"{name} = ({name} + {step}) % {random.randint(3, 9)}"


def _condition(random: Random) -> str:
    one, two = random.choice(_INTEGERS), random.choice((*_INTEGERS, "1", "3"))
    simple = f"({one} + sl.block_id(0) {random.choice(('<', '<=', '==', '!=', '>', '>='))} {two})"
    return f"{simple} & ({_condition(random)})" if random.random() < 0.2 else simple


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
    return np.indices((64, 64))[axis].view(_Reference)


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


def bounded_by(language: Any) -> Any:
    """Return the function that keeps elements small."""

    def bounded(x: Any) -> Any:
        return language.maximum(language.minimum(x, _BOUND), -_BOUND)

    return bounded


def _function(body: str, names: dict[str, Any]) -> Any:
    """Return the function of a source; its lines are readable for errors.

    Raises:
        SyntaxError: if the body is not Python, as one whose lines were left out.
    """
    lines = [f"    {line}" for line in (_PROLOGUE + body + _EPILOGUE).splitlines()]
    source = "def kernel(A, D):\n" + "\n".join(lines) + "\n"
    file = f"<kernel {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = dict(names)
    exec(compile(source, file, "exec"), space)
    return space["kernel"]


def check(text: str) -> None:
    """Check the body of a kernel.

    Raises:
        Wrong: if the emulator computes something else than Python.
    """
    outcome(text)


def outcome(text: str) -> str:
    """Check a kernel, and return "computed", "refused: ..." or "malformed".

    Raises:
        Wrong: if the emulator computes something else than Python.
    """
    plain = re.sub(r"with sl\.when\((.*)\):", r"if \1:", text).replace(
        "with sl.otherwise():", "else:"
    )
    a = np.random.default_rng(1).integers(-9, 10, (64, 64)).astype(np.float32)
    d = np.zeros((2, 64, 64), np.float32)
    try:
        traced = _function(text, {"sl": sl, "bounded": bounded_by(sl)})
        expected = []
        for block in range(2):
            stored: list[Any] = []
            reference = _reference(block, stored)
            _function(plain, {"sl": reference, "bounded": bounded_by(reference)})(a, d)
            expected.append(stored[0])
    except (SyntaxError, NameError, IndexError, ValueError, TypeError):
        return "malformed"
    try:
        compiled = sl.kernel("(64,64), (2,64,64)", sync="manual")(traced).compile(
            sl.f32, sl.f32, emit="nvvm"
        )
    except sl.TraceError as error:
        return f"refused: {error.message}"
    found = run_on_cpu(compiled, None, {"A": a}, ["D"], grid=(2,))["D"]
    for block, (own, wanted) in enumerate(zip(found, expected, strict=True)):
        if not np.array_equal(own, wanted):
            raise Wrong("wrong result", f"block {block}", f"{own[0, :6]}, not {wanted[0, :6]}")
    return "computed"


FUZZER = Fuzzer("language", draw, check, suffix=".txt", lifetime=200)

if __name__ == "__main__":
    main(FUZZER)
