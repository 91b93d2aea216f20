"""Tiles whose parts a cluster adds, on the emulator: exact sums, and damage that is found."""

import numpy as np
import pytest
from emulated import faults_of, run_text
from split_product import SMALL, SplitProduct

from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.fusion import trace_epilogue


@pytest.mark.parametrize(
    "options, extents, ctas",
    [
        ({"cluster_k": 2}, (64, 64, 512), 2),
        ({"cluster_k": 4, "store_columns": 16}, (64, 64, 448), 4),
        ({"cluster_k": 8, "store_columns": 8}, (64, 64, 1024), 8),
        ({"cluster_k": 16, "store_columns": 8}, (64, 64, 1024), 16),
        # Fewer shares of 8 columns than CTAs.
        ({"cluster_k": 8, "tile": (64, 32, 64), "store_columns": 8}, (72, 40, 1024), 32),
        ({"cluster_k": 2, "tile": (64, 8, 64), "store_columns": 8}, (64, 8, 200), 2),
        # Several tiles, with edges of C and of K.
        ({"cluster_k": 2}, (200, 152, 312), 24),
        # Fewer K blocks than CTAs, which may have none.
        ({"cluster_k": 8, "store_columns": 8}, (64, 64, 128), 8),
        ({"cluster_k": 4, "store_columns": 16}, (72, 64, 40), 8),
        (
            {"cluster_k": 2, "tile": (128, 64, 64), "consumers": 2, "store_buffers": 4},
            (128, 72, 312),
            4,
        ),
        (
            {"cluster_k": 2, "tile": (64, 16, 64), "store_columns": 8, "exchanged": True},
            (8, 136, 512),
            6,
        ),
    ],
    ids=str,
)
def test_sums_are_exact(options, extents, ctas):
    product = SplitProduct(Problem(), Config(**{**SMALL, **options}), *extents, 8)
    assert product.grid == (ctas, 1)
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
    config = Config(**{**SMALL, "tile": (64, 64, depth), "store_columns": 16, "cluster_k": 4})
    SplitProduct(problem, config, 72, 80, 5 * depth, 5).check()


def test_an_epilogue_sees_the_whole_sum():
    fusion = trace_epilogue(lambda x, row, col: x * x, [], "f32")
    problem = Problem(fusion=fusion, c="f32")
    product = SplitProduct(problem, Config(**SMALL, cluster_k=2), 64, 64, 320, 3)
    arguments = product.arguments
    run_text(product.kernel.bytecode, "gemm", arguments, **product.options)
    expected = product.a.astype(np.float32) @ product.b.astype(np.float32)
    assert (arguments[2] == expected**2).all()


def test_the_sums_are_in_the_order_of_the_ranks():
    """Values of different magnitudes, of which every order of additions has another sum."""
    product = SplitProduct(Problem(c="f32"), Config(**SMALL, cluster_k=2), 64, 64, 256, 3)
    random = np.random.default_rng(0)
    scale = np.where(np.arange(256) < 128, 1e4, 1e-3)
    product.a = (random.standard_normal((64, 256)) * scale).astype(product.a.dtype)
    arguments = product.arguments
    run_text(product.kernel.bytecode, "gemm", arguments, **product.options)
    parts = []
    for half in (slice(0, 128), slice(128, 256)):
        alone = SplitProduct(Problem(c="f32"), Config(**SMALL), 64, 64, 128, 3)
        alone.a = np.ascontiguousarray(product.a[:, half])
        alone.b = np.ascontiguousarray(product.b[half])
        half_arguments = alone.arguments
        run_text(alone.kernel.bytecode, "gemm", half_arguments, **alone.options)
        parts.append(half_arguments[2])
    assert arguments[2].tobytes() == (parts[0] + parts[1]).tobytes()


@pytest.mark.parametrize("which, kind", [(0, ViolationKind.RACE), (1, ViolationKind.EXITED)])
def test_a_barrier_that_is_missing_is_found(which, kind):
    """Either barrier of the cluster: the one before the sum, in both partitions, and the last one."""
    product = SplitProduct(Problem(), Config(**SMALL, cluster_k=2), 64, 64, 320, 3)
    lines = product.kernel.located.splitlines(keepends=True)
    barriers = [number for number, line in enumerate(lines) if "nvvm.cluster." in line]
    assert len(barriers) == 6
    removed = barriers[:4] if which == 0 else barriers[4:]
    damaged = "".join(line for number, line in enumerate(lines) if number not in removed)
    faults = faults_of(damaged, "gemm", product.arguments, **product.options)
    assert kind in {fault.kind for fault in faults}, faults
