"""Launches on the chip: tensor maps, clusters, arrays of other packages, and the time of a launch."""

import time
from math import prod

import numpy as np
import pytest

import mlir_smem
from mlir_smem.runtime import Kernel, LaunchError, Matrix, run_on_gpu
from mlir_smem.runtime.arguments import DTYPES

#: One thread copies a box of A to the same coordinates of D, through shared memory.
BOX = """
gpu.module @kernels {{
  llvm.mlir.global internal @buffer() {{addr_space = 3 : i32, alignment = 1024 : i64}}
      : !llvm.array<32768 x i8>
  llvm.mlir.global internal @barrier() {{addr_space = 3 : i32, alignment = 8 : i64}} : i64
  gpu.func @box(%A: {matrix} {{smem.name = "A"}}, %D: {matrix} {{smem.name = "D"}},
                %a: !llvm.ptr {{smem.tensor_map = {{argument = 0 : i64, {map}}}}},
                %d: !llvm.ptr {{smem.tensor_map = {{argument = 1 : i64, {map}}}}})
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %zero = arith.constant 0 : index
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %zero : index
    scf.if %first {{
      %one = arith.constant 1 : i32
      %phase = arith.constant 0 : i32
      %ticks = arith.constant 1000000 : i32
      %bytes = arith.constant {bytes} : i32
      %buffer = llvm.mlir.addressof @buffer : !llvm.ptr<3>
      %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
      nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32 -> i64
      {coordinates}
      %target = llvm.addrspacecast %buffer : !llvm.ptr<3> to !llvm.ptr<7>
      nvvm.cp.async.bulk.tensor.shared.cluster.global %target, %a, %barrier, box[{names}]
          : !llvm.ptr<7>, !llvm.ptr
      nvvm.mbarrier.try_wait.parity %barrier, %phase, %ticks : !llvm.ptr<3>, i32, i32
      nvvm.cp.async.bulk.tensor.global.shared.cta %d, %buffer, box[{names}]
          : !llvm.ptr, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }}
    gpu.return
  }}
}}
"""

#: Each CTA writes its rank in its cluster, at the index of its block id.
RANKS = """
gpu.module @kernels {{
  gpu.func @ranks(%D: memref<?xi32> {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: 1, 1, 1>,
                         known_cluster_size = array<i32: {cluster}>}} {{
    %x = gpu.block_id x
    %y = gpu.block_id y
    %width = gpu.grid_dim x
    %row = arith.muli %y, %width : index
    %i = arith.addi %row, %x : index
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    memref.store %rank, %D[%i] : memref<?xi32>
    gpu.return
  }}
}}
"""

#: One CTA of 64 threads adds X to itself.
DOUBLE = """
gpu.module @kernels {{
  gpu.func @double(%X: memref<64x{element}> {{smem.name = "X"}})
      kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %i = gpu.thread_id x
    %x = memref.load %X[%i] : memref<64x{element}>
    %twice = {add} %x, %x : {element}
    memref.store %twice, %X[%i] : memref<64x{element}>
    gpu.return
  }}
}}
"""

#: A CTA copies X, of any element type, to shared memory.
COPY = """
gpu.module @kernels {{
  gpu.func @copied(%X: memref<64x64x{element}> {{smem.name = "X"}})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %x = "smem.alloc"() : () -> !smem.tile<tensor<64x64x{element}>, #smem.auto>
    "smem.copy"(%X, %x) : (memref<64x64x{element}>,
        !smem.tile<tensor<64x64x{element}>, #smem.auto>) -> ()
    gpu.return
  }}
}}
"""


def box_kernel(shape, box, start, contiguous, element, swizzle):
    """Return the text of BOX for matrices of a shape, contiguous along one dimension."""
    order = [contiguous, *(d for d in reversed(range(len(shape))) if d != contiguous)]
    strides, step = [0] * len(shape), 1
    for dim in order:
        strides[dim], step = step, step * shape[dim]
    extents = f"array<i64: {', '.join(map(str, box))}>"
    text = BOX.format(
        matrix=f"memref<{'x'.join(map(str, shape))}x{element}, strided<{strides}>>",
        map=f"box = {extents}, contiguous = {contiguous} : i64, "
        f'element = "{element}", swizzle = "{swizzle}"',
        bytes=prod(box) * DTYPES[element].itemsize,
        coordinates="\n      ".join(
            f"%c{i} = arith.constant {start[dim]} : i32" for i, dim in enumerate(order)
        ),
        names=", ".join(f"%c{i}" for i in range(len(shape))),
    )
    return text, order


