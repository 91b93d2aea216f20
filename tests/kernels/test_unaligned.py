"""Operands and results of `matmul` that TMA cannot read or write: which copies are launched, of what."""

import sys
import types

import numpy as np
import pytest
from stand_in import OnGpu

from mlir_smem.kernels.gemm import Config, ProblemError, matmul
from mlir_smem.kernels.gemm.call import copies, launches
from mlir_smem.kernels.gemm.call import matmul as matmul_module
from mlir_smem.runtime import Kernel, streams
from mlir_smem.runtime.arguments import DTYPES

SMALL = Config(tile=(64, 64, 64), stages=2, consumers=1, store_columns=64)


class Cut(OnGpu):
    """An array of the stand-in's library that can be cut."""

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.view.ptr, device_id=0)

    @property
    def shape(self):
        return self.view.shape

    @property
    def strides(self):
        return self.view.strides

    def __getitem__(self, part):
        return (self, part)


@pytest.fixture(autouse=True)
def allocations(gpu, monkeypatch, tmp_path):
    """The arrays that a stand-in for CuPy allocates; clear what other tests have cached."""
    arrays = []

    def empty(shape, dtype):
        strides = np.zeros(shape, np.int8).strides
        arrays.append(Cut(shape, np.dtype(dtype), strides, 0x100000 * (1 + len(arrays))))
        return arrays[-1]

    stream = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0))
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(empty=empty, cuda=stream))
    for cls in (OnGpu, Cut):
        monkeypatch.setattr(cls, "__module__", "cupy._core")
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    launches._kernel.cache_clear()
    copies._kernel.cache_clear()
    matmul_module.forget_calls()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    return arrays


def array(shape, strides=None, pointer=0x1000, element="bf16", device=0):
    strides = strides or (shape[-1], 1)
    return Cut(shape, DTYPES[element], strides, pointer, device=device)


def names(gpu):
    return [launch.function.removeprefix("function of ") for launch in gpu.launches]


def maps(gpu):
    """Address, extents and strides in bytes of the tensor maps."""
    return [(m[2], m[3], m[4]) for m in gpu.maps]


def test_an_operand_with_ragged_rows_is_copied(gpu, allocations):
    a, b, c = array((200, 73)), array((73, 136), pointer=0x20000), array((200, 136), None, 0x40000)
    assert matmul(a, b, c, config=SMALL) is c
    assert names(gpu) == ["pad", "gemm"]
    assert [x.view.shape for x in allocations] == [(200, 80)]
    assert maps(gpu)[0] == (0x100000, [73, 200], [160])


def test_small_operands_are_copied_by_one_launch(gpu, allocations):
    a, b, c = array((200, 73)), array((73, 135), None, 0x20000), array((200, 136), None, 0x40000)
    b.view.shape = (73, 136)
    b.view.strides = (137, 1)
    matmul(a, b, c, config=SMALL)
    assert names(gpu) == ["pad_both", "gemm"]
    assert [x.view.shape for x in allocations] == [(200, 80), (73, 136)]


def test_large_operands_are_copied_by_a_launch_each(gpu, allocations):
    a, b, c = array((2000, 1001)), array((1001, 2010), None, 0x20000), array((2000, 2016))
    c.view.shape = (2000, 2010)
    matmul(a, b, config=SMALL)
    assert names(gpu) == ["pad", "pad", "gemm"]
    # One row of A has 1001 words of 2 bytes, and one of B 1005 of 4: of 128 x 16 words each.
    assert [launch.gridDimX for launch in gpu.launches[:2]] == [8 * 125, 8 * 63]


#: Shape, strides and address of an array, and the shape of its copy.
UNREADABLE = [
    ((200, 72), (72, 1), 0x1008, (200, 72)),  # begins between two units
    ((200, 72), (73, 1), 0x1000, (200, 72)),  # rows at odd places
    ((200, 72), (1, 201), 0x1000, (72, 200)),  # columns at odd places
    ((200, 72), (144, 2), 0x1000, (200, 72)),  # no dimension is contiguous
    ((200, 72), (2, 402), 0x1000, (72, 200)),
]


@pytest.mark.parametrize(
    "shape, strides, pointer, copy_shape",
    UNREADABLE,
    ids=[f"shape{i}-strides{i}-{pointer}-kept{i}" for i, (*_, pointer, _) in enumerate(UNREADABLE)],
)
def test_which_dimension_of_a_copy_is_contiguous(
    gpu, allocations, shape, strides, pointer, copy_shape
):
    a = array(shape, strides, pointer)
    matmul(a, array((72, 136), None, 0x20000), config=SMALL)
    assert names(gpu) == ["pad", "gemm"]
    assert allocations[0].view.shape == copy_shape
    assert maps(gpu)[0] == (0x100000, list(copy_shape[::-1]), [copy_shape[1] * 2])


