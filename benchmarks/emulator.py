"""CPU seconds of the emulator, for each of some kernels, beside those of another version of it.

    OPENBLAS_NUM_THREADS=1 python benchmarks/emulator.py [--against FOLDER] [--rounds 3] [--record FILE]

`examples/matmul.mlir` in bf16 at several sizes; a warp-specialized persistent GEMM fed by TMA, and causal
attention (`emulated_kernels.py`). They are compiled in advance; medians of several runs. The work is the
number of multiply-adds; if the cost grows linearly, the time of a million does not depend on the size.
`--against` is the folder `emulator/` of another checkout. Both versions run in this process, in turn and
in random order, and must compute the same bytes. The whole command, `smem-run --on cpu` on files, is
timed for 256x256x256.
"""

import argparse
import importlib.util
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import ml_dtypes
import numpy as np
from emulated_kernels import Run, attention_run, gemm_run
from record import record

import mlir_smem
from mlir_smem.runtime import cpu, run_on_cpu

EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul.mlir"
SIZES = (
    (128, 256, 64),
    (256, 256, 256),
    (256, 512, 512),
    (512, 512, 512),
    (512, 512, 1024),
    (1024, 1024, 1024),
)
GEMM, HEADS, LENGTH = (512, 512, 512), 2, 1024


def matrices(m: int, n: int, k: int) -> dict[str, np.ndarray]:
    """Random normal A and B."""
    generator = np.random.default_rng(0)
    return {
        "A": generator.standard_normal((m, k)).astype(ml_dtypes.bfloat16),
        "B": generator.standard_normal((k, n)).astype(ml_dtypes.bfloat16),
    }


def matmul_run(compiled: mlir_smem.Compiled, m: int, n: int, k: int) -> Run:
    """Return a run of the example."""
    inputs = matrices(m, n, k)
    exact = inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)

    def run() -> np.ndarray:
        result = run_on_cpu(compiled, "matmul", inputs, ["C"])["C"]
        error = np.abs(result.astype(np.float64) - exact).max()
        assert error <= 2**-7 * np.abs(exact).max()
        return result

    return run


def rows() -> dict[str, tuple[int, Run]]:
    """Return the multiply-adds and a run of each row, by its name."""
    compiled = mlir_smem.compile(EXAMPLE.read_text(), emit="nvvm")
    rows_by_name: dict[str, tuple[int, Run]] = {
        f"matmul.mlir {m}x{n}x{k}": (m * n * k, matmul_run(compiled, m, n, k)) for m, n, k in SIZES
    }
    size = "x".join(map(str, GEMM))
    rows_by_name[f"GEMM, TMA, warp-specialized, {size}"] = math.prod(GEMM), gemm_run(*GEMM)
    work = HEADS * LENGTH * LENGTH * 64  # two products, half of each
    rows_by_name[f"attention, causal, {HEADS}x{LENGTH}x64"] = work, attention_run(HEADS, LENGTH)
    return rows_by_name


#: A version of the emulator: its `emulate`, and its parser of lowered text.
Version = tuple[Callable, Callable]


def emulator_of(folder: Path) -> Version:
    """Load another version of the emulator beside this one."""
    name = "mlir_smem.emulator_before"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec and spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Older versions read text; still older ones parse it themselves, and know one schedule.
    if hasattr(module, "parse_lowered"):
        return module.emulate, lambda code: module.parse_lowered(as_text(code))

    def emulate(*arguments: Any, schedule: int, **launch: Any) -> None:
        assert not schedule
        module.emulate(*arguments, **launch)

    return emulate, as_text


@cache
def as_text(bytecode: bytes) -> str:
    """Return a module as text with source locations."""
    return mlir_smem.Compiled({}, bytecode=bytecode).located or ""


def time_versions(run: Run, versions: dict[str, Version], rounds: int) -> dict[str, float]:
    """Return the median CPU seconds of a run on each version of the emulator.

    Raises:
        AssertionError: if the results differ.
    """
    seconds: dict[str, list[float]] = {name: [] for name in versions}
    results = set()
    for _ in range(rounds):
        for name in random.sample([*versions], len(versions)):
            cpu.emulate, cpu.parse_lowered = versions[name]
            start = time.process_time()
            results.add(run().tobytes())
            seconds[name].append(time.process_time() - start)
    assert len(results) == 1, "the versions compute different bytes"
    return {name: median(times) for name, times in seconds.items()}


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
    arguments.add_argument("--against", type=Path, help="the emulator of another checkout")
    arguments.add_argument("--record")
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    versions = {"cpu_s": (cpu.emulate, cpu.parse_lowered)}
    if options.against:
        versions["cpu_s_before"] = emulator_of(options.against)
    emulation_rows = []
    for name, (work, run) in rows().items():
        run()  # compiles, and decodes
        seconds = time_versions(run, versions, options.rounds)
        row: dict[str, object] = {"row": name}
        row |= {version: round(s, 3) for version, s in seconds.items()}
        row["ms_per_million"] = round(seconds["cpu_s"] / work * 1e9, 2)
        if options.against:
            row["ratio"] = round(seconds["cpu_s"] / seconds["cpu_s_before"], 3)
        emulation_rows.append(row)
        print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    whole = command(options.rounds)
    print(f"smem-run --on cpu on 256x256x256: {whole} s")
    if options.record:
        record(options.record, {"emulation": emulation_rows, "smem_run_256_s": whole})


if __name__ == "__main__":
    main()
