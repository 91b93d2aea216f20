"""Candidates for a GEMM: they fit, they differ, and the best estimate is first."""

from dataclasses import replace

import pytest

from mlir_smem.kernels.gemm import Problem
from mlir_smem.kernels.gemm.generator.candidates import MAX_CANDIDATES, candidates

PROBLEMS = [
    Problem(),
    Problem(a_major="m", b_major="k", c="f32"),
    Problem("f16", "f16", "f16"),
    Problem("f32", "f32", "f32", b_major="k"),
    Problem("f8E4M3FN", "f8E5M2", "f32", b_major="k"),
    Problem("i8", "ui8", "i32", b_major="k"),
]
EXTENTS = [(8192, 8192, 8192), (512, 512, 4096), (1, 4096, 4096), (4096, 8, 64), (1, 1, 1)]


@pytest.mark.parametrize("extents", EXTENTS, ids=str)
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_they_fit_and_differ(problem, extents):
    found = candidates(problem, *extents)
    assert 8 <= len(found) <= MAX_CANDIDATES
    assert len(set(found)) == len(found)
    for config in found:
        config.check(problem)


def test_as_many_stages_as_fit():
    for config in candidates(Problem(), 4096, 4096, 4096):
        if config.stages < 8:
            deeper = replace(config, stages=config.stages + 1)
            assert deeper.shared_bytes(Problem()) > 227 * 1024


def test_narrower_epilogue_tiles_allow_a_fourth_stage():
    found = {config.tile[:2]: config for config in candidates(Problem(), 4096, 4096, 4096)}
    tight, roomy = found[256, 128], found[128, 128]
    assert (tight.stages, tight.store_columns) == (4, 64)
    assert replace(tight, store_columns=128).max_stages(Problem()) == 3
    assert (roomy.stages, roomy.store_columns) == (6, 128)


def test_a_large_gemm_has_large_tiles():
    found = candidates(Problem(), 8192, 8192, 8192)
    first = found[0]
    assert (first.tile, first.stages, first.cluster, first.group) == ((128, 256, 64), 4, (1, 1), 16)
    assert (first.consumers, first.store_columns, first.store_buffers) == (2, 128, 2)
    variants = [config for config in found if config.tile == first.tile]
    assert {config.group for config in variants} == {8, 16, 32}
    assert {config.cluster for config in variants} == {(1, 1), (2, 1), (1, 2)}
    stores = {(config.store_columns, config.store_buffers) for config in variants}
    assert stores == {(128, 2), (64, 4), (128, 1)}
    assert {(256, 128), (128, 128), (128, 192)} <= {config.tile[:2] for config in found}


def test_a_small_gemm_uses_all_multiprocessors():
    tile = candidates(Problem(), 512, 512, 4096)[0].tile
    assert 100 <= 512 // tile[0] * 512 // tile[1] <= 132


def test_few_rows_or_columns_are_not_padded_more_than_needed():
    assert candidates(Problem(), 16, 8192, 4096)[0].tile[0] == 64
    assert candidates(Problem(), 8192, 16, 4096)[0].tile[1] == 16


@pytest.mark.parametrize(
    "m, n, clusters", [(64, 4096, {(1, 1), (1, 2)}), (4096, 16, {(1, 1), (2, 1)})]
)
def test_no_cluster_is_larger_than_c(m, n, clusters):
    likely = candidates(Problem(), m, n, 4096)[0].tile
    found = {c.cluster for c in candidates(Problem(), m, n, 4096) if c.tile == likely}
    assert found == clusters


def test_groups_of_all_rows_are_equal():
    found = candidates(Problem(), 1024, 16384, 4096)
    assert {config.group for config in found} == {16}


@pytest.mark.parametrize(
    "problem, depth", [(PROBLEMS[0], 64), (PROBLEMS[3], 32), (PROBLEMS[4], 128), (PROBLEMS[5], 128)]
)
def test_a_line_is_as_wide_as_the_widest_swizzle(problem, depth):
    assert {config.tile[2] for config in candidates(problem, 4096, 4096, 4096)} == {depth}
