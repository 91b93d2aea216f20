"""Fixtures of the tests of kernels."""

import pytest
from attention_kernels import proven

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


@pytest.fixture(scope="session")
def compiled_kernels(tmp_path_factory):
    """The folder of a cache on disk that all tests share."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="session", autouse=True)
def proven_attention():
    """Check of each kernel of attention that is emulated that the order of its accesses is proven."""
    with proven():
        yield
