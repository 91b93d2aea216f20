"""Launch compiled kernels on a GPU, with cuda-core."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..codegen import Compiled
from ..emulator.arguments import strided_copy
from .arguments import (
    Matrix,
    block_extents,
    host_arrays,
    kernel_named,
)
from .arrays import matrix_of
from .checked import check_launch
from .errors import LaunchError
from .occupancy import resident_blocks
from .plans import BoundedCache, CallArguments, LaunchPlan, UnreadableArgument
from .prepared import Extents, LoadedKernel, Prepared, Starter, stream_handle

#: Thread blocks that a cluster has at most on every GPU; more must be allowed, and do not fit all GPUs.
_PORTABLE = 8


def _cuda() -> Any:
    try:
        import cuda.core
    except ImportError:
        raise LaunchError(
            "running on a GPU needs cuda-core; install mlir-smem with its extra 'gpu'"
        ) from None
    return cuda.core


class Kernel:
    """A kernel on the current GPU, ready to launch.

    Args:
        compiled: the result of `compile`, with its cubin.
        entry: the kernel's name; None if there is only one.
        device: the GPU's number; if None, the current GPU, or the first.

    Raises:
        LaunchError: without cuda-core or a GPU of the architecture, or for an unknown entry.

    Example:
        >>> import torch  # on a GPU
        >>> text = mlir_smem.examples.path("mma.mlir").read_text()
        >>> kernel = Kernel(mlir_smem.compile(text))  # on a GPU
        >>> a, b = (torch.eye(64, device="cuda").bfloat16() for _ in "AB")  # on a GPU
        >>> d = torch.empty(64, 64, device="cuda")  # on a GPU
        >>> kernel.launch(a, b, d, grid=(1,))  # on a GPU
        >>> float(d.trace())  # on a GPU
        64.0
    """

    def __init__(
        self, compiled: Compiled, entry: str | None = None, device: int | None = None
    ) -> None:
        cuda = _cuda()
        self.manifest = kernel_named(compiled.manifest, entry)
        self._block = block_extents(self.manifest)
        try:
            self.device = cuda.Device() if device is None else cuda.Device(device)
            self.device.set_current()
        except Exception as error:
            raise LaunchError(f"no GPU can be used: {error}") from error
        major, minor = self.device.compute_capability
        if f"sm_{major}{minor}a" != compiled.manifest["arch"]:
            raise LaunchError(
                f"the kernel is compiled for {compiled.manifest['arch']}, but the GPU is "
                f"sm_{major}{minor}"
            )
        if compiled.cubin is None:
            raise LaunchError("the module was compiled without a cubin; compile with emit='cubin'")
        self._object = cuda.ObjectCode.from_cubin(compiled.cubin)
        self._kernel = self._object.get_kernel(self.manifest["entry"])
        # More than 48 KiB need it.
        size = self.manifest["shared_bytes"]
        grant = f"a thread block {size} bytes of shared memory"
        self._allow("MAX_DYNAMIC_SHARED_SIZE_BYTES", size, grant)
        if (blocks := prod(self.manifest["cluster"] or ())) > _PORTABLE:
            grant = f"a cluster {blocks} thread blocks"
            self._allow("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1, grant)
        self._loaded = self._load()
        self._is_array = [a["kind"] == "memref" for a in self.manifest["arguments"]]
        self._plans: BoundedCache[LaunchPlan] = BoundedCache()

    def __repr__(self) -> str:
        return f"<kernel {self.manifest['entry']} on GPU {self.device.device_id}>"

    def _allow(self, attribute: str, value: int, grant: str) -> None:
        """Set an attribute of the kernel, without which the driver refuses its launch.

        Args:
            attribute: the driver's name.
            value: its value.
            grant: what it allows, for messages.
        """
        import cuda.bindings.driver as driver

        error, *_ = driver.cuKernelSetAttribute(
            getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{attribute}"),
            value,
            self._kernel.handle,
            self.device.device_id,
        )
        if error != driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(f"the GPU cannot give {grant}: {error}")

    def _load(self) -> LoadedKernel:
        """Return the kernel as code of the GPU's context, which is current."""
        import cuda.bindings.driver as driver

        error, context = driver.cuCtxGetCurrent()
        if error == driver.CUresult.CUDA_SUCCESS:
            error, function = driver.cuKernelGetFunction(self._kernel.handle)
            if error == driver.CUresult.CUDA_SUCCESS:
                return LoadedKernel(self.manifest["entry"], function, context)
        raise LaunchError(f"{self.manifest['entry']} cannot be loaded: {error}")

    @property
    def context(self) -> Any:
        """The `CUcontext` of its GPU."""
        return self._loaded.context

    def plan(self, arguments: Sequence[Matrix | float], grid: Sequence[int]) -> LaunchPlan:
        """Return the plan of a launch with arrays of these shapes, strides and sizes of elements.

        The numbers may be others at a launch.

        Raises:
            LaunchError: if one does not fit the kernel.
        """
        return self._plan(arguments, grid)[0]

    def prepare(self, *arrays: Any, grid: Sequence[int] | None = None) -> Prepared:
        """Check and pack the arguments of a launch, which can then be started many times.

        Args:
            arrays: for each argument of the kernel, an array on its GPU (DLPack or the CUDA array
                interface, so PyTorch, CuPy, JAX, ...), a `Matrix`, or a number.
            grid: thread blocks along x, y, z; computed from the manifest if None.

        Raises:
            LaunchError: if an array does not fit the kernel.
        """
        plan, addresses, numbers = self.planned(arrays, grid)
        return Prepared(plan.starter, plan.frame(addresses, numbers), arrays)

    def planned(
        self, arrays: Sequence[Any], grid: Sequence[int] | None
    ) -> tuple[LaunchPlan, Sequence[int], Sequence[Any]]:
        """Return the plan of a launch, the addresses of its arrays and its numbers.

        Arrays of equal signatures are checked once, and share a plan.

        Args:
            arrays: as for `prepare`.
            grid: as for `prepare`.

        Raises:
            LaunchError: if an array does not fit the kernel.
        """
        try:
            call_arguments = CallArguments(self._is_array, arrays)
            key = (call_arguments.key, None if grid is None else tuple(grid))
            plan = self._plans.get(key)
        except (UnreadableArgument, TypeError, ValueError):
            # An array that cannot be read, a key that cannot be hashed, or another number of arguments.
            # They have no plan, so they are checked at each call; the check says what is wrong.
            plan, matrices = self._plan(arrays, grid)
            numbers = [v for v, a in zip(arrays, self._is_array, strict=True) if not a]
            return plan, [matrix.pointer for matrix in matrices], numbers
        if plan is None:
            plan, _ = self._plan(arrays, grid)
            self._plans.keep(key, plan)
        return plan, call_arguments.addresses, call_arguments.numbers

    def _plan(
        self, arrays: Sequence[Any], grid: Sequence[int] | None = None
    ) -> tuple[LaunchPlan, list[Matrix]]:
        """Check the arguments of a launch; return its plan, and the arrays as it addresses them."""

        def matrix(argument: Mapping[str, Any], value: Any) -> Matrix:
            if isinstance(value, Matrix):
                return value
            return matrix_of(argument, value, self.device.device_id)

        checked = check_launch(self.manifest, arrays, matrix, grid)
        starter = Starter(self._loaded, self._extents(checked.grid))
        plan = LaunchPlan(self.manifest, checked.matrices, checked.maps, starter)
        return plan, list(checked.matrices.values())

    def _extents(self, grid: tuple[int, int, int]) -> Extents:
        return Extents(
            grid,
            self._block,
            self.manifest["cluster"],
            self.manifest["shared_bytes"],
            self.manifest["programmatic"],
        )

    def resident_blocks(self) -> int:
        """Return the number of thread blocks that run at the same time: the grid of a persistent kernel.

        Raises:
            LaunchError: if not even one cluster fits the GPU.
        """
        return resident_blocks(self._loaded, self._extents((1, 1, 1)))

    def launch(self, *arrays: Any, grid: Sequence[int] | None = None, stream: Any = None) -> None:
        """Start the kernel once; see `prepare` and `Prepared.launch`.

        The kernel does not wait for other streams that write the arrays (for JAX, call
        `block_until_ready` first).

        Raises:
            LaunchError: if an array does not fit the kernel, before anything is started.
        """
        handle = stream_handle(stream)
        plan, addresses, numbers = self.planned(arrays, grid)
        plan.start(addresses, numbers, handle)


