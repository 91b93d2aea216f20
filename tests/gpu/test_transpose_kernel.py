"""The kernel of `kernels/transpose.py` on the chip: any extents, and its
bandwidth.

pytest tests/gpu/test_transpose_kernel.py --record FILE
"""

import numpy as np
import pytest
from transposed import EXTENTS, random_matrix, text_of

import mlir_smem
from mlir_smem.runtime import Kernel, run_on_gpu

#: CTAs of a grid that fills an H200: two for each of 132 multiprocessors.
BLOCKS = 264


@pytest.mark.parametrize("grid", [1, BLOCKS])
@pytest.mark.parametrize("extents", [*EXTENTS, (2048, 1040)], ids=str)
@pytest.mark.parametrize("element", ["i8", "f32"])
def test_it_is_right(element, extents, grid):
    x = random_matrix(element, *extents)
    outputs = run_on_gpu(mlir_smem.compile(text_of(element)), "transpose", {"X": x}, ["Y"], (grid,))
    assert np.array_equal(outputs["Y"], x)


@pytest.mark.parametrize("extents", [(1, 1), (129, 65), (3, 300), (300, 3), (1001, 999)], ids=str)
@pytest.mark.parametrize("element", ["i8", "f32"])
def test_lines_may_be_of_any_length(element, extents):
    torch = pytest.importorskip("torch")
    rows, columns = extents
    dtype = {"i8": torch.int8, "f32": torch.float32}[element]
    unit = 16 // dtype.itemsize
    lines = torch.full((columns, -(-rows // unit) * unit), 77, dtype=dtype, device="cuda")
    written = torch.full((rows, -(-columns // unit) * unit), 55, dtype=dtype, device="cuda")
    x, y = lines[:, :rows].T, written[:, :columns]
    x.copy_(torch.randint(-128, 128, extents, device="cuda"))
    kernel = Kernel(mlir_smem.compile(text_of(element)))
    kernel.launch(x, y, grid=(BLOCKS,))
    kernel.device.sync()
    assert torch.equal(x, y)


@pytest.mark.parametrize("element", ["i8", "f32"])
def test_it_is_about_as_fast_as_a_copy(element, record_property):
    torch = pytest.importorskip("torch")
    dtype = {"i8": torch.int8, "f32": torch.float32}[element]
    extent = 16384
    x = torch.zeros((extent, extent), dtype=dtype, device="cuda").T
    y = torch.zeros((extent, extent), dtype=dtype, device="cuda")
    prepared = Kernel(mlir_smem.compile(text_of(element))).prepare(x, y, grid=(BLOCKS,))
    stream = torch.cuda.current_stream().cuda_stream
    ways = {
        "transposed": lambda: prepared.launch(stream),
        "copied": lambda: y.copy_(x.T),
        "by_torch": lambda: y.copy_(x),
    }
    speeds = {}
    for name, way in ways.items():
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        way()
        begin.record()
        for _ in range(10):
            way()
        end.record()
        torch.cuda.synchronize()
        seconds = begin.elapsed_time(end) / 1e3 / 10
        speeds[name] = 2 * y.nbytes / seconds / 1e9
        record_property(f"{name}_gigabytes_per_second", round(speeds[name]))
    assert speeds["transposed"] > 0.7 * speeds["copied"]
