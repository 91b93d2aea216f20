"""The GEMM with one choice changed, relative to the usual configuration, on one GPU, interleaved.

    python benchmarks/gemm_steps.py [--shapes 4096x4096x4096 ...] [--rounds 7] [--record FILE]

bf16, A and B row-major; modes, data, checks and timing are those of `benchmarks/gemm.py`.
"""

import argparse
from dataclasses import replace

import torch
from gemm import per_unit, shape_of
from gemms import TYPES, Gemm
from interleaved import MODES, measure
from record import record
from tables import table
from torch_contenders import StreamContender

from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.runtime import Kernel, Prepared, cached_compile

_USUAL = "as it is"
_STEPS = {
    _USUAL: Config(),
    "clusters of 2, B shared": Config(cluster=(2, 1)),
    "clusters of 2, A shared": Config(cluster=(1, 2)),
    "clusters of 4": Config(cluster=(2, 2)),
    "K of 128 in 2 stages": Config(tile=(128, 256, 128), stages=2),
    "K of 32 in 8 stages": Config(tile=(128, 256, 32), stages=8),
    "tiles of 256x128": Config(tile=(256, 128, 64), store_columns=64),
    "tiles of 128x320": Config(tile=(128, 320, 64), stages=3, store_columns=64),
    "tiles of 128x192": Config(tile=(128, 192, 64), store_columns=64),
    "rows in groups of 4": Config(group=4),
    "rows in groups of 32": Config(group=32),
    "results in one buffer": Config(store_buffers=1),
    "results of 64 columns in one buffer": Config(store_columns=64, store_buffers=1),
    "results of 64 columns in 4 buffers": Config(store_columns=64, store_buffers=4),
}
_LATE = "begun when the kernel before has ended"


def prepare(config: Config, gemm: Gemm, programmatic: bool = True) -> Prepared:
    """The GEMM with a configuration; without `programmatic`, no programmatic dependent launch."""
    compiled = cached_compile(text(Problem(), config))
    (kernel_manifest,) = compiled.manifest["kernels"]
    kernels = [{**kernel_manifest, "programmatic": programmatic}]
    kernel = Kernel(replace(compiled, manifest={**compiled.manifest, "kernels": kernels}))
    m, n, k = gemm.shape
    grid = config.grid(m, n, k, kernel.resident_blocks())
    return kernel.prepare(*gemm.operands["NN"], gemm.out, grid=grid)


def contender(name: str, launch: Prepared, gemm: Gemm) -> StreamContender:
    """Make a contender of a configuration, and check its result."""

    def enqueue() -> None:
        launch.launch(torch.cuda.current_stream().cuda_stream)

    timed = StreamContender(name, enqueue, gemm.out, per_unit(gemm))
    gemm.check(name, timed.result())
    return timed


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shapes = [(4096, 4096, 4096), (8192, 8192, 1024)]
    arguments.add_argument("--shapes", nargs="+", type=shape_of, default=shapes)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    rows = []
    for shape in options.shapes:
        gemm = Gemm(TYPES["bf16"], shape)
        timed = [contender(n, prepare(c, gemm), gemm) for n, c in _STEPS.items()]
        late = prepare(_STEPS[_USUAL], gemm, programmatic=False)
        timed.append(contender(_LATE, late, gemm))
        for mode in MODES.values():
            times = measure(timed, mode, options.rounds)
            speeds = {n: gemm.operations / t.seconds / 1e12 for n, t in times.items()}
            rows.append({"shape": list(shape), "mode": mode.name, "tflops": speeds})
    heads = ["", *(f"{'x'.join(map(str, r['shape']))} {r['mode']}" for r in rows)]
    lines = [
        [
            name,
            *(
                f"{r['tflops'][name]:.0f} ({r['tflops'][name] / r['tflops'][_USUAL]:.3f})"
                for r in rows
            ),
        ]
        for name in rows[0]["tflops"]
    ]
    print(table(heads, lines, options.markdown))
    if options.record:
        record(options.record, {"rows": rows})


if __name__ == "__main__":
    main()
