"""Parts of a result that CTAs store, and that the last of them adds: byte for byte as on the emulator."""

import numpy as np
import pytest
import split_gemm
import split_kernel
from split_kernel import PARTS, TILES, sums

from mlir_smem.runtime import run_on_cpu, run_on_gpu


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def test_three_launches_with_the_same_semaphores(torch):
    inputs = split_kernel.inputs()
    compiled = sums.compile(*inputs.values(), emit="nvvm")
    emulated = run_on_cpu(compiled, None, inputs, ["C"], grid=(TILES, PARTS))["C"]
    expected = split_kernel.expected_sums(inputs["A"])
    assert emulated.tobytes() == expected.tobytes()
    arrays = {name: torch.from_numpy(array).cuda() for name, array in inputs.items()}
    for _ in range(3):
        arrays["C"].fill_(torch.nan)
        arrays["W"].fill_(torch.nan)
        sums[TILES, PARTS](*arrays.values())
        assert arrays["C"].cpu().numpy().tobytes() == expected.tobytes()
    assert not arrays["S"].any()


def test_many_launches_find_no_stale_part(torch):
    """Other parts in each launch, so that a stale part gives another sum."""
    inputs = [split_kernel.inputs(seed) for seed in range(8)]
    w, s = (torch.from_numpy(inputs[0][name]).cuda() for name in "WS")
    parts = [torch.from_numpy(arrays["A"]).cuda() for arrays in inputs]
    sums_ = [torch.zeros(TILES, 64, 64, device="cuda") for _ in range(200)]
    for i, c in enumerate(sums_):
        sums[TILES, PARTS](parts[i % 8], w, c, s)
    expected = [split_kernel.expected_sums(arrays["A"]).tobytes() for arrays in inputs]
    for i, c in enumerate(sums_):
        assert c.cpu().numpy().tobytes() == expected[i % 8], i
    assert not s.any()
    assert np.array_equal(w.cpu().numpy(), 2 * inputs[199 % 8]["A"])


@pytest.mark.parametrize("splits, blocks", [(2, 16), (4, 132), (8, 132)])
def test_a_gemm_split_along_k(splits, blocks):
    arrays = split_gemm.arguments(1024, 512, 2048, splits)
    compiled = split_gemm.gemm.compile(*arrays.values(), splits=splits)
    for _ in range(5):
        outputs = run_on_gpu(compiled, None, arrays, ["C", "S"], grid=(blocks,))
        assert np.array_equal(outputs["C"], split_gemm.expected_product(arrays))
        assert not outputs["S"].any()
