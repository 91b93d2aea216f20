"""Configurations that do not fit are refused; the message has the arithmetic and what would fit."""

from dataclasses import replace

import pytest

import mlir_smem
from mlir_smem.kernels.gemm import Config, ConfigError, Problem
from mlir_smem.kernels.gemm.generator.candidates import choose
from mlir_smem.kernels.gemm.generator.kernel import text

BF16 = Problem()
TF32 = Problem("f32", "f32", "f32", b_major="k")
S8 = Problem("i8", "i8", "i32", b_major="k")

REFUSED = {
    "one stage": (BF16, {"stages": 1}, "stages is 1; expected 2 or more"),
    "no group": (BF16, {"group": 0}, "group is 0; expected 1 or more"),
    "no columns": (BF16, {"store_columns": 0}, "store_columns is 0; expected 1 or more"),
    "no buffers": (BF16, {"store_buffers": 0}, "store_buffers is 0; expected 1 or more"),
    "consumers": (BF16, {"consumers": 4}, "consumers is 4; expected 1 or 2 or 3 warpgroups"),
    "M": (
        BF16,
        {"tile": (192, 128, 64)},
        "the tile's M is 192; expected a multiple of 128 (2 consumers of 64 rows each), for example "
        "128 or 256",
    ),
    "N": (
        BF16,
        {"tile": (128, 100, 64)},
        "the tile's N is 100; expected a multiple of 8 (columns of an instruction), for example 96 or "
        "104",
    ),
    "no N": (
        BF16,
        {"tile": (128, 0, 64)},
        "the tile's N is 0; expected a multiple of 8 (columns of an instruction), for example 8",
    ),
    "K of bf16": (
        BF16,
        {"tile": (128, 256, 40)},
        "the tile's K is 40; expected a multiple of 16 (32 bytes of bf16), for example 32 or 48",
    ),
    "K of i8": (
        S8,
        {"tile": (128, 256, 48)},
        "the tile's K is 48; expected a multiple of 32 (32 bytes of i8), for example 32 or 64",
    ),
    "K of tf32": (
        TF32,
        {"tile": (128, 256, 4)},
        "the tile's K is 4; expected a multiple of 8 (32 bytes of f32), for example 8",
    ),
    "columns that do not divide N": (
        BF16,
        {"tile": (128, 48, 64), "store_columns": 32},
        "store_columns is 32; expected a multiple of 8 that divides the tile's N = 48: 8 or 16 or 24 or "
        "48",
    ),
    "a cluster of three": (
        BF16,
        {"cluster": (3, 1)},
        "the cluster is 3x1 CTAs; expected 1 or 2 or 4 along M and N, and at most 8 CTAs",
    ),
    "a large cluster": (
        BF16,
        {"cluster": (4, 4)},
        "the cluster is 4x4 CTAs; expected 1 or 2 or 4 along M and N, and at most 8 CTAs",
    ),
    "shares of B": (
        replace(BF16, b_major="k"),
        {"tile": (128, 24, 64), "cluster": (2, 1), "store_columns": 24},
        "2 CTAs share the load of B along N, where the tile has 24 elements; expected a multiple of "
        "2 * 8 = 16, for example 16 or 32",
    ),
    "shares of N-major B": (
        BF16,
        {"tile": (128, 256, 16), "cluster": (4, 1)},
        "4 CTAs share the load of B along K, where the tile has 16 elements; expected a multiple of "
        "4 * 8 = 32, for example 32",
    ),
    "shares of M-major A": (
        replace(BF16, a_major="m"),
        {"tile": (128, 256, 16), "cluster": (1, 4)},
        "4 CTAs share the load of A along K, where the tile has 16 elements; expected a multiple of "
        "4 * 8 = 32, for example 32",
    ),
    "three CTAs that add": (
        BF16,
        {"cluster_k": 3},
        "cluster_k is 3; expected 1 or 2 or 4 or 8 or 16 CTAs of a cluster",
    ),
    "CTAs that add and share loads": (
        BF16,
        {"cluster_k": 2, "cluster": (2, 1)},
        "cluster_k is 2, with clusters of 2x1 and split_k = 1; expected cluster=(1, 1) and split_k=1",
    ),
    "CTAs that add, and a workspace": (
        BF16,
        {"cluster_k": 4, "split_k": 2},
        "cluster_k is 4, with clusters of 1x1 and split_k = 2; expected cluster=(1, 1) and split_k=1",
    ),
    "shares of a tile": (
        BF16,
        {"tile": (128, 72, 64), "cluster_k": 2, "store_columns": 8},
        "each of 2 CTAs stores an equal share of a tile's 72 columns; expected a multiple of 2 * 8 = 16, "
        "for example 64 or 80",
    ),
    "columns of a share": (
        BF16,
        {"tile": (128, 64, 64), "cluster_k": 4, "store_columns": 32},
        "store_columns is 32; expected a multiple of 8 that divides the tile's N = 64 / 4 = 16: 8 or 16",
    ),
    "shared memory of a part": (
        BF16,
        {"cluster_k": 2, "stages": 4, "store_columns": 64},
        "a CTA needs 278592 bytes of shared memory, but has 232448: 4 stages * (128 * 64 * 2 + 64 * "
        "256 * 2) = 196608, 2 buffers * 64 * 64 * 2 = 16384 to store, 128 * 128 * 4 = 65536 of a part, "
        "(4 + 0) * 16 = 64 of mbarriers; 3 stages fit",
    ),
    "registers": (
        BF16,
        {"tile": (256, 256, 64), "stages": 2},
        "a thread of 2 consumers has at most 160 registers for its accumulator of 128x256, which takes "
        "2 * 256 / 2 = 256; expected N up to 160",
    ),
    "registers of three": (
        BF16,
        {"tile": (192, 256, 64), "stages": 2, "consumers": 3},
        "a thread of 3 consumers has at most 96 registers for its accumulator of 64x256, which takes "
        "1 * 256 / 2 = 128; expected N up to 192",
    ),
    "shared memory": (
        BF16,
        {"stages": 5},
        "a CTA needs 278672 bytes of shared memory, but has 232448: 5 stages * (128 * 64 * 2 + 64 * "
        "256 * 2) = 245760, 2 buffers * 64 * 128 * 2 = 32768 to store, (5 + 4) * 16 = 144 of mbarriers; "
        "4 stages fit",
    ),
    "shared memory, whatever the stages": (
        BF16,
        {"tile": (128, 256, 256), "stages": 2},
        "a CTA needs 426080 bytes of shared memory, but has 232448: 2 stages * (128 * 256 * 2 + 256 * "
        "256 * 2) = 393216, 2 buffers * 64 * 128 * 2 = 32768 to store, (2 + 4) * 16 = 96 of mbarriers; a "
        "smaller tile would fit",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name):
    problem, changes, message = REFUSED[name]
    with pytest.raises(ConfigError) as error:
        Config(**changes).check(problem)
    assert str(error.value) == message


def test_no_kernel_is_built_from_it():
    with pytest.raises(ConfigError, match="stages is 1"):
        text(BF16, Config(stages=1))


#: Limits that just fit: the next value is refused above, or does not assemble without spills.
POSSIBLE = {
    "all of shared memory": (BF16, Config()),
    "registers of one": (BF16, Config((128, 208, 64), 2, consumers=1, store_columns=16)),
    "registers of two": (BF16, Config((256, 160, 64), 3, store_columns=80)),
    "registers of three": (BF16, Config((192, 192, 64), 4, consumers=3, store_columns=64)),
    "the smallest": (BF16, Config((64, 8, 16), 2, consumers=1, store_columns=8)),
    "shares of B": (BF16, Config((128, 256, 32), cluster=(4, 2))),
    "parts of two": (BF16, Config((128, 128, 64), 4, store_columns=32, cluster_k=2)),
    "N of integers": (S8, Config((128, 40, 128), store_columns=8)),
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_limits_compile_without_spills(name):
    problem, config = POSSIBLE[name]
    config.check(problem)
    compiled = mlir_smem.compile(text(problem, config))
    assert compiled.report.spill_bytes == 0
    assert compiled.report.warnings == ()
    assert compiled.manifest["kernels"][0]["shared_bytes"] == config.shared_bytes(problem)


@pytest.mark.parametrize("problem", [BF16, TF32, S8, replace(BF16, c="f32")], ids=str)
def test_the_default_fits(problem):
    choose(problem, 4096, 4096, 4096).check(problem)
