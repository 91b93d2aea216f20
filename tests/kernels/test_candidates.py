"""Candidates for a GEMM: they fit, they differ, and the least predicted time is first."""

from dataclasses import replace

import pytest

from mlir_smem.kernels.gemm import Problem, choose
from mlir_smem.kernels.gemm.generator.candidates import MAX_CANDIDATES, candidates, rank
from mlir_smem.kernels.gemm.generator.time_model import H200
from mlir_smem.kernels.gemm.generator.work import work_of

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
    configs = candidates(problem, *extents)
    assert 2 <= len(configs) <= MAX_CANDIDATES
    assert len(set(configs)) == len(configs)
    assert configs[0] == choose(problem, *extents)
    for config in configs:
        config.check(problem)


@pytest.mark.parametrize("extents", EXTENTS, ids=str)
def test_the_least_predicted_time_is_first(extents):
    ranked = rank(Problem(), *extents)
    times = [candidate.prediction.seconds for candidate in ranked]
    assert times == sorted(times) and times[0] > 0
    for config, prediction in ranked:
        (alone,) = H200.predict([work_of(Problem(), *extents, config, 132)])
        assert alone.seconds == pytest.approx(prediction.seconds)


def test_as_many_stages_as_fit():
    for config in candidates(Problem(), 4096, 4096, 4096):
        if config.stages < 8:
            deeper = replace(config, stages=config.stages + 1)
            assert deeper.shared_bytes(Problem()) > 227 * 1024


def test_narrower_epilogue_tiles_allow_a_fourth_stage():
    by_tile = {c.tile[:2]: c for c, _ in rank(Problem(), 8192, 8192, 8192) if not c.exchanged}
    tight, roomy = by_tile[256, 128], by_tile[128, 128]
    assert (tight.stages, tight.store_columns) == (4, 64)
    assert replace(tight, store_columns=128).max_stages(Problem()) == 3
    assert (roomy.stages, roomy.store_columns) == (6, 128)


def test_a_large_gemm_has_large_tiles():
    configs = candidates(Problem(), 8192, 8192, 8192)
    first = configs[0]
    assert first.tile[0] * first.tile[1] >= 128 * 256
    assert (first.stages, first.group, first.consumers, first.split_k) == (4, 16, 2, 1)
    variants = [config for config in configs if config.tile == first.tile]
    assert {config.group for config in variants} == {8, 16, 32}
    assert {(2, 1), (1, 2)} <= {config.cluster for config in variants}
    stores = {(config.store_columns, config.store_buffers) for config in variants}
    columns = first.store_columns
    assert stores == {(columns, 2), (columns // 2, 4), (columns, 1)}


def test_a_small_gemm_uses_most_multiprocessors():
    config = choose(Problem(), 512, 512, 4096)
    x, y = config.grid(512, 512, 4096, 132)
    assert 64 <= x * y <= 132


@pytest.mark.parametrize("m, n", [(16, 8192), (8192, 16)])
def test_few_rows_or_columns_are_not_padded_more_than_needed(m, n):
    config = choose(Problem(), m, n, 4096)
    assert config.tile[1] == 16
    assert config.exchanged == (m < n)


def test_few_large_tiles_are_split_along_k():
    ranked = [config for config, _ in rank(Problem(), 128, 128, 16384)]
    assert max(ranked[0].cluster_k, ranked[0].split_k) > 1
    for config in ranked:
        parts = config.split_k * config.cluster_k
        tiles = -(-128 // config.tile[0]) * -(-128 // config.tile[1])
        ctas = config.grid(128, 128, 16384, 132)[0]
        assert ctas <= min(132, tiles * parts)
        assert config.cluster_k == 1 or ctas == tiles * parts


def test_clusters_that_add_parts_fill_the_gpu_once():
    for shape in ((256, 256, 8192), (512, 4096, 11008), (64, 4096, 4096)):
        adding = [config for config, _ in rank(Problem(), *shape) if config.cluster_k > 1]
        assert adding
        assert all(132 / 5 <= config.grid(*shape, 132)[0] <= 132 for config in adding)
    assert not [c for c, _ in rank(Problem(), 8192, 8192, 8192) if c.cluster_k > 1]


@pytest.mark.parametrize("extents", [(8192, 3584, 1024), (320, 320, 12288), (24, 168, 3584)])
def test_all_tiles_are_split_into_as_many_parts(extents):
    m, n, _ = extents
    for config, _ in rank(Problem(), *extents):
        rows, columns = (n, m) if config.exchanged else (m, n)
        tiles = -(-rows // config.tile[0]) * -(-columns // config.tile[1])
        if config.split_k > 1:
            assert config.grid(*extents, 132)[0] == tiles * config.split_k


def test_few_k_blocks_are_not_shared():
    """A launch with clusters takes longer; rows that begin between sectors of L2 may still pay."""
    for k, shares in ((256, False), (264, True), (8192, True)):
        clusters = {config.cluster for config, _ in rank(Problem(), 4096, 4096, k)}
        assert (clusters != {(1, 1)}) == shares


def test_rows_that_are_not_aligned_are_shared_in_clusters():
    """Their loads take more of L2."""
    assert choose(Problem(), 4096, 4096, 4096).cluster == (1, 1)
    assert choose(Problem(), 4104, 4104, 4104).cluster != (1, 1)


def test_sixteen_ctas_add_parts_of_a_long_k():
    """Clusters of 16 are faster there (benchmarks/results/gemm-sweep-large-clusters-h200.json)."""
    assert choose(Problem(), 448, 16, 15952).cluster_k == 16
    assert choose(Problem(), 448, 16, 512).cluster_k < 16


@pytest.mark.parametrize("m, n", [(64, 4096), (4096, 16), (64, 64)])
def test_no_cluster_is_larger_than_c(m, n):
    for config in candidates(Problem(), m, n, 4096):
        rows, columns = (n, m) if config.exchanged else (m, n)
        assert config.cluster[0] <= -(-rows // config.tile[0])
        assert config.cluster[1] <= -(-columns // config.tile[1])


def test_groups_of_all_rows_are_equal():
    configs = candidates(Problem(), 1024, 16384, 4096)
    assert {config.group for config in configs if not config.exchanged} == {16}


def test_the_choice_is_explained(capsys):
    config = choose(Problem(), 128, 128, 16384, explain=True)
    first, best, *others = capsys.readouterr().err.splitlines()
    assert first.startswith("128x128x16384 of Problem(a='bf16'")
    tile = "x".join(map(str, config.tile))
    parts = (
        f"K in {config.split_k}" if config.split_k > 1 else f"K in {config.cluster_k} of a cluster"
    )
    assert best.startswith(f"  {tile} in {config.stages} stages, {parts}")
    assert " us: fixed " in best and " split " in best and "limited by " in best
    assert len(others) == 9


@pytest.mark.parametrize(
    "problem, depth", [(PROBLEMS[0], 64), (PROBLEMS[3], 32), (PROBLEMS[4], 128), (PROBLEMS[5], 128)]
)
def test_a_line_is_as_wide_as_the_widest_swizzle(problem, depth):
    assert {config.tile[2] for config in candidates(problem, 4096, 4096, 4096)} == {depth}
