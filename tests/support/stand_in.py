"""A stand-in for cuda-core and cuda-bindings that records the arguments of the driver's functions."""

import ctypes
import enum
import sys
import types
from math import prod
from typing import NamedTuple

from mlir_smem.runtime import Matrix, readers

#: The contexts of two GPUs.
CONTEXTS = (0xC0, 0xC1)


class Result(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_INVALID_CONTEXT = 201


class View:
    """cuda-core's view of an array; `OnGpu` has it already."""

    @classmethod
    def from_any_interface(cls, array, stream_ptr):
        assert stream_ptr == -1
        if not hasattr(array, "view"):
            raise BufferError("no interface")
        return array.view


class OnGpu:
    """An array on a GPU that has DLPack, or the CUDA array interface."""

    def __init__(self, shape, dtype, strides=None, pointer=0x1000, device=0, accessible=True):
        self.dtype = dtype
        self.view = types.SimpleNamespace(
            ptr=pointer,
            shape=shape,
            strides=strides,
            device_id=device,
            is_device_accessible=accessible,
        )

    def __len__(self):
        return self.view.shape[0]


class Map:
    """An encoded tensor map: its number, repeated in 128 bytes."""

    def __init__(self, number):
        self._bytes = ctypes.create_string_buffer(bytes([number]) * 128, 128)

    def getPtr(self):  # noqa: N802
        return ctypes.addressof(self._bytes)


def _core(calls):
    class Stream:
        def __init__(self, handle):
            self.handle = handle

        def __cuda_stream__(self):
            return (0, self.handle)

    class Device:
        name = "a stand-in"
        properties = types.SimpleNamespace(multiprocessor_count=132)

        def __init__(self, number=0):
            self.device_id = number

        @property
        def compute_capability(self):
            if self.device_id >= len(CONTEXTS):
                raise RuntimeError("invalid device ordinal")
            return (9, 0)

        def set_current(self):
            if self.device_id >= len(CONTEXTS):
                raise RuntimeError("invalid device ordinal")
            calls.current.append(CONTEXTS[self.device_id])

    class ObjectCode:
        @classmethod
        def from_cubin(cls, cubin):
            return cls()

        def get_kernel(self, name):
            return types.SimpleNamespace(handle=name)

    core = types.ModuleType("core")
    core.Device, core.ObjectCode, core.Stream = Device, ObjectCode, Stream
    return core


def _driver(calls):
    def allow(attribute, value, handle, device):
        kind = attribute.removeprefix("CU_FUNC_ATTRIBUTE_")
        recorded = {"MAX_DYNAMIC_SHARED_SIZE_BYTES": calls.shared}.get(kind, calls.clusters)
        assert recorded is calls.shared or kind == "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"
        recorded.append((handle, value))
        return (calls.refusals.get("allow", Result.CUDA_SUCCESS),)

    def function(kernel):
        return calls.refusals.get("load", Result.CUDA_SUCCESS), f"function of {kernel}"

    def of_context():
        """The driver's result of a call that needs a current GPU."""
        return Result.CUDA_SUCCESS if calls.current[-1] else Result.CUDA_ERROR_INVALID_CONTEXT

    def encode(*arguments):
        if of_context() != Result.CUDA_SUCCESS:
            return of_context(), None
        calls.maps.append(arguments)
        return calls.refusals.get("encode", Result.CUDA_SUCCESS), Map(len(calls.maps))

    def replace_address(tensor_map, address):
        if of_context() != Result.CUDA_SUCCESS:
            return (of_context(),)
        calls.replaced.append(address)
        return (calls.refusals.get("replace", Result.CUDA_SUCCESS),)

    def start(config, function, address, extra):
        assert extra == 0
        launch = types.SimpleNamespace(**vars(config))
        launch.function, launch.address, launch.context = function, address, calls.current[-1]
        calls.launches.append(launch)
        return (calls.refusals.get("launch", Result.CUDA_SUCCESS),)

    def occupancy(function, config):
        if of_context() != Result.CUDA_SUCCESS:
            return of_context(), 0
        calls.occupancies.append(types.SimpleNamespace(**vars(config)))
        extent = config.attrs[0].value.clusterDim
        clusters = calls.processors // (extent.x * extent.y * extent.z)
        return calls.refusals.get("occupancy", Result.CUDA_SUCCESS), clusters

    def push(context):
        calls.current.append(context)
        return (calls.refusals.get("push", Result.CUDA_SUCCESS),)

    def set_current(context):
        calls.current.append(context)
        return (Result.CUDA_SUCCESS,)

    def allocate(size):
        calls.allocated.append(size)
        # Each allocation begins after the ones before it.
        address = 0x10000000 + 4096 * sum(
            -(-earlier_size // 4096) for earlier_size in calls.allocated[:-1]
        )
        return calls.refusals.get("allocate", Result.CUDA_SUCCESS), address

    def free(address):
        calls.freed.append(address)
        return (Result.CUDA_SUCCESS,)

    def zero(address, value, size, stream):
        calls.zeroed.append((address, value, size))
        return (Result.CUDA_SUCCESS,)

    def exchange(mode):
        calls.modes.append(mode)
        return Result.CUDA_SUCCESS, "CU_STREAM_CAPTURE_MODE_GLOBAL"

    def attribute():
        return types.SimpleNamespace(
            value=types.SimpleNamespace(clusterDim=types.SimpleNamespace())
        )

    class Names:
        """An enumeration whose members are their own names."""

        def __getattr__(self, name):
            return name

    driver = types.ModuleType("driver")
    driver.CUresult = Result
    for name in (
        "CUfunction_attribute",
        "CUlaunchAttributeID",
        "CUtensorMapDataType",
        "CUtensorMapInterleave",
        "CUtensorMapSwizzle",
        "CUtensorMapL2promotion",
        "CUtensorMapFloatOOBfill",
        "CUstreamCaptureMode",
        "CUstream_flags",
    ):
        setattr(driver, name, Names())
    driver.CUlaunchConfig, driver.CUlaunchAttribute = types.SimpleNamespace, attribute
    driver.CUstream = driver.cuuint32_t = driver.cuuint64_t = int
    driver.cuKernelSetAttribute, driver.cuKernelGetFunction = allow, function
    driver.cuTensorMapEncodeTiled, driver.cuLaunchKernelEx = encode, start
    driver.cuTensorMapReplaceAddress = replace_address
    driver.cuOccupancyMaxActiveClusters = occupancy
    driver.cuCtxGetCurrent = lambda: (Result.CUDA_SUCCESS, calls.current[-1])
    driver.cuCtxPushCurrent, driver.cuCtxSetCurrent = push, set_current
    driver.cuMemAlloc, driver.cuMemFree, driver.cuMemsetD8Async = allocate, free, zero
    driver.cuThreadExchangeStreamCaptureMode = exchange
    driver.cuStreamCreate = lambda flags: (Result.CUDA_SUCCESS, "a stream")
    driver.cuStreamSynchronize = driver.cuStreamDestroy = lambda stream: (Result.CUDA_SUCCESS,)
    driver.cuCtxPopCurrent = lambda: (Result.CUDA_SUCCESS, calls.current.pop())
    return driver


def install(monkeypatch):
    """Replace cuda-core by the stand-in; return its recorded calls, and the refusals that tests may
    set."""
    # Tests give this class of arrays the names of several libraries.
    known = {Matrix: readers._BY_CLASS[Matrix], OnGpu: readers._read_protocol}
    monkeypatch.setattr(readers, "_BY_CLASS", known)
    calls = types.SimpleNamespace(
        launches=[],
        shared=[],
        clusters=[],
        maps=[],
        replaced=[],
        current=[0],
        refusals={},
        occupancies=[],
        allocated=[],
        freed=[],
        zeroed=[],
        modes=[],
        processors=132,
    )
    utils = types.ModuleType("utils")
    utils.StridedMemoryView = View
    package, bindings = types.ModuleType("cuda"), types.ModuleType("bindings")
    package.core, bindings.driver = _core(calls), _driver(calls)
    package.bindings, package.core.utils = bindings, utils
    for name, stand_in in {
        "cuda": package,
        "cuda.core": package.core,
        "cuda.core.utils": utils,
        "cuda.bindings": bindings,
        "cuda.bindings.driver": bindings.driver,
    }.items():
        monkeypatch.setitem(sys.modules, name, stand_in)
    return calls


class Device(NamedTuple):
    """A device of PyTorch."""

    type: str
    index: int | None


class Tensor:
    """A tensor of PyTorch."""

    negated = False

    def __init__(self, shape, dtype="float32", pointer=0x1000, stride=None, device=0):
        self.shape, self.dtype, self.pointer = tuple(shape), Dtype(dtype), pointer
        self.device = Device("cuda", device)
        self.strides = stride or tuple(prod(shape[i + 1 :]) for i in range(len(shape)))

    def data_ptr(self):
        return self.pointer

    def stride(self):
        return self.strides

    def is_neg(self):
        return self.negated


class Dtype(str):
    """An element type of PyTorch."""

    __slots__ = ()

    def __str__(self):
        return f"torch.{super().__str__()}"


def parameters(launch, *types_):
    """Return the values of a launch's parameters as types of ctypes; the launch must still be alive."""
    pointers = (ctypes.c_void_p * len(types_)).from_address(launch.address)
    return [t.from_address(p) for t, p in zip(types_, pointers, strict=True)]