def run_on_gpu(
    compiled: Compiled,
    entry: str | None,
    inputs: Mapping[str, Any],
    outputs: Sequence[str],
    grid: Sequence[int] | None = None,
) -> dict[str, np.ndarray]:
    """Run a kernel once on arrays in host memory.

    Args:
        compiled: the result of `compile`.
        entry: the kernel's name; None if there is only one.
        inputs: the arrays and numbers to pass, by argument; the kernel gets the arrays' strides.
        outputs: the arguments to read back; those that are not inputs are zeros at the start.
        grid: thread blocks along x, y, z; computed from the manifest if None.

    Returns:
        The outputs, by name.

    Raises:
        LaunchError: if the arrays do not fit the kernel, or no GPU can run it.

    Example:
        >>> import ml_dtypes
        >>> compiled = mlir_smem.compile(mlir_smem.examples.path("mma.mlir").read_text())
        >>> a, b = (np.eye(64, dtype=ml_dtypes.bfloat16) for _ in "AB")
        >>> outputs = run_on_gpu(compiled, "mma", {"arg0": a, "arg1": b}, ["arg2"], (1,))  # on a GPU
        >>> np.array_equal(outputs["arg2"], np.eye(64))  # on a GPU
        True
    """
    host = host_arrays(kernel_named(compiled.manifest, entry), inputs, outputs)
    kernel = Kernel(compiled, entry, device=0)
    buffers = {
        name: Buffer(kernel.device, array)
        for name, array in host.items()
        if isinstance(array, np.ndarray)
    }
    arguments = {**host, **{name: buffer.matrix for name, buffer in buffers.items()}}
    kernel.launch(*arguments.values(), grid=grid)
    kernel.device.sync()
    return {name: buffers[name].read() for name in outputs}


