"""Accuracy of math ops on a GPU, against the exact number and the emulator.

    python benchmarks/math_accuracy.py [--record FILE] [--only math.erf arith.remf] [--elements f32 f64]
                                       [--count 262144] [--jobs N] [--without-gpu]

Each op of `tests/support/math_cases.py`, of each element type, is a kernel of that op alone. Operands
are all bit patterns (one operand of 16 bits), or `--count` rows: special numbers in all combinations,
random bits from all parts of the patterns, and numbers of the intervals that matter. The number is
computed in long double. ULPs are the greatest of results that are held to ULPs; the record has the
absolute differences of others. Exits with 1 if a result is further from the number than NVIDIA
documents, if chip and emulator disagree about NaN, or if a case fails. `--without-gpu` does the
emulator's part alone.
"""

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from record import record
from tables import table

import mlir_smem
from mlir_smem.runtime import Kernel, LaunchError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from math_cases import FUNCTIONS, Array, Function
from math_runs import (
    THREADS,
    bounded_by_ulps,
    distance,
    kernel,
    on_chip,
    on_emulator,
    operands,
    outside,
    steps,
)

_COLUMNS = {
    "documented, ULP": "documented",
    "chip, ULP": "chip",
    "chip, absolute": "chip, absolute",
    "emulator, ULP": "emulator",
    "chip to emulator, steps": "apart",
    "outside": "outside",
    "NaN differs": "NaN differs",
}


def compare(
    function: Function, element: str, rows: list[Array], emulated: Array, measured: Array | None
) -> dict[str, Any]:
    """The statistics of an op: greatest errors, and counts of wrong results.

    Args:
        function, element: the op.
        rows: its operands.
        emulated, measured: the results of the emulator, and of the GPU if there is one.
    """
    with np.errstate(all="ignore"):
        wide = [x.astype(np.longdouble) for x in rows]
        exact = (function.exact(*wide) if function.exact else emulated).astype(np.longdouble)
        statistics: dict[str, Any] = {
            "function": str(function),
            "element": element,
            "rows": len(exact),
        }
        statistics["documented"] = str(function.error_bound(element) or "nothing")
        if function.exact:
            statistics["emulator"] = _most(distance(emulated, exact, element).ulps)
        if measured is None:
            return statistics
        far, apart = distance(measured, exact, element), steps(measured, emulated)
        wrong = outside(function, element, rows, far)
        by_ulps = bounded_by_ulps(function, element, rows)
    zeros = (measured == 0) & (emulated == 0)
    statistics |= {
        "chip": _most(far.ulps[by_ulps]) if by_ulps.any() else None,
        "apart": _most(apart[by_ulps]) if by_ulps.any() else None,
        "differ": int((apart != 0).sum()),
        "NaN differs": int((np.isnan(measured) != np.isnan(emulated)).sum()),
        "sign of zero differs": int((zeros & (np.signbit(measured) != np.signbit(emulated))).sum()),
        "outside": int(wrong.sum()),
    }
    if bound := function.error_bound(element):
        near = [
            (rows[0] >= low, rows[0] <= high, f"[{low:.4g}, {high:.4g}]")
            for (low, high), _ in bound.absolute
        ]
        inside = {text: far.difference[below & above] for below, above, text in near}
        if inside:
            statistics["chip, absolute"] = {x: float(d.max(initial=0)) for x, d in inside.items()}
    # Report a result beyond the bound; else the worst of those that are compared in ULPs.
    worst = int(np.argmax(wrong if wrong.any() else np.where(by_ulps, far.ulps, -1)))
    statistics["worst"] = {
        "operands": [repr(x[worst].item()) for x in rows],
        "chip": repr(float(measured[worst])),
        "emulator": repr(float(emulated[worst])),
        "number": str(exact[worst]),
    }
    return statistics


def _most(distances: Array) -> float:
    """The greatest error; NaN is counted separately."""
    return round(float(np.max(distances, where=np.isfinite(distances), initial=0)), 3)


def _emulate(index: int, element: str, count: int) -> Array:
    """Compute the emulator's results, in a separate process."""
    function = FUNCTIONS[index]
    with np.errstate(all="ignore"):
        return on_emulator(function, element, operands(function, element, count))


def case(
    index: int, element: str, count: int, emulated: Future[Array], gpu: bool
) -> dict[str, Any]:
    """Run an op on the GPU and on the emulator; return the error if one fails."""
    function = FUNCTIONS[index]
    try:
        with np.errstate(all="ignore"):
            rows = operands(function, element, count)
        measured = on_chip(function, element, rows) if gpu else None
        return compare(function, element, rows, emulated.result(), measured)
    except Exception as error:  # Report the failed case, and continue with the others.
        statistics = f"{type(error).__name__}: {error}"
        return {"function": str(function), "element": element, "error": statistics}


def fails(statistics: dict[str, Any]) -> bool:
    """Whether an op fails: beyond the documented error, or not a number where one is documented."""
    documented = statistics.get("documented") != "nothing"
    return "error" in statistics or bool(
        documented and (statistics.get("outside") or statistics.get("NaN differs"))
    )


def line(statistics: dict[str, Any]) -> list[str]:
    """A row of the table."""
    cells = [_cell(statistics.get(key, "")) for key in _COLUMNS.values()]
    if "error" in statistics:
        cells[0] = statistics["error"]
    return [f"{statistics['function']} {statistics['element']}", *cells]


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{most:.3g} in {interval}" for interval, most in value.items())
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)


def _why_not() -> str | None:
    """The reason why no kernel can run on a GPU; None if one can."""
    try:
        Kernel(mlir_smem.compile(kernel(FUNCTIONS[0], "f32", THREADS)))
    except LaunchError as error:
        return str(error)
    return None


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--record", help="write the result to this file")
    arguments.add_argument("--only", nargs="*", help="ops, by name")
    arguments.add_argument("--elements", nargs="*", default=["f16", "bf16", "f32", "f64"])
    arguments.add_argument("--count", type=int, default=1 << 18, help="rows of operands")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="emulators at a time")
    arguments.add_argument("--without-gpu", action="store_true")
    options = arguments.parse_args()
    selected = [
        (index, element)
        for index, function in enumerate(FUNCTIONS)
        for element in function.elements
        if element in options.elements
        and (not options.only or str(function).split()[0].rstrip(",") in options.only)
    ]
    if not selected:
        arguments.error("no op is of these names and elements")
    gpu = not options.without_gpu
    if gpu and (why := _why_not()):
        arguments.error(f"{why}; --without-gpu does the emulator's part alone")
    cases = []
    # CUDA does not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        emulated = [pool.submit(_emulate, *selection, options.count) for selection in selected]
        for selection, future in zip(selected, emulated, strict=True):
            cases.append(case(*selection, options.count, future, gpu))
            mark = "FAILS " if fails(cases[-1]) else ""
            print(mark + ", ".join(line(cases[-1])), flush=True)
    print(table(["op", *_COLUMNS], [line(statistics) for statistics in cases], markdown=False))
    if options.record:
        record(options.record, {"rows": options.count, "cases": cases})
    return int(any(map(fails, cases)))


if __name__ == "__main__":
    sys.exit(main())
