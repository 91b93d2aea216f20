"""The number of thread blocks of a kernel that a GPU runs at the same time."""

from dataclasses import replace
from math import prod

from .devices import make_current
from .errors import LaunchError
from .prepared import Extents, LoadedKernel, configuration


def resident_blocks(kernel: LoadedKernel, extents: Extents) -> int:
    """Return the number of thread blocks that run at the same time on an idle GPU.

    The driver counts whole clusters, each within one GPC. The grid of `extents` is not used. Any
    thread may call this, also one in which no GPU is current.

    Raises:
        LaunchError: if the driver returns an error, or not even one cluster fits the GPU.
    """
    import cuda.bindings.driver as driver

    cluster = tuple(extents.cluster or (1, 1, 1))
    config = configuration(driver, replace(extents, grid=cluster, cluster=cluster), stream=0)
    with make_current(kernel.context):
        error, clusters = driver.cuOccupancyMaxActiveClusters(kernel.function, config)
    if error != driver.CUresult.CUDA_SUCCESS or not clusters:
        raise LaunchError(
            f"no cluster of {cluster} blocks of {kernel.entry} fits the GPU: {error.name}"
        )
    return clusters * prod(cluster)
