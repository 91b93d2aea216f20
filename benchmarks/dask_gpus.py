"""`tune` through Dask on one and on two GPUs of a machine, and on two of which one's worker is killed.

    python benchmarks/dask_gpus.py [--budget 4] [--record FILE] [SHAPE ...]

Each run has the compiled kernels of `warm --candidates`, but no results; each GPU has a worker of its
own. The results of all runs are collected in one table.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import Client
from record import record

SHAPES = ("2048x2048x2048", "512x4096x4096", "256x6144x4096", "1024x1024x8192")

#: Seconds from the start of the command to the end of a worker that is killed.
KILLED_AFTER = 6.0

_COMMAND = (sys.executable, "-m", "mlir_smem.kernels.gemm")


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("shapes", nargs="*", default=SHAPES, metavar="SHAPE")
    arguments.add_argument("--budget", default="4", help="seconds for a shape (4)")
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["MLIR_SMEM_CACHE"] = str(root / "warm")
        start = time.perf_counter()
        subprocess.run([*_COMMAND, "warm", "--candidates", *options.shapes], check=True)
        results: dict[str, object] = {"warm, seconds": round(time.perf_counter() - start, 1)}
        caches = []
        for name, gpus, kill in (
            ("one GPU", 1, False),
            ("two GPUs", 2, False),
            ("two GPUs, one worker killed", 2, True),
        ):
            caches.append(root / name)
            shutil.copytree(root / "warm", caches[-1])
            os.environ["MLIR_SMEM_CACHE"] = str(caches[-1])
            results[name] = tune_on_cluster(root / f"{name}.json", gpus, kill, options)
        table = [*_COMMAND, "table", *map(str, caches), "--out", str(root / "table.json")]
        process = subprocess.run(table, check=True, capture_output=True, text=True)
        results["table"] = process.stdout.strip().removeprefix(f"{root}/")
    print(results)
    if options.record:
        record(options.record, results)
    return 0


def tune_on_cluster(
    file: Path, gpus: int, kill: bool, options: argparse.Namespace
) -> dict[str, object]:
    """Return the seconds of `tune` by a cluster, and the speed and configuration of each shape.

    Args:
        file: the file to which the scheduler writes its address.
        gpus: the number of GPUs.
        kill: whether the first worker is killed while it measures.
        options: the shapes and the budget.
    """
    with cluster(file, gpus) as (address, workers):
        start = time.perf_counter()
        tune = [*_COMMAND, "tune", *options.shapes, "--budget", options.budget]
        command = subprocess.Popen(
            [*tune, "--executor", address], stdout=subprocess.PIPE, text=True
        )
        if kill:
            time.sleep(KILLED_AFTER)
            assert command.poll() is None, "the command ended before the worker was killed"
            workers[0].kill()
        output, _ = command.communicate()
        seconds = time.perf_counter() - start
        if command.returncode:
            raise SystemExit(f"tune ended with exit code {command.returncode}")
    matches = re.findall(r"^(\S+?):.*: (\S+) of the default's speed: (.*)$", output, re.MULTILINE)
    return {
        "seconds": round(seconds, 1),
        "speed": {shape: float(speed) for shape, speed, _ in matches},
        "config": {shape: config for shape, _, config in matches},
    }


@contextmanager
def cluster(file: Path, gpus: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler, and a worker for each GPU; yield the scheduler's address and the workers."""
    processes = [_start("scheduler", file, {}, "--host", "127.0.0.1", "--port", "0")]
    try:
        while not file.exists():
            time.sleep(0.1)
        for number in range(gpus):
            gpu = {"CUDA_VISIBLE_DEVICES": str(number)}
            options = ("--nthreads", "1", "--resources", "GPU=1", "--no-nanny")
            processes.append(_start("worker", file, gpu, *options))
        with Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(gpus, timeout=60)
            address = client.scheduler.address
        yield address, processes[1:]
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def _start(
    role: str, file: Path, environment: dict[str, str], *options: str
) -> "subprocess.Popen[bytes]":
    command = (sys.executable, "-m", f"distributed.cli.dask_{role}")
    return subprocess.Popen(
        [*command, "--scheduler-file", str(file), "--no-dashboard", *options],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    sys.exit(main())
