"""How many blocks of a kernel a GPU runs at a time."""

from dataclasses import replace
from math import prod

from .errors import LaunchError
from .prepared import Code, Extents, configuration


def resident_blocks(code: Code, extents: Extents) -> int:
    """Blocks that run at a time on an idle GPU: whole clusters, each within one GPC, as the driver counts
    them. The grid of `extents` does not matter.

    Raises:
        LaunchError: if the driver says nothing, or not one cluster finds room.
    """
    from cuda.bindings import driver

    cluster = tuple(extents.cluster or (1, 1, 1))
    config = configuration(driver, replace(extents, grid=cluster, cluster=cluster), stream=0)
    error, clusters = driver.cuOccupancyMaxActiveClusters(code.function, config)
    if error != driver.CUresult.CUDA_SUCCESS or not clusters:
        raise LaunchError(
            f"no cluster of {cluster} blocks of {code.entry} finds room on the GPU: {error.name}"
        )
    return clusters * prod(cluster)
