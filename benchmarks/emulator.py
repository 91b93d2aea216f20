"""Time of the emulator on the example, by the size of the GEMM.

    python benchmarks/emulator.py [--record FILE] [--rounds 3]

`examples/matmul.mlir` in bf16, compiled in advance; medians of several runs. The work is the number of
multiply-adds; if the cost grows linearly, the time for a million of them does not depend on the size.
The whole command, `smem-run --on cpu` on files, is timed for 256x256x256.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import ml_dtypes
import numpy as np
from record import record

import mlir_smem
from mlir_smem.runtime import run_on_cpu

EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul.mlir"
SIZES = ((128, 256, 64), (256, 256, 256), (256, 512, 512), (512, 512, 1024), (1024, 1024, 1024))


def matrices(m: int, n: int, k: int) -> dict[str, np.ndarray]:
    """Random normal A and B."""
    random = np.random.default_rng(0)
    return {
        "A": random.standard_normal((m, k)).astype(ml_dtypes.bfloat16),
        "B": random.standard_normal((k, n)).astype(ml_dtypes.bfloat16),
    }


def emulation(size: tuple[int, int, int], rounds: int) -> dict[str, object]:
    """Median seconds of a run, and of a million multiply-adds."""
    compiled = mlir_smem.compile(EXAMPLE.read_text(), emit="nvvm")
    inputs = matrices(*size)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = run_on_cpu(compiled, "matmul", inputs, ["C"])["C"].astype(np.float64)
        times.append(time.perf_counter() - start)
    exact = inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)
    assert np.abs(result - exact).max() <= 2**-7 * np.abs(exact).max()
    m, n, k = size
    seconds = median(times)
    per_million = seconds / (m * n * k) * 1e6
    return {
        "size": list(size),
        "s": round(seconds, 3),
        "ms_per_million": round(per_million * 1e3, 2),
    }


def command(rounds: int) -> float:
    """Median seconds of `smem-run --on cpu` on 256x256x256."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, array in matrices(256, 256, 256).items():
            np.save(f"{folder}/{name}.npy", array.astype(np.float32))
            files += ["--in", f"{name}={folder}/{name}.npy"]
        run = [str(Path(sys.executable).parent / "smem-run"), str(EXAMPLE), *files]
        run += ["--out", f"C={folder}/C.npy", "--on", "cpu"]
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            subprocess.run(run, check=True, capture_output=True)
            times.append(time.perf_counter() - start)
    return round(median(times), 2)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--record")
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    results = []
    for size in SIZES:
        results.append(emulation(size, options.rounds))
        m, n, k = size
        found = results[-1]
        print(f"{m}x{n}x{k}: {found['s']} s, {found['ms_per_million']} ms a million multiply-adds")
    whole = command(options.rounds)
    print(f"smem-run --on cpu on 256x256x256: {whole} s")
    if options.record:
        record(options.record, {"emulation": results, "smem_run_256_s": whole})


if __name__ == "__main__":
    main()