def test_bytes_that_are_not_k_major_are_copied_and_transposed(gpu, allocations):
    a = array((200, 72), (80, 1), element="i8")
    b = array((72, 141), element="i8", pointer=0x20000)
    matmul(a, b, config=SMALL)
    assert names(gpu) == ["pad", "transpose", "gemm"]
    assert [x.view.shape for x in allocations] == [(72, 144), (141, 80), (200, 144)]


def test_bytes_without_a_contiguous_dimension_are_copied_k_major(gpu, allocations):
    a = array((200, 72), (80, 1), element="i8")
    b = array((72, 141), (300, 2), 0x20000, "i8")
    matmul(a, b, config=SMALL)
    assert names(gpu) == ["pad", "gemm"]
    assert allocations[0].view.shape == (141, 80)


def test_matrices_that_share_memory_are_copied_once(gpu, allocations):
    a, b = array((6, 200, 73), (0, 73, 1)), array((6, 73, 136), (73 * 136, 136, 1), 0x20000)
    matmul(a, b, config=SMALL)
    assert names(gpu) == ["pad", "gemm"]
    assert allocations[0].view.shape == (1, 200, 80)


def test_matrices_along_a_dimension_that_both_repeat_are_copied(gpu, allocations):
    """As the gradient of a sum is, which PyTorch expands."""
    a, b = (
        array((3, 5, 64, 72), (0, 64 * 72, 72, 1)),
        array((5, 72, 136), (72 * 136, 136, 1), 0x20000),
    )
    product = matmul(a, b, config=SMALL)
    assert names(gpu) == ["pad", "pad", "pad", "gemm"]
    assert allocations[0].view.shape == (3, 5, 64, 72)
    assert product.view.shape == (3, 5, 64, 136)


def test_either_operand_is_copied_along_what_it_repeats(gpu, allocations):
    a = array((3, 1, 64, 72), (0, 0, 72, 1))
    b = array((5, 72, 136), (0, 136, 1), 0x20000)
    matmul(a, b, config=SMALL)
    assert names(gpu) == ["pad_both", "gemm"]
    assert [x.view.shape for x in allocations[:2]] == [(3, 1, 64, 72), (5, 72, 136)]


@pytest.mark.parametrize("strides", [(0, 1), (1, 0), (0, 0)])
def test_rows_or_columns_that_share_memory_are_copied(gpu, allocations, strides):
    matmul(array((64, 72), strides), array((72, 136), None, 0x20000), config=SMALL)
    assert names(gpu) == ["pad", "gemm"]


def test_a_batch_is_copied_by_one_launch(gpu, allocations):
    a = array((4, 6, 200, 73), (6 * 200 * 73, 200 * 73, 73, 1))
    b = array((73, 136), None, 0x20000)
    matmul(a, b, config=SMALL)
    assert names(gpu) == ["pad", "gemm"]
    # A matrix of 200 x 73 words has 13 windows of 16 x 128.
    assert gpu.launches[0].gridDimX == 24 * 13


def test_a_batch_of_uneven_steps_is_copied_by_several(gpu, allocations):
    a = array((3, 6, 200, 73), (7 * 200 * 73, 200 * 73, 73, 1))
    matmul(a, array((73, 136), None, 0x20000), config=SMALL)
    assert names(gpu) == ["pad", "pad", "pad", "gemm"]


def test_later_calls_copy_again_and_keep_the_launch(gpu, allocations):
    a, b, c = array((200, 73)), array((73, 136), pointer=0x20000), array((200, 136), None, 0x40000)
    for _ in range(3):
        matmul(a, b, c, config=SMALL)
    assert names(gpu) == ["pad", "gemm"] * 3
    assert len(allocations) == 3
    assert len(gpu.maps) == 3
    assert gpu.replaced == [0x200000, 0x300000]


def test_a_later_call_multiplies_its_own_copies(gpu, allocations, monkeypatch):
    b, c = array((73, 136), pointer=0x20000), array((200, 136), None, 0x40000)
    matmul(array((200, 73)), b, c, config=SMALL)
    # What was found in the first call is not looked for again.
    monkeypatch.setattr(matmul_module, "make_readable", None)
    matmul(array((200, 73), pointer=0x61000), b, c, config=SMALL)
    assert names(gpu) == ["pad", "gemm"] * 2
    assert allocations[1].view.shape == allocations[0].view.shape == (200, 80)
    assert gpu.replaced == [allocations[1].view.ptr]


def test_an_address_of_another_alignment_is_another_call(gpu, allocations):
    b, c = array((72, 136), None, 0x20000), array((200, 136), None, 0x40000)
    for pointer in (0x1000, 0x1008, 0x1010):
        matmul(array((200, 72), None, pointer), b, c, config=SMALL)
    assert names(gpu) == ["gemm", "pad", "gemm", "gemm"]