class Buffer:
    """A copy of a host array in GPU memory, with the same strides; kernels take it as an array.

    Attributes:
        matrix: its address, shape and strides.
        shape: its extents.
        dtype: its element type.

    Raises:
        LaunchError: if it cannot be copied.

    Example:
        >>> from cuda.core import Device  # on a GPU
        >>> Device().set_current()  # on a GPU
        >>> Buffer(Device(), np.arange(4, dtype=np.float32)).read().tolist()  # on a GPU
        [0.0, 1.0, 2.0, 3.0]
    """

    def __init__(self, device: Any, array: np.ndarray) -> None:
        self._bytes, self._host = strided_copy(array)
        self._memory = device.allocate(self._bytes.nbytes, stream=_cuda().LEGACY_DEFAULT_STREAM)
        pointer = int(self._memory.handle)
        self._copy("cuMemcpyHtoD", pointer, self._bytes.ctypes.data)
        strides = tuple(s // array.itemsize for s in self._host.strides)
        self.matrix = Matrix(pointer, array.shape, strides, array.itemsize)
        self.shape, self.dtype = array.shape, array.dtype

    def __repr__(self) -> str:
        return f"<a copy of {self.dtype}[{', '.join(map(str, self.shape))}] on a GPU>"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array with unsigned elements: the interface has neither bf16 nor 8-bit floats."""
        return {
            "version": 3,
            "shape": self.matrix.shape,
            "strides": self._host.strides,
            "typestr": f"<u{self.dtype.itemsize}",
            "data": (self.matrix.pointer, False),
        }

    def read(self) -> np.ndarray:
        """Return the current content of the GPU's copy."""
        self._copy("cuMemcpyDtoH", self._bytes.ctypes.data, int(self._memory.handle))
        return self._host

    def _copy(self, call: str, target: int, source: int) -> None:
        import cuda.bindings.driver as driver

        error, *_ = getattr(driver, call)(target, source, self._bytes.nbytes)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(f"the kernel or a copy of its arrays failed: {error.name}")
