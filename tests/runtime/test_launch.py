"""The arguments that a launch passes to the driver, recorded by a stand-in."""

from ctypes import c_char, c_float, c_int32, c_int64
from dataclasses import replace

import pytest
from programs import kernel, module
from stand_in import CONTEXTS, Result, parameters

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


@pytest.fixture(scope="module")
def compiled_kernel():
    return mlir_smem.compile(TEXT)


@pytest.fixture
def scale(gpu, compiled_kernel):
    return Kernel(compiled_kernel)


def launch_error(scale, gpu, *arguments, **options):
    """Return the error of a launch, which must not have started."""
    with pytest.raises(LaunchError) as error:
        scale.launch(*arguments, **options)
    assert gpu.launches == []
    return str(error.value)


def test_parameters_are_in_the_kernels_order(scale, gpu):
    prepared = scale.prepare(X, 7, 1.5, 1 << 40)
    prepared.launch()
    (launch,) = gpu.launches
    params = parameters(launch, *[c_int64] * 7, c_int32, c_float, c_int64)
    assert [p.value for p in params] == [0x1000, 0x1000, 0, 256, 64, 64, 1, 7, 1.5, 1 << 40]
    assert launch.function == "function of scale"
    assert (launch.gridDimX, launch.gridDimY, launch.gridDimZ) == (2, 1, 1)
    assert (launch.blockDimX, launch.blockDimY, launch.blockDimZ) == (128, 1, 1)
    assert (launch.sharedMemBytes, launch.hStream) == (0, 1)
    assert (launch.attrs, launch.numAttrs) == ([], 0)


def test_a_grid_can_be_given(scale, gpu):
    scale.launch(X, 7, 1.5, 0, grid=(1, 6))
    assert (gpu.launches[0].gridDimX, gpu.launches[0].gridDimY) == (1, 6)


def test_a_grid_larger_than_the_declared_one(scale, gpu):
    message = launch_error(scale, gpu, X, 7, 1.5, 0, grid=(3, 2))
    assert message == "a grid of [3, 2] blocks is larger than the one that scale declares: [2]"


# Prepared launches.


def test_a_prepared_launch_can_start_again(scale, gpu):
    prepared = scale.prepare(X, 7, 1.5, 0)
    assert gpu.launches == []
    prepared.launch()
    prepared.launch()
    first, second = gpu.launches
    assert first.address == second.address
    assert [p.value for p in parameters(second, *[c_int64] * 4)] == [0x1000, 0x1000, 0, 256]


def test_a_prepared_launch_holds_its_arrays(scale, gpu):
    import gc
    import weakref

    class Array(Matrix):
        """An array that supports weak references."""

    array = Array(0x1000, (256, 64), (64, 1), 2)
    reference = weakref.ref(array)
    prepared = scale.prepare(array, 7, 1.5, 0)
    del array
    gc.collect()
    assert reference() is not None
    del prepared
    gc.collect()
    assert reference() is None


def test_a_stream_can_be_given(scale, gpu):
    from cuda.core import Stream

    prepared = scale.prepare(X, 7, 1.5, 0)
    for stream in (Stream(0x51), None, 0x52, Stream(0x51)):
        prepared.launch(stream)
    scale.launch(X, 7, 1.5, 0, stream=Stream(0x53))
    assert [launch.hStream for launch in gpu.launches] == [0x51, 1, 0x52, 0x51, 0x53]


@pytest.mark.parametrize("stream", ["default", 1.5, (0, 1)], ids=repr)
def test_an_object_that_is_not_a_stream(scale, gpu, stream):
    message = launch_error(scale, gpu, X, 7, 1.5, 0, stream=stream)
    assert message == (
        f"{stream!r} is not a stream; expected one of cuda-core, an object with __cuda_stream__, or "
        "a handle"
    )


def test_a_launch_that_the_driver_refuses(scale, gpu):
    gpu.refusals["launch"] = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(LaunchError) as error:
        scale.launch(X, 7, 1.5, 0)
    assert str(error.value) == (
        "the driver refuses to launch scale with Extents(grid=(2, 1, 1), block=(128, 1, 1), "
        "cluster=None, shared_bytes=0, programmatic=False): CUDA_ERROR_INVALID_VALUE"
    )


