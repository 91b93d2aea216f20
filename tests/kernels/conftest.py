"""Fixtures of the GEMM's tests."""

import pytest

from mlir_smem.kernels.gemm.call import fusions, launches
from mlir_smem.kernels.gemm.call.matmul import forget_calls


@pytest.fixture
def no_calls(gpu, monkeypatch, tmp_path):
    """A stand-in for the GPU, and neither earlier calls nor compiled kernels or traced epilogues."""
    launches._kernel.cache_clear()
    forget_calls()
    fusions._FUSIONS.clear()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))


@pytest.fixture
def cluster():
    """Two processes of Dask, each with a resource GPU."""
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    with distributed.LocalCluster(
        processes=True,
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        resources={"GPU": 1},
    ) as cluster:
        yield cluster
