"""A launch whose arguments are checked and packed once, to be started many times."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from .devices import make_current
from .errors import LaunchError
from .parameters import ParameterFrame

#: The handle of the legacy default stream (`CU_STREAM_LEGACY`).
LEGACY_STREAM = 1

#: Streams whose launch configurations a starter keeps.
_STREAMS = 64


@dataclass(frozen=True)
class LoadedKernel:
    """A loaded kernel.

    Attributes:
        entry: its name.
        function: its `CUfunction`, which belongs to one context.
        context: the `CUcontext` of its GPU.
    """

    entry: str
    function: Any
    context: Any


@dataclass(frozen=True)
class Extents:
    """The extents of a launch.

    Attributes:
        grid: thread blocks along x, y, z.
        block: threads of a thread block along x, y, z.
        cluster: thread blocks of a cluster along x, y, z; None without clusters.
        shared_bytes: dynamic shared memory of a thread block.
        programmatic: whether the kernel may start before earlier kernels end and waits for them itself
            (programmatic dependent launch).
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: Sequence[int] | None
    shared_bytes: int
    programmatic: bool = False


class Starter:
    """Starts a loaded kernel with a grid, on any stream and from any thread."""

    def __init__(self, kernel: LoadedKernel, extents: Extents) -> None:
        import cuda.bindings.driver as driver

        self._kernel, self._extents = kernel, extents
        self._driver, self._success = driver, driver.CUresult.CUDA_SUCCESS
        self._context = int(kernel.context)
        self._current_context, self._launch = driver.cuCtxGetCurrent, driver.cuLaunchKernelEx
        self._configs: dict[int, Any] = {}

    def __str__(self) -> str:
        return f"{self._kernel.entry} with the grid {self._extents.grid}"

    def make_current(self) -> AbstractContextManager[None]:
        """Make the kernel's GPU current, in a thread where another one or none may be."""
        return make_current(self._kernel.context)

    def start(self, address: int, stream: int) -> None:
        """Start the kernel.

        Args:
            address: of the array of pointers to the parameters, which are copied before this returns.
            stream: the stream's handle.

        Raises:
            LaunchError: if the driver refuses the launch.
        """
        config = self._configs.get(stream) or self._configure(stream)
        if int(self._current_context()[1]) == self._context:
            (error,) = self._launch(config, self._kernel.function, address, 0)
        else:
            with self.make_current():
                (error,) = self._launch(config, self._kernel.function, address, 0)
        if error != self._success:
            raise LaunchError(
                f"the driver refuses to launch {self._kernel.entry} with {self._extents}: {error.name}"
            )

    def _configure(self, stream: int) -> Any:
        """Return the configuration of a launch to a stream. Each stream has its own, because several
        threads may launch at the same time."""
        config = configuration(self._driver, self._extents, stream)
        if len(self._configs) >= _STREAMS:
            self._configs = {}
        self._configs[stream] = config
        return config


class Prepared:
    """A launch whose arguments are checked and packed; `Kernel.prepare` returns it.

    It holds references to the arrays, so that their memory is not freed. Their elements may change
    between launches; addresses and shapes are those at the time of `prepare`.

    Args:
        starter: starts the kernel.
        frame: the parameters.
        arrays: the arrays, and other arguments.
        current: returns the handle of the stream to launch on where none is given; None for the legacy
            default stream.
    """

    def __init__(
        self,
        starter: Starter,
        frame: ParameterFrame,
        arrays: Sequence[Any],
        current: Callable[[], int] | None = None,
    ) -> None:
        self._frame, self._arrays, self._current = frame, tuple(arrays), current
        self._start, self._address = starter.start, frame.address
        self._starter = starter

    def __repr__(self) -> str:
        return f"<prepared launch of {self._starter}>"

    def launch(self, stream: Any = None) -> None:
        """Start the kernel; it runs after the earlier work of its stream.

        Args:
            stream: a stream of cuda-core, an object with `__cuda_stream__`, or a stream's handle (as
                PyTorch's `stream.cuda_stream`). If None, the legacy default stream; for a kernel of the
                language, the current stream of its arrays' library.

        Raises:
            LaunchError: if `stream` is not a stream, or the driver refuses the launch.
        """
        if stream is None and self._current is not None:
            handle = self._current()
        else:
            handle = stream_handle(stream)
        self._start(self._address, handle)


def configuration(driver: Any, extents: Extents, stream: int) -> Any:
    """Return the driver's configuration of a launch (`CUlaunchConfig`) to the stream with that handle."""
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = extents.grid
    config.blockDimX, config.blockDimY, config.blockDimZ = extents.block
    config.sharedMemBytes = extents.shared_bytes
    config.hStream = driver.CUstream(stream)
    attributes = _attributes(driver, extents)
    config.attrs, config.numAttrs = attributes, len(attributes)
    return config


def _attributes(driver: Any, extents: Extents) -> list[Any]:
    """Return the launch attributes: the cluster, and programmatic dependent launch."""
    attribute_ids, attributes = driver.CUlaunchAttributeID, []
    if extents.cluster is not None:
        cluster = driver.CUlaunchAttribute()
        cluster.id = attribute_ids.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        extent = cluster.value.clusterDim
        extent.x, extent.y, extent.z = extents.cluster
        attributes.append(cluster)
    if extents.programmatic:
        early = driver.CUlaunchAttribute()
        early.id = attribute_ids.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        early.value.programmaticStreamSerializationAllowed = 1
        attributes.append(early)
    return attributes


def stream_handle(stream: Any) -> int:
    """Return the handle of a stream; None is the legacy default stream.

    Raises:
        LaunchError: if it is no stream.
    """
    if stream is None:
        return LEGACY_STREAM
    if isinstance(stream, int):
        return stream
    try:
        _, handle = stream.__cuda_stream__()
    except Exception as error:
        raise LaunchError(
            f"{stream!r} is not a stream; expected one of cuda-core, an object with __cuda_stream__, or "
            "a handle"
        ) from error
    return int(handle)