# GPUs.


def test_the_kernels_gpu_is_current_while_it_is_launched(gpu, compiled_kernel):
    second = Kernel(compiled_kernel, device=1).prepare(X, 7, 1.5, 0)
    Kernel(compiled_kernel, device=0)
    depth = len(gpu.current)
    second.launch()
    assert [launch.context for launch in gpu.launches] == [CONTEXTS[1]]
    assert (gpu.current[-1], len(gpu.current)) == (CONTEXTS[0], depth)


def test_a_gpu_that_cannot_be_made_current(gpu, compiled_kernel):
    second = Kernel(compiled_kernel, device=1).prepare(X, 7, 1.5, 0)
    Kernel(compiled_kernel, device=0)
    gpu.refusals["push"] = Result.CUDA_ERROR_INVALID_VALUE
    message = "^the GPU cannot be made current: CUDA_ERROR_INVALID_VALUE$"
    with pytest.raises(LaunchError, match=message):
        second.launch()
    assert gpu.launches == []


def test_dynamic_shared_memory_is_allowed(gpu):
    Kernel(mlir_smem.compile(module()))
    size = 64 * 64 * 2 + 1024
    assert gpu.shared == [("product", size)]


def test_too_much_shared_memory(gpu, compiled_kernel):
    gpu.refusals["allow"] = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(
        LaunchError, match="the GPU cannot give a thread block 0 bytes of shared memory"
    ):
        Kernel(compiled_kernel)


def test_a_kernel_that_cannot_be_loaded(gpu, compiled_kernel):
    gpu.refusals["load"] = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(LaunchError, match="scale cannot be loaded: "):
        Kernel(compiled_kernel)


def test_a_missing_gpu(gpu, compiled_kernel):
    with pytest.raises(LaunchError, match="no GPU can be used: invalid device ordinal"):
        Kernel(compiled_kernel, device=3)


@pytest.mark.parametrize("count", [0, 3, 5])
def test_the_number_of_arguments(scale, gpu, count):
    assert launch_error(scale, gpu, *[X] * count) == (
        f"scale takes 4 arguments (X, arg1, arg2, arg3), not {count}"
    )


@pytest.mark.parametrize(
    "matrix, message",
    [
        (Matrix(0x1000, (256, 32), (64, 1), 2), "X is [256, 32]; expected ['M', 64]"),
        (Matrix(0x1000, (4, 64), (64, 1), 2), "M is 4; expected a positive multiple of 8"),
        (Matrix(0x1001, (256, 64), (64, 1), 2), "X begins at 0x1001, not a multiple of 2"),
        (Matrix(0x1000, (256,), (64,), 2), "X has 1 dimensions; expected 2"),
    ],
)
def test_matrices_that_do_not_fit_start_nothing(scale, gpu, matrix, message):
    assert launch_error(scale, gpu, matrix, 7, 1.5, 0) == message


def test_a_type_that_cannot_be_passed(gpu):
    text = module(kernel("", arguments="%p: !llvm.ptr"))
    message = launch_error(Kernel(mlir_smem.compile(text)), gpu, 0, grid=(1,))
    assert message == "arg0 is of type !llvm.ptr, which cannot be passed"


def test_a_kernel_without_a_grid(gpu):
    text = module(kernel("", arguments="%n: i32"))
    message = launch_error(Kernel(mlir_smem.compile(text)), gpu, 7)
    assert message == "product has no smem.grid; pass a grid"


@pytest.mark.parametrize("number", ["7", 1.5, None, 1 << 40], ids=repr)
def test_a_value_that_does_not_fit_the_scalar_type(scale, gpu, number):
    assert launch_error(scale, gpu, X, number, 1.5, 0).startswith("arg1 is ")


# Clusters and tensor maps.


def test_a_programmatic_kernel_may_start_early(gpu, compiled_kernel):
    (kernel_entry,) = compiled_kernel.manifest["kernels"]
    manifest = {**compiled_kernel.manifest, "kernels": [{**kernel_entry, "programmatic": True}]}
    Kernel(replace(compiled_kernel, manifest=manifest)).launch(X, 7, 1.5, 0)
    (attribute,) = gpu.launches[0].attrs
    assert attribute.id == "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"
    assert attribute.value.programmaticStreamSerializationAllowed == 1


