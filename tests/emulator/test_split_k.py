"""Split tiles on the emulator: exact sums, semaphores that reset themselves, and damage that is found."""

import re

import numpy as np
import pytest
from emulated import faults_of, run_text
from split_product import SMALL, SplitProduct

from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.fusion import trace_epilogue


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
    product = SplitProduct(Problem(), Config(**{**SMALL, **options}), *extents, resident)
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
    SplitProduct(problem, config, 72, 80, 5 * depth, 5).check()


def test_every_number_of_parts():
    """The parts of a row of K blocks, for all remainders of the division."""
    for resident in range(1, 12):
        SplitProduct(Problem(), Config(**SMALL, split_k=9), 64, 128, 7 * 64, resident).check()


def test_an_epilogue_sees_the_whole_sum():
    fusion = trace_epilogue(lambda x: x * x, [], "f32")
    product = SplitProduct(
        Problem(fusion=fusion, c="f32"), Config(**SMALL, split_k=3), 64, 64, 320, 3
    )
    arguments = product.arguments
    run_text(product.kernel.bytecode, "gemm", arguments, **product.options)
    expected = product.a.astype(np.float32) @ product.b.astype(np.float32)
    assert (arguments[2] == expected**2).all()


@pytest.fixture(scope="module")
def split():
    return SplitProduct(Problem(), Config(**SMALL, split_k=3), 64, 64, 320, 3)


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
    numbers = [number for number, line in enumerate(lines) if re.search(pattern, line)]
    removed = numbers if which is None else numbers[which : which + 1]
    assert removed
    damaged = "".join(line for number, line in enumerate(lines) if number not in removed)
    faults = faults_of(damaged, "gemm", split.arguments, **split.options)
    assert {fault.kind for fault in faults} & kinds, faults
