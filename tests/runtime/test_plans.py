"""Launches whose checks are kept: what is read of arrays, what a later launch checks and packs."""

import threading
from ctypes import c_float, c_int64
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import pytest
from programs import kernel, module
from stand_in import CONTEXTS, OnGpu, Result, parameters

import mlir_smem
from mlir_smem.runtime import Kernel, LaunchError, Matrix, checked, readers
from mlir_smem.runtime.plans import BoundedCache, LaunchPlan

BF16 = np.dtype(ml_dtypes.bfloat16)

TEXT = module(
    kernel(
        "",
        name="scale",
        arguments="%x: memref<?x64xbf16, strided<[?, 1]>> "
        '{smem.name = "X", smem.shape = ["M", "K"]}, %f: f32',
        attributes=', smem.grid = [["M", 128]], smem.multiples = {M = 8}',
    )
)


@dataclass(frozen=True)
class Device:
    """PyTorch's device."""

    type: str
    index: int | None


class Tensor:
    """A stand-in for a tensor of PyTorch, whose reads are counted."""

    reads, negated = 0, False

    def __init__(self, pointer=0x2000, shape=(256, 64), stride=(64, 1), device=0, name="bfloat16"):
        self.pointer, self.shape, self.dtype, self._stride = pointer, shape, name, stride
        self.device = Device("cuda", device)

    def data_ptr(self):
        Tensor.reads += 1
        return self.pointer

    def stride(self):
        return self._stride

    def is_neg(self):
        return self.negated


@pytest.fixture(scope="module")
def compiled_kernel():
    return mlir_smem.compile(TEXT)


@pytest.fixture
def scale(gpu, compiled_kernel, monkeypatch):
    monkeypatch.setattr(readers, "_BY_CLASS", {Matrix: readers._read_matrix})
    return Kernel(compiled_kernel)


@pytest.fixture
def checks(monkeypatch):
    """The names of the arrays that are checked, in their order."""
    names = []

    def check(argument, matrix):
        names.append(argument["name"])
        return check_matrix(argument, matrix)

    check_matrix = checked.check_matrix
    monkeypatch.setattr(checked, "check_matrix", check)
    return names


def parameter_values(launch):
    """Return the fields of X, which begin with its address twice, and the number."""
    return [p.value for p in parameters(launch, *[c_int64] * 7, c_float)]


def test_arrays_of_equal_signatures_are_checked_once(scale, gpu, checks):
    for pointer, number in ((0x2000, 1.0), (0x3000, 2.0), (0x2000, 3.0)):
        scale.launch(Tensor(pointer), number)
        assert parameter_values(gpu.launches[-1]) == [pointer, pointer, 0, 256, 64, 64, 1, number]
    assert checks == ["X"]


@pytest.mark.parametrize(
    "other",
    [
        Tensor(shape=(128, 64)),
        Tensor(stride=(72, 1)),
        Matrix(0x2000, (256, 64), (64, 1), 2),
        OnGpu((256, 64), BF16, (64, 1)),
    ],
)
def test_another_signature_is_checked(scale, gpu, checks, other):
    scale.launch(Tensor(), 1.0)
    for _ in range(2):
        scale.launch(other, 1.0)
    assert checks == ["X", "X"]


def test_another_grid_is_another_plan(scale, gpu):
    for grid in (None, (1,), [1, 6], None):
        scale.launch(Tensor(), 1.0, grid=grid)
    grids = [(launch.gridDimX, launch.gridDimY) for launch in gpu.launches]
    assert grids == [(2, 1), (1, 1), (1, 6), (2, 1)]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (Tensor(0x2001), "X begins at 0x2001, not a multiple of 2"),
        (Tensor(0), "X has no memory: its address is 0"),
        (Tensor(device=1), "X is on GPU 1, but the kernel is on GPU 0"),
        (Tensor(name="float32"), "X has elements of float32; expected bf16"),
        (Tensor(shape=(4, 64)), "M is 4; expected a positive multiple of 8"),
        (np.zeros((256, 64), BF16), "X is in host memory; move it to the GPU, or let run_on_gpu"),
        ("X", "X is not an array on a GPU: "),
    ],
)
@pytest.mark.parametrize("again", [False, True])
def test_what_does_not_fit_is_refused_after_what_does(scale, gpu, wrong, message, again):
    scale.launch(Tensor(), 1.0)
    for _ in range(1 + again):
        with pytest.raises(LaunchError) as error:
            scale.launch(wrong, 1.0)
        assert str(error.value).startswith(message)
    assert len(gpu.launches) == 1


