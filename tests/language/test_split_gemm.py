"""A GEMM split along K, with partitions, pipelines, TMA and semaphores, on the emulator."""

import numpy as np
import pytest
from split_gemm import arguments, expected_product, gemm

from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("splits, blocks", [(2, 1), (2, 4), (4, 3), (4, 8)])
def test_the_parts_are_added_by_the_last(splits, blocks):
    arrays = arguments(128, 128, 512, splits)
    compiled = gemm.compile(*arrays.values(), emit="nvvm", splits=splits)
    outputs = run_on_cpu(compiled, None, arrays, ["C", "S"], grid=(blocks,))
    assert np.array_equal(outputs["C"], expected_product(arrays))
    assert not outputs["S"].any()


def test_the_kernel_is_proven():
    assert gemm.check(*arguments(128, 128, 512, 2).values()) == ()
