"""Tiles of other CTAs of a cluster: byte for byte as on the emulator."""

import cluster_kernels
import numpy as np
import pytest

from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize("ctas", [2, 4, 8])
def test_each_cta_adds_its_columns_of_all_parts_in_their_order(ctas):
    given = cluster_kernels.parts(ctas)
    compiled = cluster_kernels.summed(ctas).compile(*given.values())
    expected = cluster_kernels.expected_sum(given["A"]).tobytes()
    for _ in range(20):
        found = run_on_gpu(compiled, None, given, ["C"], grid=(ctas,))
        assert found["C"].tobytes() == expected


@pytest.mark.parametrize("ctas, warpgroups", [(2, 1), (2, 2), (4, 2), (8, 1)])
def test_a_product_split_along_k(ctas, warpgroups):
    given = cluster_kernels.operands(64 * 129)
    compiled = cluster_kernels.split_k(ctas, warpgroups).compile(*given.values())
    a, b = (given[name].astype(np.float32) for name in "AB")
    for _ in range(20):
        found = run_on_gpu(compiled, None, given, ["C"], grid=(ctas,))
        assert np.array_equal(found["C"], a @ b)