def with_cluster(compiled_kernel, *cluster):
    (kernel_entry,) = compiled_kernel.manifest["kernels"]
    manifest = {**compiled_kernel.manifest, "kernels": [{**kernel_entry, "cluster": list(cluster)}]}
    return Kernel(replace(compiled_kernel, manifest=manifest))


@pytest.mark.parametrize("cluster, allowed", [((8, 1, 1), []), ((16, 1, 1), [("scale", 1)])])
def test_a_large_cluster_is_allowed(gpu, compiled_kernel, cluster, allowed):
    with_cluster(compiled_kernel, *cluster)
    assert gpu.clusters == allowed


def test_a_cluster_is_launched_as_one(gpu, compiled_kernel):
    with_cluster(compiled_kernel, 2, 1, 1).launch(X, 7, 1.5, 0)
    (launch,) = gpu.launches
    ((attribute,), count) = launch.attrs, launch.numAttrs
    assert (attribute.id, count) == ("CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION", 1)
    assert vars(attribute.value.clusterDim) == {"x": 2, "y": 1, "z": 1}


def test_resident_blocks_are_those_of_whole_clusters(gpu, compiled_kernel):
    gpu.processors = 130
    assert Kernel(compiled_kernel).resident_blocks() == 130
    assert with_cluster(compiled_kernel, 2, 2, 1).resident_blocks() == 128
    config = gpu.occupancies[-1]
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (2, 2, 1)


def test_resident_blocks_are_known_in_a_thread_without_a_gpu(gpu, compiled_kernel):
    kernel = Kernel(compiled_kernel)
    gpu.current[:] = [0]
    assert kernel.resident_blocks() == 132
    assert gpu.current == [0]


@pytest.mark.parametrize("processors, refusals", [(3, {}), (132, {"occupancy": Result(1)})])
def test_a_cluster_that_does_not_fit(gpu, compiled_kernel, processors, refusals):
    gpu.processors = processors
    gpu.refusals.update(refusals)
    message = r"no cluster of \(2, 2, 1\) blocks of scale fits the GPU: CUDA_"
    with pytest.raises(LaunchError, match=message):
        with_cluster(compiled_kernel, 2, 2, 1).resident_blocks()


def test_a_grid_of_half_a_cluster(gpu, compiled_kernel):
    message = launch_error(with_cluster(compiled_kernel, 2, 1, 1), gpu, X, 7, 1.5, 0, grid=(1,))
    assert message.startswith("a grid of [1, 1, 1] blocks is not possible; scale has clusters")


def with_maps(compiled_kernel, *swizzles):
    (kernel_entry,) = compiled_kernel.manifest["kernels"]
    entry = {"argument": "X", "box": [64, 64], "contiguous": 1, "element": "bf16"}
    maps = [{**entry, "swizzle": swizzle} for swizzle in swizzles]
    manifest = {**compiled_kernel.manifest, "kernels": [{**kernel_entry, "tensor_maps": maps}]}
    return Kernel(replace(compiled_kernel, manifest=manifest))


def test_tensor_maps_follow_the_arguments(gpu, compiled_kernel):
    prepared = with_maps(compiled_kernel, "128B", "none").prepare(X, 7, 1.5, 5)
    prepared.launch()
    assert [arguments[2] for arguments in gpu.maps] == [0x1000, 0x1000]
    words = [*[c_int64] * 7, c_int32, c_float, c_int64]
    params = parameters(gpu.launches[0], *words, c_char * 128, c_char * 128)
    assert [p.raw for p in params[-2:]] == [bytes([1]) * 128, bytes([2]) * 128]
    assert params[-3].value == 5


def test_a_matrix_that_tma_refuses_starts_nothing(gpu, compiled_kernel):
    message = launch_error(with_maps(compiled_kernel, "128B", "32B"), gpu, X, 7, 1.5, 5)
    assert (
        message == "the box of X has lines of 128 bytes; TMA takes at most 32 with the swizzle 32B"
    )
    assert gpu.maps == []
