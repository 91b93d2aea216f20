"""What a launch hands to the driver, seen by a stand-in for cuda-core."""

import sys
import types

import ml_dtypes
import numpy as np
import pytest
from programs import kernel, module

import mlir_smem
from mlir_smem.runtime import Kernel, LaunchError, Matrix

TEXT = module(
    kernel(
        "",
        name="scale",
        arguments=(
            '%x: memref<?x64xbf16> {smem.name = "X", smem.shape = ["M", "K"]}, '
            "%n: i32, %f: f32, %i: index"
        ),
        attributes=', smem.grid = [["M", 128]], smem.multiples = {M = 8}',
    )
)
X = Matrix(0x1000, (256, 64), (64, 1), 2)


class Result:
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1


class View:
    """An array as cuda-core sees it: NumPy's are in host memory."""

    def __init__(self, array):
        self.is_device_accessible = False
        self.dtype, self.shape = array.dtype, array.shape

    @classmethod
    def from_any_interface(cls, array, stream_ptr):
        if not isinstance(array, np.ndarray):
            raise BufferError("no interface")
        return cls(array)


@pytest.fixture
def gpu(monkeypatch):
    """Puts the stand-in in cuda-core's place; what it was asked for."""
    asked = types.SimpleNamespace(launches=[], shared=[], error=Result.CUDA_SUCCESS)

    class Stream:
        pass

    class Device:
        device_id = 0
        compute_capability = (9, 0)

        def __init__(self, number=0):
            self.number = number

        def set_current(self):
            if self.number > 0:
                raise RuntimeError("invalid device ordinal")

        def create_stream(self, foreign):
            return ("foreign", foreign)

    class ObjectCode:
        @classmethod
        def from_cubin(cls, cubin):
            return cls()

        def get_kernel(self, name):
            return types.SimpleNamespace(handle=name)

    def allow(attribute, size, handle, device):
        asked.shared.append((handle, size))
        return (asked.error,)

    core, utils, driver = (types.ModuleType(n) for n in ("core", "utils", "driver"))
    core.Device, core.ObjectCode, core.Stream = Device, ObjectCode, Stream
    core.LaunchConfig = lambda **config: config
    core.LEGACY_DEFAULT_STREAM = "default"
    core.launch = lambda *launch: asked.launches.append(launch)
    utils.StridedMemoryView = View
    driver.CUfunction_attribute = types.SimpleNamespace(
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8
    )
    driver.CUresult, driver.cuKernelSetAttribute = Result, allow
    package, bindings = types.ModuleType("cuda"), types.ModuleType("bindings")
    package.core, package.bindings, core.utils, bindings.driver = core, bindings, utils, driver
    for name, stand_in in {
        "cuda": package,
        "cuda.core": core,
        "cuda.core.utils": utils,
        "cuda.bindings": bindings,
        "cuda.bindings.driver": driver,
    }.items():
        monkeypatch.setitem(sys.modules, name, stand_in)
    return asked


@pytest.fixture(scope="module")
def compiled():
    return mlir_smem.compile(TEXT)


@pytest.fixture
def scale(gpu, compiled):
    return Kernel(compiled)


def refused(scale, gpu, *arguments, **options):
    """What is said of a launch, which must not have been started."""
    with pytest.raises(LaunchError) as error:
        scale.launch(*arguments, **options)
    assert gpu.launches == []
    return str(error.value)


def test_parameters_stand_in_the_kernels_order(scale, gpu):
    scale.launch(X, 7, 1.5, 1 << 40)
    ((stream, config, handle, *parameters),) = gpu.launches
    assert (stream, handle.handle) == ("default", "scale")
    assert [p.value for p in parameters] == [0x1000, 0x1000, 0, 256, 64, 64, 1, 7, 1.5, 1 << 40]
    assert [type(p).__name__ for p in parameters[-3:]] == ["c_int", "c_float", "c_long"]
    assert config == {"grid": (2, 1, 1), "block": (128, 1, 1), "shmem_size": 0}


