"""Matrices that an epilogue reads: which TMA loads, and the shared memory that they take."""

from dataclasses import replace

import numpy as np
import pytest
from stand_in import OnGpu

import mlir_smem.language as sl
from mlir_smem.kernels.gemm import Config, ConfigError, Problem, matmul
from mlir_smem.kernels.gemm.call.fusions import fused_call
from mlir_smem.kernels.gemm.generator.fusion import EpilogueOperand, trace_epilogue
from mlir_smem.runtime.arguments import DTYPES

SMALL = Config(tile=(64, 64, 64), stages=2, consumers=1, store_columns=64)

pytestmark = pytest.mark.usefixtures("no_calls")


def array(shape, element="bf16", pointer=0x1000, strides=None):
    strides = strides or tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    return OnGpu(shape, DTYPES[element], strides, pointer)


A, B, C = array((200, 72)), array((72, 136), pointer=0x20000), array((200, 136), pointer=0x40000)


def add(x, bias):
    return x + bias


@pytest.mark.parametrize(
    "properties, by_tma",
    [
        ({"element": "bf16"}, True),
        ({"element": "f16", "strides": (144, 1)}, True),
        ({"element": "bf16", "pointer": 0x60008}, False),
        ({"element": "bf16", "strides": (137, 1)}, False),
        ({"element": "bf16", "strides": (1, 200)}, False),
        ({"element": "bf16", "strides": (0, 1)}, False),
        ({"element": "i32"}, False),
    ],
    ids=str,
)
def test_which_matrices_tma_loads(gpu, properties, by_tma):
    def add(x, bias):
        return x + bias.to(sl.f32)

    operand = array((200, 136), **properties)
    (fused,) = fused_call(add, {"bias": operand}, "f32", (200, 136), 0).fusion.operands
    assert fused.by_tma == by_tma
    matmul(A, B, C, epilogue=add, operands={"bias": operand}, config=SMALL)
    assert len(gpu.maps) == 3 + by_tma


def test_an_operand_of_another_alignment_is_another_kernel(gpu):
    for pointer in (0x60000, 0x60008, 0x70000):
        operand = array((200, 136), "bf16", pointer=pointer)
        matmul(A, B, C, epilogue=add, operands={"bias": operand}, config=SMALL)
    assert len({launch.sharedMemBytes for launch in gpu.launches}) == 2


def test_matrices_of_an_epilogue_take_shared_memory():
    fusion = trace_epilogue(add, [EpilogueOperand("bias", "f32", "mn", by_tma=True)], "f32")
    config = Config((128, 256, 64), 4, store_columns=64)
    with pytest.raises(ConfigError) as error:
        config.check(Problem(fusion=fusion))
    # Two stages for each of two warpgroups, of 64 x 64 f32.
    assert (
        "65536 for matrices of the epilogue, (4 + 12) * 16 = 256 of mbarriers; 3 stages fit"
        in str(error.value)
    )
    config = replace(config, stages=3)
    config.check(Problem(fusion=fusion))
    assert replace(config, exchanged=True).sources(Problem(fusion=fusion)) == ()
