"""Times of plausible configurations and of cuBLAS over many shapes, to fit the model of time to.

    python benchmarks/sweep.py --record FILE [--seconds 500] [--count 400] [--seed 20] [--type bf16]
        [--layout NN] [--configs MODULE:FUNCTION] [--rounds 5] [--jobs N]

The shapes are `count` random ones and families of shapes that people call, in a random order, without
the test shapes. FUNCTION(problem, m, n, k) returns the configurations of a shape, which is left out if
there are none; by default `sweep_configs:configs`.

Kernels are compiled first, several at a time, into the cache (`MLIR_SMEM_CACHE`). Then each shape is
measured: in each round all configurations and torch.mm, in a random order, each in a CUDA graph and for
about 1.5 ms. The rows of a shape are on the disk before the next shape begins. The run stops
after `--seconds`, and the next one with the same arguments goes on with the shapes that are missing.
A result that differs from cuBLAS's by more than 1 % in the norm drops its configuration.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, wait
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

from interleaved import Mode, Times, measure
from sweep_record import CUBLAS, Record
from sweep_shapes import Shape, shapes

#: 1.5 ms of work; the warm chip comes from the shapes before.
MODE = Mode("sweep", work=0.0015, pause=0, warm_up=0)

#: Returns the configurations of a shape.
Configs = Callable[[Shape], Iterable[Any]]

#: Returns the contenders of a shape and the reasons for configurations that are left out. Contenders have
#: the configuration as their key; cuBLAS's is `CUBLAS`. Without it the shape is not measured.
Contenders = Callable[[Shape, Iterable[Any]], tuple[dict[Any, Any], dict[Any, str]]]


def sweep(
    record: Record,
    todo: Iterable[Shape],
    configs: Configs,
    contenders: Contenders,
    rounds: int,
    is_over: Callable[[], bool],
) -> Iterator[Shape]:
    """Measure shapes that have no row, and yield each when its row is on the disk."""
    measured_shapes = record.measured_shapes
    for shape in todo:
        if shape in measured_shapes:
            continue
        if is_over():
            return
        timed, dropped = contenders(shape, configs(shape))
        if CUBLAS not in timed:
            record.skip(shape, dropped[CUBLAS])
            record.write()
            yield shape
            continue
        times = measure(list(timed.values()), MODE, rounds)
        by_key: dict[Any, Times] = {key: times[contender.name] for key, contender in timed.items()}
        record.add(shape, by_key, dropped)
        record.write()
        yield shape


def compile_all(
    compile_one: Callable[[Any], str | None],
    kernels: Iterable[Any],
    jobs: Executor,
    seconds: Callable[[], float],
) -> dict[Any, str]:
    """Compile different kernels in parallel and return the reasons for those that failed.

    Args:
        compile_one: compiles one and returns an error message or None; it can be pickled.
        kernels: the kernels.
        jobs: runs the compilations.
        seconds: returns the seconds that are left.
    """
    futures = {jobs.submit(compile_one, kernel): kernel for kernel in dict.fromkeys(kernels)}
    done, unfinished = wait(futures, timeout=max(0.0, seconds()))
    for future in unfinished:
        future.cancel()
    reasons = {futures[future]: future.result() for future in done}
    reasons |= {futures[future]: "it was not compiled in time" for future in unfinished}
    return {kernel: reason for kernel, reason in reasons.items() if reason is not None}


def compile_kernel(kernel: tuple[Any, Any]) -> str | None:
    """Compile the kernel of a problem and a configuration into the cache."""
    from mlir_smem.kernels.gemm.generator.kernel import text
    from mlir_smem.runtime.tuning.compiling import compile_to_cache

    try:
        return compile_to_cache(text(*kernel))
    except Exception as error:  # not every exception can be pickled
        return f"{type(error).__name__}: {error}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--record", required=True, type=Path, help="the record to write or go on with"
    )
    parser.add_argument("--seconds", type=float, default=500, help="stop after these (500)")
    parser.add_argument("--count", type=int, default=400, help="random shapes (400)")
    parser.add_argument("--seed", type=int, default=20, help="seed of the shapes (20)")
    parser.add_argument("--type", default="bf16", help="a type of benchmarks/gemms.py (bf16)")
    parser.add_argument("--layout", default="NN", help="TN, NN or NT, as in gemms.py (NN)")
    parser.add_argument("--configs", default="sweep_configs:configs")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each (5)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that compile")
    return parser.parse_args()


def main() -> None:
    options = _options()
    end = monotonic() + options.seconds
    from sweep_contenders import Bench  # needs PyTorch and a GPU

    bench = Bench(options.type, options.layout)
    module, _, name = options.configs.partition(":")
    function = getattr(import_module(module), name)

    def configs(shape: Shape) -> list[Any]:
        return list(function(bench.problem, *shape))

    setup = {key: getattr(options, key) for key in ("type", "layout", "seed", "configs", "rounds")}
    record = Record(options.record, setup)
    all_shapes = shapes(options.count, options.seed)
    configs_by_shape = {
        shape: configs(shape) for shape in all_shapes if shape not in record.measured_shapes
    }
    todo = [shape for shape, shape_configs in configs_by_shape.items() if shape_configs]
    kernels = [(bench.problem, config) for shape in todo for config in configs_by_shape[shape]]
    # Three fifths of the time are left for measurements.
    compile_end = monotonic() + 0.4 * options.seconds
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as jobs:
        reasons = compile_all(compile_kernel, kernels, jobs, lambda: compile_end - monotonic())
        jobs.shutdown(cancel_futures=True)
    print(f"{len(set(kernels))} kernels, {len(reasons)} not compiled", file=sys.stderr)
    for (_, config), reason in list(reasons.items())[:5]:
        print(f"  {config}: {reason}", file=sys.stderr)
    bench.failed = {config: reason for (_, config), reason in reasons.items()}
    for count, shape in enumerate(
        sweep(
            record,
            todo,
            configs_by_shape.__getitem__,
            bench,
            options.rounds,
            lambda: monotonic() > end,
        ),
        1,
    ):
        if count % 20 == 0:
            print(f"{count} of {len(todo)}: {shape}, {end - monotonic():.0f} s left", flush=True)
    print(f"{len(record.rows)} of {len(all_shapes)} shapes are in the record")


if __name__ == "__main__":
    main()
