"""`python -m mlir_smem.kernels.gemm`: compile and tune kernels ahead, and collect results of `tune`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from math import inf
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn

from tqdm import tqdm

from ...codegen.targets import TARGETS
from ...runtime import cache_folder
from ...runtime.errors import LaunchError
from ...runtime.tuning.compiling import hidden_main_module, local_processes
from ...runtime.tuning.halving import TuningError
from .call.tuned_table import TableError, read_table, write_table
from .tuning.collecting import collect
from .tuning.shapes import GemmShape, GemmShapeError, parse_shape, read_shapes
from .tuning.warming import GemmKernel, kernels_of, warm

_PROGRAM = "python -m mlir_smem.kernels.gemm"


class _GemmParser(argparse.ArgumentParser):
    """An argument parser with one-line errors and exit code 1, as the tools'."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise SystemExit(1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 1 if anything could not be compiled."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except (GemmShapeError, TableError, LaunchError, OSError) as error:
        parser.error(str(error))


def _parser() -> _GemmParser:
    parser = _GemmParser(prog=_PROGRAM, description="Prepare GEMMs ahead of their first call.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_GemmParser)
    command = commands.add_parser(
        "warm",
        help="compile kernels into the cache",
        description="Compile the kernels of GEMMs into the cache (MLIR_SMEM_CACHE). Needs no GPU.",
    )
    _add_shapes(command)
    command.add_argument(
        "--candidates", action="store_true", help="also compile what `tune` would measure"
    )
    command.add_argument(
        "--arch", default="sm_90a", choices=sorted(TARGETS), help="the architecture (sm_90a)"
    )
    command.add_argument("--jobs", type=_jobs, help="processes that compile (processors - 1)")
    command.add_argument(
        "--executor", metavar="tcp://HOST:PORT", help="a Dask scheduler whose workers compile"
    )
    command.set_defaults(run=_warm)
    command = commands.add_parser(
        "tune",
        help="measure configurations, and keep the fastest",
        description="Find the fastest configurations of GEMMs of random matrices on the GPU, for later "
        "calls with the same cache (MLIR_SMEM_CACHE).",
    )
    _add_shapes(command)
    command.add_argument(
        "--budget", type=_seconds, metavar="SECONDS", help="about the time for a shape (no limit)"
    )
    command.add_argument(
        "--executor",
        metavar="tcp://HOST:PORT",
        help="a Dask scheduler whose workers measure, each with a resource GPU of 1",
    )
    command.set_defaults(run=_tune)
    command = commands.add_parser(
        "table",
        help="collect results of `tune` in a table",
        description="Collect the results of `tune` for one GPU, as the package has them.",
    )
    command.add_argument(
        "folders", nargs="*", type=Path, metavar="CACHE", help="caches (MLIR_SMEM_CACHE's folder)"
    )
    command.add_argument("--gpu", help="the GPU's name, if the caches have results of several")
    command.add_argument(
        "--out", type=Path, required=True, help="the table; the rows it has are kept"
    )
    command.set_defaults(run=_table)
    return parser


def _add_shapes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "shapes",
        nargs="*",
        metavar="MxNxK[:A,B,C[,LAYOUT]]",
        help="extents; MLIR's element types (bf16); NN, TN, NT or TT as cuBLAS names them",
    )
    command.add_argument("--from", dest="file", metavar="FILE", help="a file of shapes, one a line")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds; expected more than 0")
    return seconds


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes; expected 1 or more")
    return int(text)


def _shapes(options: argparse.Namespace) -> list[GemmShape]:
    shapes = [parse_shape(text) for text in options.shapes]
    if options.file is not None:
        try:
            lines = Path(options.file).read_text().splitlines()
        except UnicodeDecodeError:
            raise GemmShapeError(f"{options.file} is no text") from None
        shapes += read_shapes(lines, options.file)
    if not shapes:
        raise GemmShapeError("no shapes; expected MxNxK arguments or --from FILE")
    return list(dict.fromkeys(shapes))


@contextmanager
def _executor(options: argparse.Namespace) -> Iterator[Executor]:
    if options.executor is None:
        with local_processes(options.jobs) as pool, hidden_main_module():
            yield pool
        return
    with _client(options.executor) as client:
        yield client.get_executor()


def _client(address: str) -> Any:
    """Return a client of a Dask scheduler."""
    try:
        from distributed import Client
    except ImportError:
        raise OSError("--executor needs Dask: pip install distributed") from None
    return Client(address)