def test_a_lazily_negated_tensor_is_refused_after_another(scale, gpu):
    scale.launch(Tensor(), 1.0)
    negated = Tensor()
    negated.negated = True
    with pytest.raises(LaunchError) as error:
        scale.launch(negated, 1.0)
    assert str(error.value) == (
        "X is not an array on a GPU: its memory holds the negated values; call resolve_neg()"
    )
    assert len(gpu.launches) == 1


@pytest.mark.parametrize("number", ["1", None, 1e300])
def test_a_number_that_does_not_fit_is_refused_after_one_that_does(scale, gpu, number):
    scale.launch(Tensor(), 1.0)
    with pytest.raises(LaunchError) as error:
        scale.launch(Tensor(), number)
    assert str(error.value) == f"arg1 is {number!r}, which is not of type f32"
    assert len(gpu.launches) == 1


def test_an_array_without_a_signature_is_checked_each_time(scale, gpu, checks):
    tensor = Tensor()
    tensor.shape = [256, 64]
    scale.launch(tensor, 1.0)
    scale.launch(tensor, 2.0)
    assert checks == ["X", "X"]
    assert len(gpu.launches) == 2


def test_old_plans_are_dropped(scale):
    cache = BoundedCache(limit=4)
    plans = {number: object() for number in range(9)}
    for number, plan in plans.items():
        cache.keep(number, plan)
        assert cache.get(number) is plan
    remaining = [number for number in plans if cache.get(number)]
    assert len(remaining) <= 4 and remaining[-1] == 8


# Tensor maps.


@pytest.fixture
def kernel_with_map(gpu, compiled_kernel, scale):
    (kernel_entry,) = compiled_kernel.manifest["kernels"]
    entry = {
        "argument": "X",
        "box": [64, 64],
        "contiguous": 1,
        "element": "bf16",
        "swizzle": "128B",
    }
    arguments = [{**kernel_entry["arguments"][0], "alignment": 16}, *kernel_entry["arguments"][1:]]
    manifest = {
        **compiled_kernel.manifest,
        "kernels": [{**kernel_entry, "arguments": arguments, "tensor_maps": [entry]}],
    }
    return Kernel(replace(compiled_kernel, manifest=manifest))


def test_a_map_gets_another_address_where_it_changed(kernel_with_map, gpu):
    for pointer in (0x2000, 0x2000, 0x3000, 0x3000, 0x2000):
        kernel_with_map.launch(Tensor(pointer), 1.0)
    assert [arguments[2] for arguments in gpu.maps] == [0x2000]
    assert gpu.replaced == [0x3000, 0x2000]


def test_a_map_of_another_shape_is_encoded(kernel_with_map, gpu):
    kernel_with_map.launch(Tensor(), 1.0)
    kernel_with_map.launch(Tensor(shape=(128, 64)), 1.0)
    assert [arguments[3] for arguments in gpu.maps] == [[64, 256], [64, 128]]
    assert gpu.replaced == []


def test_an_address_that_the_driver_refuses_is_given_again(kernel_with_map, gpu):
    kernel_with_map.launch(Tensor(0x2000), 1.0)
    gpu.refusals["replace"] = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(LaunchError, match=r"the driver cannot encode TensorMap\(.*pointer=12288"):
        kernel_with_map.launch(Tensor(0x3000), 1.0)
    del gpu.refusals["replace"]
    assert len(gpu.launches) == 1
    kernel_with_map.launch(Tensor(0x2000), 1.0)
    assert gpu.replaced == [0x3000, 0x2000]