def test_a_grid_can_be_given(scale, gpu):
    scale.launch(X, 7, 1.5, 0, grid=(5, 6))
    assert gpu.launches[0][1]["grid"] == (5, 6, 1)


def test_a_stream_can_be_given(scale, gpu):
    from cuda.core import Stream

    own, foreign = Stream(), object()
    scale.launch(X, 7, 1.5, 0, stream=own)
    scale.launch(X, 7, 1.5, 0, stream=foreign)
    assert [launch[0] for launch in gpu.launches] == [own, ("foreign", foreign)]


def test_shared_memory_is_asked_for(gpu):
    Kernel(mlir_smem.compile(module()))
    assert gpu.shared == [("product", 64 * 64 * 2 + 1024)]


def test_shared_memory_that_cannot_be_had(gpu, compiled):
    gpu.error = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(LaunchError, match="the GPU cannot give a block 0 bytes of shared memory"):
        Kernel(compiled)


def test_a_gpu_that_is_not_there(gpu, compiled):
    with pytest.raises(LaunchError, match="no GPU can be used: invalid device ordinal"):
        Kernel(compiled, device=3)


@pytest.mark.parametrize("count", [0, 3, 5])
def test_the_number_of_arguments(scale, gpu, count):
    assert refused(scale, gpu, *[X] * count) == (
        f"scale takes 4 arguments (X, arg1, arg2, arg3), not {count}"
    )


@pytest.mark.parametrize(
    "matrix, said",
    [
        (Matrix(0x1000, (256, 32), (64, 1), 2), "X is [256, 32]; expected ['M', 64]"),
        (Matrix(0x1000, (4, 64), (64, 1), 2), "M is 4; expected a positive multiple of 8"),
        (Matrix(0x1008, (256, 64), (64, 1), 2), "X begins at 0x1008, not a multiple of 16"),
        (Matrix(0x1000, (256,), (64,), 2), "X has 1 dimensions; expected 2"),
    ],
)
def test_matrices_that_do_not_fit_start_nothing(scale, gpu, matrix, said):
    assert refused(scale, gpu, matrix, 7, 1.5, 0) == said


@pytest.mark.parametrize(
    "array, said",
    [
        (object(), "X is not an array on a GPU: no interface"),
        (np.ones((256, 64), ml_dtypes.bfloat16), "X is in host memory; move it to the GPU"),
    ],
)
def test_arrays_that_are_not_on_the_gpu(scale, gpu, array, said):
    assert refused(scale, gpu, array, 7, 1.5, 0) == said


def test_arrays_of_another_element_type(scale, gpu, monkeypatch):
    monkeypatch.setattr(View, "is_device_accessible", True, raising=False)
    monkeypatch.setattr(
        View, "__init__", lambda self, a: self.__dict__.update(dtype=a.dtype, shape=a.shape)
    )
    said = refused(scale, gpu, np.ones((256, 64), np.float32), 7, 1.5, 0)
    assert said == "X has elements of float32; expected bf16"


def test_a_type_that_cannot_be_passed(gpu):
    text = module(kernel("", arguments="%p: !llvm.ptr"))
    said = refused(Kernel(mlir_smem.compile(text)), gpu, 0, grid=(1,))
    assert said == "arg0 is of type !llvm.ptr, which cannot be passed"


def test_a_kernel_without_a_grid(gpu):
    text = module(kernel("", arguments="%n: i32"))
    said = refused(Kernel(mlir_smem.compile(text)), gpu, 7)
    assert said == "product has no smem.grid; give a grid"


@pytest.mark.parametrize("number", ["7", 1.5, None, 1 << 40], ids=repr)
def test_what_is_no_number_of_the_scalars_type(scale, gpu, number):
    assert refused(scale, gpu, X, number, 1.5, 0).startswith("arg1 is ")
