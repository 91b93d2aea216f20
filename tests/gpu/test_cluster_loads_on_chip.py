"""Tiles of other CTAs of a cluster: byte for byte as on the emulator."""

import cluster_kernels
import numpy as np
import pytest

from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize("ctas", [2, 4, 8])
def test_each_cta_adds_its_columns_of_all_parts_in_their_order(ctas):
    inputs = cluster_kernels.parts(ctas)
    compiled = cluster_kernels.cluster_sum(ctas).compile(*inputs.values())
    expected = cluster_kernels.expected_sum(inputs["A"]).tobytes()
    for _ in range(20):
        outputs = run_on_gpu(compiled, None, inputs, ["C"], grid=(ctas,))
        assert outputs["C"].tobytes() == expected


@pytest.mark.parametrize("ctas, warpgroups", [(2, 1), (2, 2), (4, 2), (8, 1)])
def test_a_product_split_along_k(ctas, warpgroups):
    inputs = cluster_kernels.operands(64 * 129)
    compiled = cluster_kernels.split_k(ctas, warpgroups).compile(*inputs.values())
    a, b = (inputs[name].astype(np.float32) for name in "AB")
    for _ in range(20):
        outputs = run_on_gpu(compiled, None, inputs, ["C"], grid=(ctas,))
        assert np.array_equal(outputs["C"], a @ b)