BOXES = [
    # shape, box, where it begins, contiguous
    ((100, 128), (64, 16), (32, 48), 1),
    ((100, 128), (64, 16), (80, 112), 1),
    ((100, 128), (64, 16), (99, 0), 1),
    ((128, 100), (16, 64), (48, 80), 0),
    ((5, 40, 64), (1, 32, 16), (3, 16, 32), 2),
    ((5, 64, 40), (1, 16, 32), (3, 32, 16), 1),
    ((3, 4, 20, 64), (1, 1, 16, 16), (2, 1, 8, 16), 3),
    ((2, 3, 4, 20, 64), (1, 1, 2, 16, 16), (1, 2, 1, 8, 16), 4),
]


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("element", ["bf16", "f16", "f32", "i32", "i8", "f8E4M3FN"])
@pytest.mark.parametrize("shape, box, at, contiguous", BOXES)
def test_a_box_goes_through_shared_memory(shape, box, at, contiguous, element, swizzle):
    dtype = DTYPES[element]
    widths = {"none": 1024, "32B": 32, "64B": 64, "128B": 128}
    if box[contiguous] * dtype.itemsize > widths[swizzle]:
        pytest.skip("a line of the box is wider than the swizzle")
    text, order = box_kernel(shape, box, at, contiguous, element, swizzle)
    rng = np.random.default_rng(5)
    data = rng.integers(0, 120, prod(shape) * dtype.itemsize, np.uint8).view(dtype)
    axes = order[::-1]
    lying = data.reshape([shape[d] for d in axes]).transpose(np.argsort(axes))
    expected = np.zeros_like(lying)
    within = tuple(slice(max(a, 0), min(a + b, n)) for a, b, n in zip(at, box, shape, strict=True))
    expected[within] = lying[within]
    inputs = {"A": lying, "D": np.zeros_like(lying)}
    measured = run_on_gpu(mlir_smem.compile(text), "box", inputs, ["D"], (1,))["D"]
    assert measured.tobytes() == expected.tobytes()


@pytest.mark.parametrize("cluster", [(2, 1, 1), (1, 2, 1), (4, 2, 1)])
def test_ctas_are_in_clusters(cluster):
    along_x, along_y, _ = cluster
    text = RANKS.format(cluster=", ".join(map(str, cluster)))
    y, x = np.mgrid[0:8, 0:8]
    expected = x % along_x + along_x * (y % along_y)
    inputs = {"D": np.full(64, -1, np.int32)}
    measured = run_on_gpu(mlir_smem.compile(text), "ranks", inputs, ["D"], (8, 8))["D"]
    assert (measured.reshape(8, 8) == expected).all()


# Arrays of other packages.


def double(element):
    add = "arith.addi" if element[0] == "i" else "arith.addf"
    return Kernel(mlir_smem.compile(DOUBLE.format(element=element, add=add)))


@pytest.mark.parametrize(
    "element, name",
    [
        ("f64", "float64"),
        ("f32", "float32"),
        ("f16", "float16"),
        ("bf16", "bfloat16"),
        ("i64", "int64"),
        ("i32", "int32"),
        ("i8", "int8"),
    ],
)
@pytest.mark.parametrize("package", ["torch", "cupy", "jax.numpy"])
def test_arrays_of_other_packages(package, element, name):
    library = pytest.importorskip(package)
    if not hasattr(library, name):
        pytest.skip(f"{package} has no {name}")
    array = library.ones(64, dtype=getattr(library, name))
    if array.dtype != getattr(library, name):
        pytest.skip(f"{package} makes {array.dtype} of {name}, unless it is configured otherwise")
    array = array.cuda() if package == "torch" else array
    if package == "jax.numpy":
        array.block_until_ready()
    kernel = double(element)
    kernel.launch(array, grid=(1,))
    kernel.device.sync()
    assert (array == 2).all()