def _warm(options: argparse.Namespace) -> int:
    if cache_folder() is None:
        raise GemmShapeError(
            "the cache is off (MLIR_SMEM_CACHE), so compiled kernels would be lost"
        )
    shapes = _shapes(options)

    def progress(done: Iterator[Any], total: int) -> Iterable[Any]:
        return tqdm(done, "compiling", total, leave=False, unit="kernel", disable=None)

    kernels = kernels_of(shapes, options.candidates)
    with _executor(options) as executor:
        result = warm(kernels, options.arch, executor, progress)
    for state, kernels_of_state in (("compiled", result.compiled), ("cached", result.cached)):
        for kernel in kernels_of_state:
            print(f"{state:8} {_kernel_text(kernel)}")
    for kernel, reason in result.failed.items():
        print(f"failed   {_kernel_text(kernel)}: {reason}", file=sys.stderr)
    print(
        f"{len(shapes)} shapes, {len(kernels)} kernels: {len(result.compiled)} compiled, "
        f"{len(result.cached)} cached, {len(result.failed)} failed"
    )
    return 1 if result.failed else 0


def _tune(options: argparse.Namespace) -> int:
    # The other commands need no GPU, and no driver.
    from .tuning.tuner import Tuned, tune_shape

    if cache_folder() is None:
        raise GemmShapeError("the cache is off (MLIR_SMEM_CACHE), so results would be lost")
    shapes, failed = _shapes(options), 0
    with _client(options.executor) if options.executor else nullcontext() as client:
        gpus = _gpus(client) if client else [None]
        free: SimpleQueue[Executor | None] = SimpleQueue()
        for gpu in gpus:
            free.put(gpu)

        def tune_one(shape: GemmShape) -> Tuned | TuningError:
            gpu = free.get()
            try:
                return tune_shape(shape, gpu, progress=len(gpus) == 1, budget=options.budget)
            except TuningError as error:
                return error
            finally:
                free.put(gpu)

        # Without workers, this thread's GPU measures.
        with ThreadPoolExecutor(len(gpus)) if client else nullcontext() as pool:
            results = pool.map(tune_one, shapes) if pool else map(tune_one, shapes)
            bar = tqdm(results, "tuning", len(shapes), leave=False, unit="shape", disable=None)
            for shape, result in zip(shapes, bar, strict=True):
                if isinstance(result, TuningError):
                    print(f"{shape}: {result}", file=sys.stderr)
                    failed += 1
                    continue
                config, speed = result
                speed_text = (
                    "found before" if speed is None else f"{speed:.3f} of the default's speed"
                )
                print(f"{shape}: {speed_text}: {config}", flush=True)
    return 1 if failed else 0


def _gpus(client: Any) -> list[Executor | None]:
    """Return an executor for each worker of a cluster that has a GPU.

    Another worker does the tasks of one that has died. If there is no such worker yet, tasks wait for it.
    """
    workers = client.scheduler_info(n_workers=-1)["workers"]
    addresses = [
        address for address, worker in workers.items() if worker["resources"].get("GPU", 0)
    ]
    gpu = {"GPU": 1}
    return [
        client.get_executor(resources=gpu, workers=[address], allow_other_workers=True)
        for address in addresses
    ] or [client.get_executor(resources=gpu)]


def _table(options: argparse.Namespace) -> int:
    cache = cache_folder()
    folders: list[Path] = options.folders or ([cache] if cache else [])
    if not folders:
        raise TableError("the cache is off (MLIR_SMEM_CACHE); expected folders of caches")
    tables = collect(folders)
    if not tables:
        raise TableError(f"no results of tune in {', '.join(map(str, folders))}")
    gpu = options.gpu or next(iter(tables))
    if gpu not in tables or (options.gpu is None and len(tables) > 1):
        names = " or ".join(repr(name) for name in tables)
        problem_text = "is missing" if options.gpu is None else f"is {gpu!r}"
        raise TableError(f"--gpu {problem_text}; expected {names}")
    old = read_table(options.out, gpu) if options.out.exists() else {}
    write_table(options.out, gpu, old | tables[gpu])
    print(
        f"{options.out}: {gpu}, {len(old | tables[gpu])} GEMMs, {len(tables[gpu])} of them of "
        f"{len(folders)} caches"
    )
    return 0


def _kernel_text(kernel: GemmKernel) -> str:
    problem, config = kernel
    types = f"{problem.a},{problem.b},{problem.c}"
    return f"{types} {problem.a_major.upper()}{problem.b_major.upper()} {config}"


if __name__ == "__main__":
    sys.exit(main())
