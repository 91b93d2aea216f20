"""The GEMM of `kernels/gemm` on the emulator.

Its results are exact; the emulator reports violations when it is damaged.
"""

import re

import ml_dtypes
import numpy as np
import pytest
from emulated import faults_of, run_text

import mlir_smem
from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir
from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm.generator.config import Config
from mlir_smem.kernels.gemm.generator.kernel import build
from mlir_smem.kernels.gemm.generator.problem import Problem
from mlir_smem.runtime.arguments import DTYPES

pytestmark = pytest.mark.sampled(2)

BF16 = ml_dtypes.bfloat16


def compiled(problem, config):
    with new_context(), ir.Location.unknown():
        text = str(build(problem, config))
    return mlir_smem.compile(text, emit="nvvm")


def matrices(problem, m, n, k):
    random = np.random.default_rng(m + n + k)
    majors = ("C" if problem.a_major == "k" else "F", "C" if problem.b_major == "n" else "F")
    a, b = (
        np.asarray(random.integers(-3, 4, shape).astype(BF16), order=major)
        for shape, major in zip(((m, k), (k, n)), majors, strict=True)
    )
    return a, b, np.zeros((m, n), BF16, order="C" if problem.c_major == "n" else "F")


def options(kernel, config, grid):
    shared = kernel.manifest["kernels"][0]["shared_bytes"]
    return {"block": 128 * (1 + config.consumers), "grid": grid, "shared": shared}


@pytest.mark.parametrize(
    "problem, cluster, consumers, extents",
    [
        (Problem(), (1, 1), 2, (256, 128, 128)),
        (Problem(), (2, 1), 2, (200, 264, 136)),
        (Problem(b_major="k"), (1, 2), 2, (136, 256, 64)),
        # More K blocks than stages: CTAs wait for others of their row and column.
        (Problem(a_major="m"), (2, 2), 1, (256, 256, 200)),
        (Problem(a_major="m", b_major="k", c_major="m"), (1, 1), 2, (200, 136, 136)),
    ],
)
def test_gemm_is_exact(problem, cluster, consumers, extents):
    config = Config(tile=(128, 128, 64), cluster=cluster, consumers=consumers, stages=2)
    kernel = compiled(problem, config)
    a, b, c = matrices(problem, *extents)
    run_text(kernel.located, "gemm", (a, b, c), **options(kernel, config, cluster))
    # Sums of small integers are exact in f32.
    assert (c == (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16)).all()


def integers(rng, shape, dtype):
    """Small integers, whose sums of products are exact."""
    return rng.integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize("columns", [8, 16, 24])
@pytest.mark.parametrize("consumers", [1, 2])
def test_few_rows(columns, consumers):
    """A few rows times a large matrix, as the product of the exchanged matrices."""
    problem = Problem(a_major="k", b_major="n").exchanged
    config = Config((64 * consumers, columns, 64), 4, consumers=consumers, store_columns=columns)
    kernel = compiled(problem, config)
    a, b, c = matrices(problem, 200, columns - 3, 320)
    run_text(kernel.located, "gemm", (a, b, c), **options(kernel, config, (2, 1)))
    assert (c == (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16)).all()


@pytest.mark.parametrize(
    "a, b, c, config",
    [
        ("i8", "i8", "i32", Config(tile=(128, 256, 128), store_columns=64)),
        ("f32", "f32", "f32", Config(tile=(128, 256, 32), store_columns=64)),
        (
            "f8E4M3FN",
            "f8E5M2",
            "bf16",
            Config(tile=(128, 128, 128), store_buffers=3, store_columns=32),
        ),
        (
            "bf16",
            "bf16",
            "f32",
            Config(tile=(64, 64, 64), consumers=1, store_buffers=4, store_columns=32),
        ),
    ],
)
def test_types_and_buffers(a, b, c, config):
    """Two CTAs compute several tiles each, so that buffers and phases are used again."""
    majors = ("k", "k") if a != "bf16" else ("k", "n")
    kernel = compiled(Problem(a, b, c, *majors), config)
    rng, dtypes = np.random.default_rng(7), [DTYPES[name] for name in (a, b, c)]
    m, n, k = 2 * config.tile[0] + 8, 2 * config.tile[1] + 16, config.tile[2] + 16
    first = integers(rng, (m, k), dtypes[0])
    second = np.asarray(integers(rng, (k, n), dtypes[1]), order="F" if majors[1] == "k" else "C")
    found = np.zeros((m, n), dtypes[2])
    run_text(kernel.located, "gemm", (first, second, found), **options(kernel, config, (2, 1)))
    expected = first.astype(np.float32) @ second.astype(np.float32)
    assert (found == expected.astype(dtypes[2])).all()


CONFIG = Config(tile=(128, 128, 64), cluster=(2, 1), stages=2)


@pytest.fixture(scope="module")
def lowered():
    return compiled(Problem(), CONFIG)


def dropped(text, op, *which):
    """The text without some of the lines that contain an op; `which` counts them from 0, default all."""
    lines = text.splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if re.search(op, line)]
    removed = {found[i] for i in which} if which else set(found)
    assert removed
    return "".join(line for number, line in enumerate(lines) if number not in removed)


#: The lines that are removed, and violations of which the emulator reports at least one.
FAULTS = {
    "the consumers' waits for full stages": (
        (r"try_wait\.parity", 2, 3),
        {ViolationKind.COPY_IN_FLIGHT, ViolationKind.UNINITIALISED},
    ),
    "the producer's wait for empty stages": (
        (r"try_wait\.parity", 0),
        {ViolationKind.OVERWRITTEN, ViolationKind.COPY_IN_FLIGHT, ViolationKind.BARRIER},
    ),
    "the bytes of A": ((r"mbarrier\.expect_tx", 0), {ViolationKind.BARRIER}),
    "the wait for mma before a stage is released": (
        (r"wgmma\.wait\.group",),
        {ViolationKind.OVERWRITTEN},
    ),
    "the arrivals in other CTAs": ((r"mbarrier\.arrive .*ptr<7>",), {ViolationKind.DEADLOCK}),
    "the fence before a store": ((r"fence\.proxy",), {ViolationKind.UNFENCED}),
    "the wait for a buffer that is written": (
        (r"try_wait\.parity", 1),
        {ViolationKind.RACE, ViolationKind.UNINITIALISED},
    ),
    "the wait for a buffer that is free": ((r"try_wait\.parity", 4), {ViolationKind.OVERWRITTEN}),
    "the wait before a buffer is released": ((r"bulk\.wait_group 1",), {ViolationKind.OVERWRITTEN}),
    "the commit of stores": ((r"bulk\.commit",), {ViolationKind.OVERWRITTEN}),
    "the last barrier of the cluster": ((r"cluster\.(arrive|wait) ", 2, 3), {ViolationKind.EXITED}),
    "the first barrier of the cluster": ((r"cluster\.(arrive|wait) ", 0, 1), {ViolationKind.RACE}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_damage_is_found(name, lowered):
    edit, kinds = FAULTS[name]
    arrays = matrices(Problem(), 512, 128, 256)
    text = dropped(lowered.located, *edit)
    found = faults_of(text, "gemm", arrays, **options(lowered, CONFIG, (2, 1)))
    assert {fault.kind for fault in found} & kinds, found
