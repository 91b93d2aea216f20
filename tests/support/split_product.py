"""Products of small integers on the emulator, of which K is split among CTAs."""

import numpy as np
from emulated import run_text

import mlir_smem
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.kernels.gemm.generator.workspace import workspace_extents
from mlir_smem.runtime.arguments import DTYPES

#: A small configuration of one consumer.
SMALL = {"tile": (64, 64, 64), "consumers": 1, "stages": 3, "store_columns": 32}


class SplitProduct:
    """A product of small integers on the emulator, of which K is split."""

    def __init__(self, problem, config, m, n, k, resident):
        self.problem, self.config = config.kernel_problem(problem), config
        self.grid = config.grid(m, n, k, resident)
        self.kernel = mlir_smem.compile(text(problem, config), emit="nvvm")
        self.m, self.n = (n, m) if config.exchanged else (m, n)
        extents = workspace_extents(problem, config, self.grid[0] * self.grid[1])
        random = np.random.default_rng(m + n + k)
        self.a = self._array(
            random.integers(-3, 4, (self.m, k)), problem.a, self.problem.a_major == "k"
        )
        self.b = self._array(
            random.integers(-3, 4, (k, self.n)), problem.b, self.problem.b_major == "n"
        )
        dtype = np.int32 if problem.c == "i32" else np.float32
        fill = 7 if dtype is np.int32 else np.nan
        self.parts = np.full((extents.rows, extents.columns), fill, dtype)
        self.semaphores = np.zeros(extents.semaphores, np.int32)

    def _array(self, values, element, by_rows):
        return np.asarray(values.astype(DTYPES[element]), order="C" if by_rows else "F")

    @property
    def options(self):
        shared = self.kernel.manifest["kernels"][0]["shared_bytes"]
        return {"block": 128 * (1 + self.config.consumers), "grid": self.grid, "shared": shared}

    @property
    def arguments(self):
        c = self._array(np.zeros((self.m, self.n)), self.problem.c, self.problem.c_major == "n")
        workspace = (self.parts, self.semaphores) if self.config.split_k > 1 else ()
        return self.a, self.b, c, *workspace

    def check(self):
        arguments = self.arguments
        run_text(self.kernel.bytecode, "gemm", arguments, **self.options)
        expected = self.a.astype(np.float32) @ self.b.astype(np.float32)
        assert (arguments[2] == expected.astype(DTYPES[self.problem.c])).all()
        assert not self.semaphores.any()
