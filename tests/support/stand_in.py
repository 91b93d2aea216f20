"""A stand-in for cuda-core and cuda-bindings, which says what a launch hands to the driver."""

import ctypes
import enum
import sys
import types

#: The contexts of two GPUs.
CONTEXTS = (0xC0, 0xC1)


class Result(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1


class View:
    """An array as cuda-core sees it; `OnGpu` describes itself."""

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


class Map:
    """An encoded tensor map: 128 bytes of its number."""

    def __init__(self, number):
        self._bytes = ctypes.create_string_buffer(bytes([number]) * 128, 128)

    def getPtr(self):  # noqa: N802
        return ctypes.addressof(self._bytes)


def _core(asked):
    class Stream:
        def __init__(self, handle):
            self.handle = handle

        def __cuda_stream__(self):
            return (0, self.handle)

    class Device:
        compute_capability = (9, 0)
        name = "a stand-in"
        properties = types.SimpleNamespace(multiprocessor_count=132)

        def __init__(self, number=0):
            self.device_id = number

        def set_current(self):
            if self.device_id >= len(CONTEXTS):
                raise RuntimeError("invalid device ordinal")
            asked.current.append(CONTEXTS[self.device_id])

    class ObjectCode:
        @classmethod
        def from_cubin(cls, cubin):
            return cls()

        def get_kernel(self, name):
            return types.SimpleNamespace(handle=name)

    core = types.ModuleType("core")
    core.Device, core.ObjectCode, core.Stream = Device, ObjectCode, Stream
    return core


def _driver(asked):
    def allow(attribute, value, handle, device):
        assert attribute == "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
        asked.shared.append((handle, value))
        return (asked.refusals.get("allow", Result.CUDA_SUCCESS),)

    def function(kernel):
        return asked.refusals.get("load", Result.CUDA_SUCCESS), f"function of {kernel}"

    def encode(*arguments):
        asked.maps.append(arguments)
        return asked.refusals.get("encode", Result.CUDA_SUCCESS), Map(len(asked.maps))

    def start(config, function, address, extra):
        assert extra == 0
        launch = types.SimpleNamespace(**vars(config))
        launch.function, launch.address, launch.context = function, address, asked.current[-1]
        asked.launches.append(launch)
        return (asked.refusals.get("launch", Result.CUDA_SUCCESS),)

    def occupancy(function, config):
        asked.occupancies.append(types.SimpleNamespace(**vars(config)))
        along = config.attrs[0].value.clusterDim
        room = asked.processors // (along.x * along.y * along.z)
        return asked.refusals.get("occupancy", Result.CUDA_SUCCESS), room

    def push(context):
        asked.current.append(context)
        return (asked.refusals.get("push", Result.CUDA_SUCCESS),)

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
    ):
        setattr(driver, name, Names())
    driver.CUlaunchConfig, driver.CUlaunchAttribute = types.SimpleNamespace, attribute
    driver.CUstream = driver.cuuint32_t = driver.cuuint64_t = int
    driver.cuKernelSetAttribute, driver.cuKernelGetFunction = allow, function
    driver.cuTensorMapEncodeTiled, driver.cuLaunchKernelEx = encode, start
    driver.cuOccupancyMaxActiveClusters = occupancy
    driver.cuCtxGetCurrent = lambda: (Result.CUDA_SUCCESS, asked.current[-1])
    driver.cuCtxPushCurrent = push
    driver.cuCtxPopCurrent = lambda: (Result.CUDA_SUCCESS, asked.current.pop())
    return driver


def install(monkeypatch):
    """Puts the stand-in in cuda-core's place; what it was asked for, and what it shall refuse."""
    asked = types.SimpleNamespace(
        launches=[], shared=[], maps=[], current=[0], refusals={}, occupancies=[], processors=132
    )
    utils = types.ModuleType("utils")
    utils.StridedMemoryView = View
    package, bindings = types.ModuleType("cuda"), types.ModuleType("bindings")
    package.core, bindings.driver = _core(asked), _driver(asked)
    package.bindings, package.core.utils = bindings, utils
    for name, stand_in in {
        "cuda": package,
        "cuda.core": package.core,
        "cuda.core.utils": utils,
        "cuda.bindings": bindings,
        "cuda.bindings.driver": bindings.driver,
    }.items():
        monkeypatch.setitem(sys.modules, name, stand_in)
    return asked


def parameters(launch, *types_):
    """The values that a launch's parameters point to, read as those types of ctypes; what was
    launched must still be there."""
    pointers = (ctypes.c_void_p * len(types_)).from_address(launch.address)
    return [t.from_address(p) for t, p in zip(types_, pointers, strict=True)]