def test_maps_are_encoded_in_a_thread_without_a_gpu(kernel_with_map, gpu):
    gpu.current[:] = [0]
    for pointer in (0x2000, 0x3000):
        kernel_with_map.launch(Tensor(pointer), 1.0)
    assert [arguments[2] for arguments in gpu.maps] == [0x2000]
    assert gpu.replaced == [0x3000]
    assert gpu.current == [0]


def test_a_prepared_launch_keeps_its_own_parameters(scale, gpu):
    first, second = scale.prepare(Tensor(0x2000), 1.0), scale.prepare(Tensor(0x3000), 2.0)
    scale.launch(Tensor(0x4000), 3.0)
    first.launch()
    second.launch()
    addresses_and_numbers = [
        parameter_values(launch)[:1] + parameter_values(launch)[-1:] for launch in gpu.launches
    ]
    assert addresses_and_numbers == [[0x4000, 3.0], [0x2000, 1.0], [0x3000, 2.0]]


# Threads.


def test_launches_of_two_threads_have_their_own_memory(scale, gpu, monkeypatch):
    """While one thread is within the driver, another one launches."""
    scale.launch(Tensor(0x2000), 1.0)
    plan = scale.planned([Tensor(), 1.0], None)[0]
    inner = plan.starter._launch
    launched = []

    def start(config, function, address, extra):
        if threading.current_thread() is threading.main_thread():
            thread = threading.Thread(target=scale.launch, args=(Tensor(0x5000), 5.0))
            thread.start()
            thread.join()
        result = inner(config, function, address, extra)
        launched.append(
            (parameter_values(gpu.launches[-1])[0], parameter_values(gpu.launches[-1])[-1])
        )
        return result

    monkeypatch.setattr(plan.starter, "_launch", start)
    scale.launch(Tensor(0x4000), 4.0)
    assert launched == [(0x5000, 5.0), (0x4000, 4.0)]
    assert len(plan._free) == 2


def test_the_kernels_gpu_is_pushed_from_another_context(scale, gpu):
    scale.launch(Tensor(), 1.0)
    gpu.current.append(CONTEXTS[1])
    scale.launch(Tensor(), 1.0)
    assert [launch.context for launch in gpu.launches] == [CONTEXTS[0]] * 2
    assert gpu.current[-1] == CONTEXTS[1]


# Reading.


def test_readers_by_class(gpu):
    class Parameter(Tensor):
        pass

    class Jax:
        def unsafe_buffer_pointer(self):
            return 1

    class Named(Matrix):
        pass

    class_readers = [readers.reader(cls) for cls in (Parameter, Jax, Named, OnGpu, str)]
    protocol = readers._read_protocol
    assert class_readers == [
        readers._read_torch,
        readers._read_jax,
        readers._read_matrix,
        protocol,
        protocol,
    ]
    cupy = type("ndarray", (), {"__module__": "cupy._core.core"})
    assert readers.reader(cupy) is readers._read_cupy


def test_the_signature_of_a_protocols_array(gpu):
    for strides in (None, (64, 1)):
        pointer, signature = readers._read_protocol(OnGpu((4, 64), BF16, strides, 0x40, device=1))
        assert (pointer, signature) == (0x40, ("bfloat16", (4, 64), strides, (1, True)))


def test_plans_say_which_address_is_wrong(gpu, compiled_kernel):
    (kernel_entry,) = compiled_kernel.manifest["kernels"]
    matrix = Matrix(0x2000, (256, 64), (64, 1), 2)
    plan = LaunchPlan(kernel_entry, {"X": matrix}, [], None)
    assert plan.frame([0x2000], [1.0]).address
    with pytest.raises(LaunchError, match="X begins at 0x2003, not a multiple of 2"):
        plan.frame([0x2003], [1.0])
