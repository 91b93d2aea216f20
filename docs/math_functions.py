"""Print docs/math_functions.md: how math ops are lowered, and the errors of their results."""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from math_cases import FUNCTIONS, Function
from tables import table

_RECORD = Path(__file__).parents[1] / "benchmarks" / "results" / "math-h200.json"

_INTRODUCTION = """# Math functions

Ops of `math`, `arith.maxnumf`, `arith.minnumf` and `arith.remf` compile for f16, bf16, f32 and f64, and
for vectors of them; so do the equivalent ops of the LLVM dialect (`llvm.intr.exp`).
[The emulator](emulator.md) executes all of them except `math.fma` of f64.

- **Exact instructions**: `absf`, `ceil`, `clampf`, `copysign`, `floor`, `fma`, `isfinite`, `isinf`,
  `isnan`, `isnormal`, `round`, `roundeven`, `sqrt`, `trunc`, `arith.maxnumf`, `arith.minnumf`, and of
  integers `absi`, `ctlz`, `ctpop`, `cttz`.
- **Approximate instructions of f32**, for up to 32 bits: `exp2` and `rsqrt`, as in libdevice; with
  `fastmath<afn>` also `cos`, `exp`, `log`, `log10`, `log2`, `powf`, `sin`, `sincos`, `sqrt`, `tan`,
  `tanh`, and `arith.divf`, which is 0 for a finite divisor beyond 2^126. `exp2` with it is
  `ex2.approx.ftz`: a result below 2^-126 is 0. Without, three more instructions keep subnormal numbers.
- **Inlined code of libdevice**, NVIDIA's library: all others. Subnormal numbers are kept, and square
  roots within functions are rounded to nearest. 16-bit operands are computed in f32 and rounded once
  more. `cos`, `powf`, `sin`, `sincos` and `tan` of f64 remain calls within the module.
- **Errors** at the op: `math.ipowi`, other element types.

libdevice is the `libdevice.10.bc` of `MLIR_SMEM_LIBDEVICE`, else of the wheel `nvidia-nvvm` (installed
with this package on Linux), else of the toolkit in `CUDA_ROOT`, `CUDA_HOME` or `CUDA_PATH`, or of the
`ptxas` on the `PATH`. Without it, most ops are errors. A kernel can call its functions if it declares
them: `llvm.func @__nv_hypotf(f32, f32) -> f32`.

## Errors

Errors are in units in the last place (ULP), for f32, f64, f16 and bf16; that of a correctly rounded
result is at most 0.5. Left out are 16-bit types where the chip's error is at most 0.5 and its result at
most a step from the emulator's; f64 of `fma` and with `fastmath<afn>` (or -); and errors in ULP where
NVIDIA bounds only the absolute one (`sin`, `cos`).

- *Documented* is what NVIDIA allows for f32 and f64 (sources: `tests/support/math_cases.py`), from the
  correctly rounded result: half a ULP more from the exact one. The last rounding of a 16-bit type adds
  half a ULP of that type.
- *Chip* is the largest error from the exact result; where an absolute error is allowed, it follows, and
  the error in ULP is that of the other results.
- *To the emulator* is the number of steps between numbers of the type from its result, which is computed
  in f64 and rounded once, to the chip's.

`sin` and `cos` with `fastmath<afn>` are compared with a bound of 2^-20.25 within 2π, not with the
2^-20.5 of the PTX ISA: the error of an H200's `cos.approx` of -4.8274598 is 2^-20.48. `powf` with
`fastmath<afn>` is `exp2(y log2 x)`, as CUDA's `__powf`. So it is NaN for a negative `x`, for 0 to the
power of 0 and for 1 to the power of infinity.

"""

_MEASURED = """[Measured on an H200](../benchmarks/results/math-h200.json) by
`benchmarks/math_accuracy.py`: all bit patterns for ops of one 16-bit operand, otherwise {rows} rows:
special numbers in all combinations, random bits, and numbers of the intervals where functions change.
`pytest tests/gpu/test_math_on_chip.py` compares every op with the documented error.

"""

_UNMEASURED = """No chip has been measured yet. On a GPU,
`python benchmarks/math_accuracy.py --record benchmarks/results/math-h200.json` measures, and `make docs`
then fills in the columns. `pytest tests/gpu/test_math_on_chip.py` compares every op with the documented
error.

"""

_COLUMNS = ("op", "documented")


def main() -> None:
    print(_INTRODUCTION, end="")
    if not _RECORD.exists():
        print(_UNMEASURED, end="")
        print(
            table(_COLUMNS, [_documented_bounds(function) for function in FUNCTIONS], markdown=True)
        )
        return
    record = json.loads(_RECORD.read_text())
    cases = {(case["function"], case["element"]): case for case in record["cases"]}
    print(_MEASURED.format(rows=f"{record['rows']:,}"), end="")
    elements = ("f32", "f64", "f16", "bf16")
    rows = dict[tuple[str, ...], list[str]]()  # the ops of each row of figures
    for function in FUNCTIONS:
        function_cases = [cases.get((str(function), element), {}) for element in elements]
        if all(_is_rounded(case) for case in function_cases[2:]):
            del function_cases[2:]
        op, documented = _documented_bounds(function)
        chip = _join_figures([_measured_errors(case) for case in function_cases])
        apart = _join_figures([_number(case.get("apart")) for case in function_cases])
        rows.setdefault((documented, chip, apart), []).append(op)
    lines = [[", ".join(ops), *figures] for figures, ops in rows.items()]
    print(table((*_COLUMNS, "chip", "to the emulator"), lines, markdown=True))


def _join_figures(figures: list[str]) -> str:
    """Return the figures of the types, without those missing at the end; one if all are equal."""
    if len({*figures}) == 1:
        return figures[0]
    return ", ".join(figure or "-" for figure in figures).rstrip(" -,")


def _is_rounded(case: dict[str, Any]) -> bool:
    """Tell whether a function's results are rounded correctly, and at most a step apart."""
    return not case or ((case["chip"] or 0) <= 0.5 and (case["apart"] or 0) <= 1)


def _documented_bounds(function: Function) -> list[str]:
    bounds = [str(bound or "") for bound in (function.f32, function.f64)]
    return [f"`{function}`", _join_figures(bounds).replace("|", "\\|")]


def _measured_errors(case: dict[str, Any]) -> str:
    """Return the errors of the chip's results."""
    # Rounding to 16 bits is most of the error of a 16-bit type.
    bounded_errors = case.get("chip, absolute", {}).items() if case.get("element") == "f32" else ()
    absolute = [f"{most:.2g} in {interval}" for interval, most in bounded_errors]
    return "; ".join(filter(None, [_number(case.get("chip")), *absolute]))


def _number(distance: Any) -> str:
    return "" if distance is None else f"{distance:.4g}"


if __name__ == "__main__":
    main()
