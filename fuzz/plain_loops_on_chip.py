"""Random kernels with plain loops on a Hopper GPU, compared with the same source as Python on NumPy.

    python -m fuzz.plain_loops_on_chip --seed 20261128 --count 500 --seconds 600 --jobs 8

Inputs are those of `fuzz.plain_loops`. `python -m fuzz` does not run it, since it needs a GPU.
"""

from typing import Any

import numpy as np

from mlir_smem.runtime import run_on_gpu

from .frame import Fuzzer, main
from .looped.draw import draw
from .plain_loops import check_by


def check(text: str) -> str:
    """Check a kernel; return its outcome.

    Raises:
        Wrong: if the chip computes something else than Python.
    """
    return check_by(text, _run)


def _run(kernel: Any, arrays: dict[str, np.ndarray], grid: tuple[int, int]) -> np.ndarray:
    """Return C of a kernel on the chip."""
    compiled = kernel.compile(*arrays.values())
    return run_on_gpu(compiled, None, arrays, ["C"], grid=(*grid, 1))["C"]


#: CUDA reserves addresses for all memory of the machine.
_GIGABYTES = 2.0**20

if __name__ == "__main__":
    fuzzer = Fuzzer(
        "plain_loops_on_chip", draw, check, ".txt", lifetime=200, seconds=60, gigabytes=_GIGABYTES
    )
    main(fuzzer)
