"""`examples/matmul.mlir` against cuBLAS on one GPU, bf16, in TFLOP/s.

    python benchmarks/example.py [--size 4096] [--record FILE]

All contenders stay warm and alternate, about 30 ms at a time for several rounds, timed around
synchronized batches; medians. cuBLAS (torch.mm) runs in the three orders that row-major or transposed
operands give. Random normal data; ours is checked against float64 of a part of the result, and
against cuBLAS of the whole.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
from record import record

import mlir_smem
from mlir_smem.runtime import Kernel

EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul.mlir"
ROUNDS = 9
ROUND_SECONDS = 0.03


def seconds(call: Callable[[], None], times: int) -> float:
    """Seconds of one call, over a batch."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times


def check(result: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> float:
    """Checks a bf16 product; the relative error of its first rows against float64."""
    rows = 256
    exact = a[:rows].double() @ b.double()
    error = float((result[:rows].double() - exact).norm() / exact.norm())
    # Rounding to bf16 alone is 2^-9 at most, 0.0017 on average of normal data.
    assert error < 2**-8, error
    close = torch.allclose(result.float(), torch.mm(a, b).float(), rtol=2**-6, atol=2.0)
    assert close, "differs from cuBLAS"
    return error


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--size", type=int, default=4096)
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    n = options.size

    kernel = Kernel(mlir_smem.compile(EXAMPLE.read_text()))
    torch.manual_seed(0)
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    a_columns, b_columns = a.t().contiguous().t(), b.t().contiguous().t()
    c = torch.full((n, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    kernel.launch(a, b, c)
    torch.cuda.synchronize()
    error = check(c, a, b)

    contenders: dict[str, Callable[[], None]] = {
        "examples/matmul.mlir": lambda: kernel.launch(a, b, c),
        "cuBLAS, A and B row-major": lambda: torch.mm(a, b, out=c),
        "cuBLAS, B column-major": lambda: torch.mm(a, b_columns, out=c),
        "cuBLAS, A column-major": lambda: torch.mm(a_columns, b, out=c),
    }
    batches = {name: max(1, int(ROUND_SECONDS / seconds(f, 20))) for name, f in contenders.items()}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, call in contenders.items():
            times[name].append(seconds(call, batches[name]))
    rates = {name: round(2 * n**3 / median(t) / 1e12, 1) for name, t in times.items()}
    ratio = round(rates["examples/matmul.mlir"] / max(list(rates.values())[1:]), 3)
    for name, rate in rates.items():
        print(f"{name:28} {rate:7.1f} TFLOP/s")
    print(f"ours / best cuBLAS: {ratio}; relative error against float64: {error:.2e}")
    if options.record:
        result = {"size": n, "tflops": rates, "ratio to best cuBLAS": ratio, "error": error}
        record(options.record, result | {"rounds": ROUNDS, "round_seconds": ROUND_SECONDS})


if __name__ == "__main__":
    main()
