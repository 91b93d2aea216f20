"""Launches of kernels that split K: their workspace belongs to the stream."""

import gc
from dataclasses import replace

import pytest
from stand_in import OnGpu

from mlir_smem.kernels.gemm import Config, matmul, prepare
from mlir_smem.kernels.gemm.call import launches
from mlir_smem.kernels.gemm.call import matmul as matmul_module
from mlir_smem.runtime.arguments import DTYPES
from mlir_smem.runtime.scratch import Scratch

SPLIT = Config(tile=(64, 64, 64), stages=2, consumers=1, store_columns=64, split_k=2)


@pytest.fixture(autouse=True)
def fresh(gpu, monkeypatch, tmp_path):
    launches._kernel.cache_clear()
    matmul_module.forget_calls()
    monkeypatch.setattr(launches, "_PARTS", Scratch())
    monkeypatch.setattr(launches, "_SEMAPHORES", Scratch())
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))


def array(shape, pointer):
    return OnGpu(shape, DTYPES["bf16"], (shape[1], 1), pointer)


A, B, C = array((200, 136), 0x1000), array((136, 136), 0x20000), array((200, 136), 0x40000)

#: 4 x 3 tiles in 2 parts; two places of 64 x 64 f32 and two semaphores for each CTA.
PARTS, SEMAPHORES = 24 * 2 * 64 * 64 * 4, 24 * 2 * 4


def test_a_workspace_is_made_once_for_a_stream(gpu):
    for _ in range(2):
        matmul(A, B, C, config=SPLIT)
    assert gpu.launches[0].gridDimX == 24
    assert gpu.allocated == [PARTS, SEMAPHORES]
    assert [(value, size) for _, value, size in gpu.zeroed] == [(0, PARTS), (0, SEMAPHORES)]
    matmul(A, B, C, config=SPLIT, stream=7)
    assert gpu.allocated == [PARTS, SEMAPHORES] * 2


def test_shapes_share_a_workspace(gpu):
    matmul(A, B, C, config=SPLIT)
    few = array((64, 136), 0x1000), B, array((64, 136), 0x40000)
    matmul(*few, config=SPLIT)
    assert gpu.allocated == [PARTS, SEMAPHORES]


def test_a_prepared_launch_has_a_workspace_of_its_own(gpu):
    launch = prepare(A, B, C, SPLIT)
    for stream in (1, 7):
        launch.launch(stream)
    assert gpu.allocated == [PARTS, SEMAPHORES]
    del launch
    gc.collect()
    assert len(gpu.freed) == 2


def test_exchanged_operands(gpu):
    """The kernel's A is B^T, and its C is C^T."""
    config = replace(SPLIT, split_k=1, exchanged=True)
    matmul(A, B, C, config=config)
    assert [(m[2], m[3]) for m in gpu.maps] == [
        (0x20000, [136, 136]),
        (0x1000, [136, 200]),
        (0x40000, [136, 200]),
    ]
    assert [m[5] for m in gpu.maps] == [[64, 64]] * 3
    matmul(array((200, 136), 0x9000), B, C, config=config)
    assert gpu.replaced == [0x9000]
