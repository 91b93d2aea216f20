"""Split tiles on the emulator: exact sums, semaphores that reset themselves, and damage that is found."""

import re

import ml_dtypes
import numpy as np
import pytest
from emulated import faults_of, run_text

import mlir_smem
from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.fusion import fused
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.kernels.gemm.generator.workspace import workspace_extents
from mlir_smem.runtime.arguments import DTYPES

pytestmark = pytest.mark.sampled(2)

BF16 = ml_dtypes.bfloat16
SMALL = {"tile": (64, 64, 64), "consumers": 1, "stages": 3, "store_columns": 32}


class Split:
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
        return self.a, self.b, c, self.parts, self.semaphores

    def check(self):
        arguments = self.arguments
        run_text(self.kernel.located, "gemm", arguments, **self.options)
        expected = self.a.astype(np.float32) @ self.b.astype(np.float32)
        assert (arguments[2] == expected.astype(DTYPES[self.problem.c])).all()
        assert not self.semaphores.any()


@pytest.mark.parametrize(
    "options, extents, resident, ctas",
    [
        # Split-K: all parts are equal.
        ({"split_k": 4}, (64, 64, 512), 8, 4),
        # Parts that differ, and edges of C.
        ({"split_k": 3}, (128, 64, 448), 8, 6),
        # Stream-K: a last wave that is not full, together with a full one.
        ({"split_k": 2}, (200, 152, 312), 7, 7),
        ({"split_k": 2}, (192, 192, 192), 4, 4),
        # Full waves: nothing is streamed.
        ({"split_k": 2}, (256, 256, 128), 4, 4),
        # Fewer K blocks than parts.
        ({"split_k": 8}, (64, 64, 128), 8, 2),
        (
            {"split_k": 8, "tile": (128, 64, 64), "consumers": 2, "store_buffers": 4},
            (256, 200, 312),
            7,
            7,
        ),
        ({"split_k": 4, "cluster": (2, 1)}, (256, 128, 256), 16, 16),
        ({"split_k": 4, "cluster": (1, 2)}, (64, 256, 256), 12, 12),
        (
            {"split_k": 8, "tile": (64, 16, 64), "store_columns": 16, "exchanged": True},
            (8, 136, 1024),
            12,
            12,
        ),
    ],
    ids=str,
)
def test_sums_are_exact(options, extents, resident, ctas):
    product = Split(Problem(), Config(**{**SMALL, **options}), *extents, resident)
    assert product.grid[0] * product.grid[1] == ctas
    product.check()
    # The semaphores are as they were before the launch.
    product.check()


@pytest.mark.parametrize(
    "problem",
    [
        Problem(c="f32"),
        Problem("i8", "i8", "i32", b_major="k"),
        Problem("f8E4M3FN", "f8E5M2", "bf16", b_major="k"),
        Problem("f32", "f32", "f32", b_major="k"),
    ],
    ids=str,
)
def test_types(problem):
    depth = {"f32": 32, "bf16": 64}.get(problem.a, 128)
    config = Config(**{**SMALL, "tile": (64, 64, depth), "split_k": 3})
    Split(problem, config, 72, 80, 5 * depth, 5).check()


def test_every_number_of_parts():
    """The parts of a row of K blocks, for all remainders of the division."""
    for resident in range(1, 12):
        Split(Problem(), Config(**SMALL, split_k=9), 64, 128, 7 * 64, resident).check()


def test_an_epilogue_sees_the_whole_sum():
    fusion = fused(lambda x: x * x, [], "f32")
    product = Split(Problem(fusion=fusion, c="f32"), Config(**SMALL, split_k=3), 64, 64, 320, 3)
    arguments = product.arguments
    run_text(product.kernel.located, "gemm", arguments, **product.options)
    expected = product.a.astype(np.float32) @ product.b.astype(np.float32)
    assert (arguments[2] == expected**2).all()


@pytest.fixture(scope="module")
def split():
    return Split(Problem(), Config(**SMALL, split_k=3), 64, 64, 320, 3)


#: The lines that are removed, which of them, and violations of which the emulator reports at least one.
FAULTS = {
    "the fence before an arrival": (r"llvm\.fence ", 0, {ViolationKind.RACE}),
    "the fence after it": (r"llvm\.fence ", 1, {ViolationKind.RACE}),
    "the fence before a store": (r"fence\.proxy", None, {ViolationKind.UNFENCED}),
    "the commit of stores": (
        r"bulk\.commit",
        None,
        {ViolationKind.EXITED, ViolationKind.OVERWRITTEN},
    ),
}


def test_the_undamaged_kernel_breaks_no_rule(split):
    assert not faults_of(split.kernel.located, "gemm", split.arguments, **split.options)


@pytest.mark.parametrize("name", FAULTS)
def test_damage_is_found(name, split):
    pattern, which, kinds = FAULTS[name]
    lines = split.kernel.located.splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if re.search(pattern, line)]
    removed = found if which is None else found[which : which + 1]
    assert removed
    damaged = "".join(line for number, line in enumerate(lines) if number not in removed)
    found = faults_of(damaged, "gemm", split.arguments, **split.options)
    assert {fault.kind for fault in found} & kinds, found