@pytest.mark.parametrize(
    "element, name",
    [
        ("f8E4M3FN", "float8_e4m3fn"),
        ("f8E5M2", "float8_e5m2"),
        ("bf16", "bfloat16"),
        ("ui8", "uint8"),
        ("si8", "int8"),
    ],
)
@pytest.mark.parametrize("package", ["torch", "jax.numpy"])
def test_elements_of_other_packages(package, element, name):
    library = pytest.importorskip(package)
    array = library.ones((64, 64)).astype(name) if package != "torch" else None
    if array is None:
        array = library.ones((64, 64), device="cuda").to(getattr(library, name))
    kernel = Kernel(mlir_smem.compile(COPY.format(element=element)))
    kernel.launch(array, grid=(1,))
    kernel.device.sync()
    with pytest.raises(LaunchError, match="X has elements of float32; expected"):
        kernel.launch(array.astype("float32") if package != "torch" else array.float(), grid=(1,))


def test_a_tensor_that_requires_a_gradient():
    torch = pytest.importorskip("torch")
    kernel = double("f32")
    tensor = torch.ones(64, device="cuda", requires_grad=True)
    kernel.launch(tensor, grid=(1,))
    assert (tensor == 2).all()


def test_a_stream_of_pytorch():
    torch = pytest.importorskip("torch")
    tensor, stream = torch.ones(64, device="cuda"), torch.cuda.Stream()
    prepared = double("f32").prepare(tensor, grid=(1,))
    stream.wait_stream(torch.cuda.current_stream())
    for _ in range(3):
        prepared.launch(stream.cuda_stream)
    stream.synchronize()
    assert (tensor == 8).all()


def test_a_launch_can_be_captured_in_a_graph():
    torch = pytest.importorskip("torch")
    tensor = torch.ones(64, device="cuda")
    prepared = double("f32").prepare(tensor, grid=(1,))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        prepared.launch(torch.cuda.current_stream().cuda_stream)
    graph.replay()
    graph.replay()
    torch.cuda.synchronize()
    assert (tensor == 4).all()


def test_a_thread_without_a_current_gpu():
    from threading import Thread

    torch = pytest.importorskip("torch")
    tensor = torch.ones(64, device="cuda")
    torch.cuda.synchronize()
    prepared = double("f32").prepare(tensor, grid=(1,))
    thread = Thread(target=prepared.launch)
    thread.start()
    thread.join()
    torch.cuda.synchronize()
    assert (tensor == 2).all()


def test_a_kernel_of_a_gpu_that_is_not_current():
    torch = pytest.importorskip("torch")
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    tensor = torch.ones(64, device="cuda:1")
    text = DOUBLE.format(element="f32", add="arith.addf")
    kernel = Kernel(mlir_smem.compile(text), device=1)
    Kernel(mlir_smem.compile(text), device=0)
    kernel.launch(tensor, grid=(1,))
    torch.cuda.synchronize(1)
    assert (tensor == 2).all()
    with pytest.raises(LaunchError, match="X is on GPU 0, but the kernel is on GPU 1"):
        kernel.launch(torch.ones(64, device="cuda:0"), grid=(1,))


def test_a_prepared_launch_is_fast(record_property):
    kernel = Kernel(mlir_smem.compile(RANKS.format(cluster="1, 1, 1")))
    memory = kernel.device.allocate(256, stream=kernel.device.default_stream)
    prepared = kernel.prepare(Matrix(int(memory.handle), (64,), (1,), 4), grid=(1,))
    times = []
    for _ in range(200):
        kernel.device.sync()
        start = time.perf_counter()
        for _ in range(20):
            prepared.launch()
        times.append((time.perf_counter() - start) / 20)
    record_property("launch_us", round(1e6 * float(np.median(times)), 2))
    assert np.median(times) < 20e-6