@pytest.mark.parametrize(
    "shape, strides, pointer",
    [
        ((200, 131), (131, 1), 0x40000),  # ragged rows
        ((200, 131), (136, 1), 0x40000),  # TMA would write zeros after their ends
        ((200, 136), (136, 1), 0x40008),
        ((200, 136), (137, 1), 0x40000),
        ((200, 136), (1, 200), 0x40000),
        ((200, 136), (300, 2), 0x40000),
    ],
)
def test_a_result_that_tma_cannot_write_is_copied(gpu, allocations, shape, strides, pointer):
    n = shape[1]
    b = array((72, n), (136, 1), 0x20000)
    out = array(shape, strides, pointer)
    assert matmul(array((200, 72)), b, out, config=SMALL) is out
    assert names(gpu) == ["gemm", "pad"]
    assert allocations[0].view.shape == (200, 136)
    assert maps(gpu)[2] == (0x100000, [n, 200], [272])


def test_later_copies_of_a_result_share_a_plan(gpu, monkeypatch):
    planned, plan = [], Kernel._plan

    def record_plan(kernel, *arguments):
        planned.append(kernel.manifest["entry"])
        return plan(kernel, *arguments)

    monkeypatch.setattr(Kernel, "_plan", record_plan)
    out = array((200, 136), (137, 1), 0x40000)
    for _ in range(3):
        matmul(array((200, 72)), array((72, 136), None, 0x20000), out, config=SMALL)
    (copy,) = {*planned} - {"gemm"}
    assert planned.count(copy) == 1


def test_a_copied_result_is_awaited_after_its_copy(gpu, monkeypatch):
    finished = []
    monkeypatch.setattr(
        matmul_module, "finish", lambda array: finished.append((array, len(gpu.launches)))
    )
    out = array((200, 131), None, 0x40000)
    matmul(array((200, 72)), array((72, 131), (136, 1), 0x20000), out, config=SMALL)
    assert finished[-1] == (out, 2)


def test_a_new_result_with_ragged_rows_is_a_view(gpu, allocations):
    b = array((72, 131), (136, 1), 0x20000)
    for _ in range(2):
        whole, part = matmul(array((200, 72)), b, config=SMALL)
        assert whole is allocations[-1] and part == (..., slice(None, 131))
        assert whole.view.shape == (200, 136)
    assert names(gpu) == ["gemm", "gemm"]


B = array((72, 131), (136, 1), 0x20000)


@pytest.mark.parametrize(
    "a, b, out, message",
    [
        (
            array((200, 72), (-73, 1)),
            B,
            None,
            "A has the strides [-73, 1] (elements); expected none below 0",
        ),
        (
            array((200, 72)),
            array((72, 136), (-136, 1)),
            None,
            "B has the strides [-136, 1] (elements); expected none below 0",
        ),
        (array((200, 72)), B, array((131, 201)), "C is 131x201; expected 200x131"),
        (
            array((200, 72)),
            B,
            array((200, 131), device=1),
            "C is on GPU 1, but A is on GPU 0; expected the same GPU",
        ),
        (
            array((200, 72)),
            B,
            array((200, 131), (0, 1)),
            "C of [200, 131] has the strides [0, 1]; expected strides above 0, and elements that "
            "share no memory",
        ),
        (
            array((200, 72)),
            B,
            array((200, 131), (130, 1)),
            "C of [200, 131] has the strides [130, 1]; expected strides above 0, and elements that "
            "share no memory",
        ),
        (
            array((200, 72)),
            B,
            array((200, 131), (131, -1)),
            "C of [200, 131] has the strides [131, -1]; expected strides above 0, and elements that "
            "share no memory",
        ),
    ],
)
def test_what_is_not_copied(gpu, a, b, out, message):
    with pytest.raises(ProblemError) as error:
        matmul(a, b, out, config=SMALL)
    assert str(error.value) == message
    assert gpu.launches == []


@pytest.mark.parametrize("name", ["A", "C"])
def test_a_copy_in_an_unknown_library(gpu, monkeypatch, name):
    monkeypatch.setattr(Cut, "__module__", "stand_in")
    a = array((200, 72), (73, 1) if name == "A" else None)
    out = array((200, 136), (137, 1) if name == "C" else None, 0x40000)
    with pytest.raises(ProblemError) as error:
        matmul(a, array((72, 136), None, 0x20000), out, config=SMALL)
    assert str(error.value) == (
        f"cannot make an array of stand_in for a copy of {name}; use arrays of torch, cupy or jax"
    )
    assert gpu.launches == []
