"""A two-layer MLP through `from_torch`, against `torch.compile` (max-autotune) in the same run.

    python benchmarks/from_torch.py [--rows 8192] [--rounds 7] [--record FILE]

The MLP has d = 4096, a hidden dimension of 14336 and gelu in its tanh form, in bf16. Both results are
compared with float64 on sampled rows; ours may have at most twice the error of the peer's. The method is
that of `gemm.py`: batches alternate, in a random order each round. The time to compile is given by part.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from interleaved import MODES, measure
from record import record
from torch_calls import Calls

from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import lower_linalg
from mlir_smem.frontend.torch_modules import export_torch

WIDTH, HIDDEN = 4096, 14336

#: Rows of the result that are compared with float64.
SAMPLED = 64


def mlp() -> torch.nn.Module:
    """The MLP."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(WIDTH, HIDDEN),
        torch.nn.GELU(approximate="tanh"),
        torch.nn.Linear(HIDDEN, WIDTH),
    ).to("cuda", torch.bfloat16)


def compile_module(
    module: torch.nn.Module, x: torch.Tensor
) -> tuple[Callable[[], Any], dict[str, float]]:
    """Our executable as a call, and the seconds of each part of its compilation."""
    parts: dict[str, float] = {}

    @contextmanager
    def time_part(name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        parts[name] = time.perf_counter() - start

    with time_part("PyTorch to linalg"):
        program = export_torch(module, [x])
    with new_context():
        with time_part("parsing"):
            linalg = parse_module(program.text)
        with time_part("linalg to kernels"):
            lower_linalg(linalg, math="approx")
        with time_part("kernels to cubins, host to machine code"):
            executable = Executable(linalg, "main")
    weights = [weight.detach() for weight in program.captured_tensors.values()]
    with time_part("first call"):
        executable(*weights, x)
        torch.cuda.synchronize()
    return lambda: executable(*weights, x), parts


def error(call: Callable[[], Any], module: torch.nn.Module, x: torch.Tensor) -> float:
    """The relative error in the norm on sampled rows."""
    rows = torch.randperm(x.shape[0], device="cuda")[:SAMPLED]
    first, _, second = module
    hidden = x[rows].double() @ first.weight.double().t() + first.bias.double()
    hidden = torch.nn.functional.gelu(hidden, approximate="tanh")
    exact = hidden @ second.weight.double().t() + second.bias.double()
    return float((call()[rows].double() - exact).norm() / exact.norm())


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--rows", type=int, default=8192)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    module = mlp()
    x = torch.randn(options.rows, WIDTH, device="cuda").bfloat16()
    with torch.no_grad():
        ours, parts = compile_module(module, x)
        start = time.perf_counter()
        inductor = torch.compile(module, mode="max-autotune-no-cudagraphs")
        inductor(x)
        torch.cuda.synchronize()
        parts["torch.compile, for comparison"] = time.perf_counter() - start
        contenders = [Calls("ours", ours), Calls("torch.compile", lambda: inductor(x))]
        errors = {contender.name: error(contender.call, module, x) for contender in contenders}
        if not errors["ours"] <= 2 * errors["torch.compile"]:
            print(f"error: the errors in the norm are {errors}", file=sys.stderr)
            return 1
        times = measure(contenders, MODES["sustained"], options.rounds)
    seconds = {name: times_of_call.seconds for name, times_of_call in times.items()}
    ratio = seconds["torch.compile"] / seconds["ours"]
    result = {
        "rows": options.rows,
        "microseconds": {name: round(1e6 * s, 1) for name, s in seconds.items()},
        "ratio": round(ratio, 4),
        "errors": errors,
        "compile_seconds": {name: round(s, 3) for name, s in parts.items()},
    }
    print(result)
    if options.record:
        record(options.record, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
