"""Launches compiled kernels on a GPU, by cuda-core."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..codegen import Compiled
from .arguments import (
    DTYPES,
    Matrix,
    block_of,
    check_matrix,
    grid_of,
    host_arrays,
    kernel_named,
    pack,
    solve_extents,
)
from .errors import LaunchError


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
        compiled: what `compile` gave, with its cubin.
        entry: the kernel's name; may be left out if there is one.
        device: the GPU's number; the current one, or else the first, if left out.

    Raises:
        LaunchError: without cuda-core or a GPU of the architecture, or for an unknown entry.
    """

    def __init__(
        self, compiled: Compiled, entry: str | None = None, device: int | None = None
    ) -> None:
        cuda = _cuda()
        self.manifest = kernel_named(compiled.manifest, entry)
        self._block = block_of(self.manifest)
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
        self._code = cuda.ObjectCode.from_cubin(compiled.cubin)
        self._kernel = self._code.get_kernel(self.manifest["entry"])
        self._allow_shared(self.manifest["shared_bytes"])

    def _allow_shared(self, size: int) -> None:
        """More than 48 KiB of dynamic shared memory must be allowed for each kernel."""
        from cuda.bindings import driver

        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        error, *_ = driver.cuKernelSetAttribute(
            attribute, size, self._kernel.handle, self.device.device_id
        )
        if error != driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(f"the GPU cannot give a block {size} bytes of shared memory: {error}")

    def launch(self, *arrays: Any, grid: Sequence[int] | None = None, stream: Any = None) -> None:
        """Starts the kernel; it runs after what its stream already holds.

        Args:
            arrays: for each argument of the kernel, an array on the GPU (DLPack or the CUDA array
                interface, so PyTorch, CuPy, JAX, ...), a `Matrix`, or a number.
            grid: blocks along x, y, z; what the manifest says if left out.
            stream: a stream of cuda-core, or an object with `__cuda_stream__`; the default stream
                if left out.

        Raises:
            LaunchError: if an array does not fit the kernel, before anything is started.
        """
        cuda = _cuda()
        arguments = self.manifest["arguments"]
        if len(arrays) != len(arguments):
            raise LaunchError(
                f"{self.manifest['entry']} takes {len(arguments)} arguments "
                f"({', '.join(a['name'] for a in arguments)}), not {len(arrays)}"
            )
        shapes: dict[str, Sequence[int]] = {}
        parameters: list[Any] = []
        for argument, value in zip(arguments, arrays, strict=True):
            if argument["kind"] == "scalar":
                parameters.append(_scalar(argument, value))
                continue
            matrix = value if isinstance(value, Matrix) else _matrix(argument, value)
            check_matrix(argument, matrix)
            shapes[argument["name"]] = matrix.shape
            parameters += [ctypes.c_int64(word) for word in pack(matrix)]
        config = cuda.LaunchConfig(
            grid=grid_of(self.manifest, solve_extents(self.manifest, shapes), grid),
            block=self._block,
            shmem_size=self.manifest["shared_bytes"],
        )
        if stream is None:
            stream = cuda.LEGACY_DEFAULT_STREAM
        elif not isinstance(stream, cuda.Stream):
            stream = self.device.create_stream(stream)
        cuda.launch(stream, config, self._kernel, *parameters)


def _scalar(argument: Mapping[str, Any], value: Any) -> Any:
    """A number as the kernel takes it."""
    name, kind = argument["name"], argument["type"]
    if kind == "f32" and isinstance(value, int | float):
        return ctypes.c_float(value)
    widths = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "index": ctypes.c_int64}
    if kind in widths and isinstance(value, int | np.integer):
        number = widths[kind](int(value))
        if number.value == value:
            return number
    if kind not in ("f32", *widths):
        raise LaunchError(f"{name} is of type {kind}, which cannot be passed")
    raise LaunchError(f"{name} is {value!r}, which is no {kind}")


def _matrix(argument: Mapping[str, Any], array: Any) -> Matrix:
    """An array on the GPU as the kernel sees it."""
    from cuda.core.utils import StridedMemoryView

    name = argument["name"]
    try:
        view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    except Exception as error:
        raise LaunchError(f"{name} is not an array on a GPU: {error}") from error
    if not view.is_device_accessible:
        raise LaunchError(f"{name} is in host memory; move it to the GPU")
    wanted = DTYPES.get(argument["element"])
    if wanted is None or view.dtype != wanted:
        raise LaunchError(f"{name} has elements of {view.dtype}; expected {argument['element']}")
    strides = view.strides or _contiguous(view.shape)
    return Matrix(view.ptr, tuple(view.shape), tuple(strides), wanted.itemsize)


def _contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def run_on_gpu(
    compiled: Compiled,
    entry: str | None,
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str],
    grid: Sequence[int] | None = None,
) -> dict[str, np.ndarray]:
    """Runs a kernel once on arrays in host memory.

    Args:
        compiled: what `compile` gave.
        entry: the kernel's name; may be left out if there is one.
        inputs: the arrays to pass, by argument; row-major or column-major, as they are.
        outputs: the arguments to read back; those that are no inputs begin as zeros.
        grid: blocks along x, y, z; what the manifest says if left out.

    Returns:
        The outputs, by name.

    Raises:
        LaunchError: if the arrays do not fit the kernel, or no GPU can run it.
    """
    host = host_arrays(kernel_named(compiled.manifest, entry), inputs, outputs)
    kernel = Kernel(compiled, entry, device=0)
    buffers = {name: _Buffer(kernel.device, array) for name, array in host.items()}
    kernel.launch(*(buffer.matrix for buffer in buffers.values()), grid=grid)
    kernel.device.sync()
    return {name: buffers[name].read() for name in outputs}


class _Buffer:
    """A copy of a host array in GPU memory."""

    def __init__(self, device: Any, array: np.ndarray) -> None:
        self._host = array.copy(order="K")
        self._memory = device.allocate(array.nbytes, stream=_cuda().LEGACY_DEFAULT_STREAM)
        self._copy("cuMemcpyHtoD", int(self._memory.handle), self._host.ctypes.data)
        strides = tuple(s // array.itemsize for s in self._host.strides)
        self.matrix = Matrix(int(self._memory.handle), array.shape, strides, array.itemsize)

    def read(self) -> np.ndarray:
        """What the GPU's copy holds now."""
        self._copy("cuMemcpyDtoH", self._host.ctypes.data, int(self._memory.handle))
        return self._host

    def _copy(self, call: str, target: int, source: int) -> None:
        from cuda.bindings import driver

        error, *_ = getattr(driver, call)(target, source, self._host.nbytes)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(f"the kernel or a copy of its arrays failed: {error.name}")
