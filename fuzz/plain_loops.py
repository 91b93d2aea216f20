"""Random kernels with plain loops, compared with the same source run as Python on NumPy arrays.

    python -m fuzz.plain_loops --seed 20261128 --count 10000

An input is a line of options, and the body of a kernel (`fuzz/looped/`). Elements are small whole
numbers, so that results are exact.
"""

import ast
import itertools
import linecache
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

import mlir_smem.language as sl

from .frame import Fuzzer, Wrong, main
from .looped.draw import draw
from .looped.meaning import arguments, bounded_by, language

#: The arguments of a kernel: operands, positions, scales, and what is added; then the result.
_SIGNATURE = "(M,K), (K,N), (N,K), (L):i32, (M,G):f32, (M,N):f32, (M,N):f32"

_ELEMENTS = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}

#: The head of a loop along K.
_HEAD = re.compile(r"^( *for k in sl\.range\(.*)\):$", re.MULTILINE)

#: Runs a kernel on arrays, by their names, with a grid; returns C.
Run: TypeAlias = Callable[[Any, dict[str, np.ndarray], tuple[int, int]], np.ndarray]

#: What was done, by the beginning of a remark.
_DONE = {"is specialized": "has a producer", "has stages": r"has \d+ stages of"}

_numbers = itertools.count()


def check(text: str) -> str:
    """Check a kernel on the emulator; return its outcome.

    Raises:
        Wrong: if it computes something else than Python.
    """
    return check_by(text, _emulate)


def check_by(text: str, run: Run) -> str:
    """Check a kernel; return its outcome.

    Args:
        text: the input.
        run: runs a kernel.

    Raises:
        Wrong: if it computes something else than Python.
    """
    options = ast.literal_eval(text.partition("\n")[0].removeprefix("# "))
    grid = _grid(text, options)
    try:
        expected = _result_of_python(text, options, grid)
    except (SyntaxError, NameError, LookupError, ValueError, TypeError, AttributeError):
        return "malformed"
    kernel = _kernel(text, options)
    computed = run(kernel, _arrays(options), grid)
    if not np.array_equal(computed, expected):
        row, column = np.argwhere(computed != expected)[0]
        message = f"C[{row}, {column}] is {computed[row, column]}, not {expected[row, column]}"
        raise Wrong("wrong result", "plain", message)
    return _outcome(kernel, options)


def _kernel(text: str, options: dict[str, Any]) -> Any:
    """Return the kernel, whose loop along K is marked."""
    asked = {name: options.get(name) for name in ("stages", "copies", "specialize", "overlap")}
    keywords = ", ".join(f"{name}={value!r}" for name, value in asked.items())
    source = _HEAD.sub(rf"\1, {keywords}):", text)
    names = {"sl": sl, "bounded": bounded_by(sl), "index": _index}
    return sl.kernel(_SIGNATURE)(_function(source, names))


def _outcome(kernel: Any, options: dict[str, Any]) -> str:
    """Return what became of the loop."""
    element = options["dtype"]
    types = (element, element, element, "i32", "f32", "f32", "f32")
    messages = [str(remark.message) for remark in kernel.explain(*types)]
    drawn = f" ({options['hindrance']})" if options["hindrance"] else ""
    late = [
        x
        for x in messages
        if x.startswith(("does not load early", "stays as it was", "is not specialized"))
    ]
    reasons = sorted(
        {re.sub(r" at <[^>]*>:[0-9:]*|[0-9]+", "", x.partition(": ")[2]) for x in late}
    )
    done = [name for name, look in _DONE.items() if any(re.match(look, x) for x in messages)]
    return (done[0] if done else "left alone") + "".join(f"; {x}" for x in reasons) + drawn


def _index(number: Any) -> Any:
    return sl.unsigned(number.to(sl.index))


def _grid(text: str, options: dict[str, Any]) -> tuple[int, int]:
    """Return how many thread blocks there are along x and y: those of a kernel that writes an operand do
    not share rows."""
    if "sl.grid_dim(0)" in text:
        return (1, 1) if "A[row, k" in text else (3, 1)
    rows = 128 if "bm, bn, bk = 128" in text else 64
    in_columns = "sl.block_id(0) * bn" in text and "A[row, k" not in text
    return 2 if in_columns else 1, -(-options["M"] // rows)


def _arrays(options: dict[str, Any]) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    m, n, k = options["M"], options["N"], options["K"]
    element = _ELEMENTS[options["dtype"]]
    shapes = {"A": (m, k), "B": (k, n), "W": (n, k)}
    arrays = {x: random.integers(-2, 3, shape).astype(element) for x, shape in shapes.items()}
    arrays["P"] = random.integers(0, 4, 8).astype(np.int32)
    arrays["S"] = random.integers(0, 3, (m, 8)).astype(np.float32)
    arrays["E"] = random.integers(-3, 4, (m, n)).astype(np.float32)
    arrays["C"] = np.full((m, n), 99, np.float32)
    return arrays


def _result_of_python(text: str, options: dict[str, Any], grid: tuple[int, int]) -> np.ndarray:
    """Return C of the kernel as Python."""
    arrays = _arrays(options)
    rows = int(re.search(r"bm, bn, bk = (\d+)", text)[1])  # pyright: ignore[reportOptionalSubscript]
    keys = re.search(r"keys, wide, row = (\d+)", text)
    for y, x in itertools.product(range(grid[1]), range(grid[0])):
        functions = language((x, y), grid, (rows, int(keys[1]) if keys else 0))
        names = {"sl": functions, "bounded": bounded_by(functions), "index": int}
        _function(text, names)(*arguments(arrays))
    return arrays["C"]


def _emulate(kernel: Any, arrays: dict[str, np.ndarray], grid: tuple[int, int]) -> np.ndarray:
    """Return C of a kernel on the emulator."""
    kernel[grid](*arrays.values(), on="cpu")
    return arrays["C"]


def _function(text: str, names: dict[str, Any]) -> Any:
    """Return the function of a source; its lines are readable for errors."""
    body = "\n".join(f"    {line}" for line in text.splitlines())
    source = f"def kernel(A, B, W, P, S, E, C):\n{body}\n"
    file = f"<plain loop {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = dict(names)
    exec(compile(source, file, "exec"), space)
    return space["kernel"]


FUZZER = Fuzzer("plain_loops", draw, check, suffix=".txt", lifetime=200, seconds=60)

if __name__ == "__main__":
    main(FUZZER)
