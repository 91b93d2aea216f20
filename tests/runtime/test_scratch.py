"""Scratch memory of kernels: zeroed once, kept for a stream, larger when needed."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest
import stand_in
from stand_in import Result

from mlir_smem.runtime import LaunchError
from mlir_smem.runtime.scratch import DeviceMemory, Scratch

CONTEXT = 0xC0

#: A program that holds memory to its end; the driver says what it frees.
PROGRAM = f"""
import sys
sys.path.insert(0, {str(Path(stand_in.__file__).parent)!r})
import pytest
import stand_in
from mlir_smem.runtime.scratch import DeviceMemory

stand_in.install(pytest.MonkeyPatch())
from cuda.bindings import driver
driver.cuMemFree = print
freed, sys.held = (DeviceMemory({CONTEXT}, 1000) for _ in range(2))
del freed
"""


def test_memory_is_zeroed_and_freed(gpu):
    memory = DeviceMemory(CONTEXT, 1000)
    assert gpu.allocated == [1000]
    assert gpu.zeroed == [(memory.address, 0, 1000)]
    address = memory.address
    del memory
    gc.collect()
    assert gpu.freed == [address]
    # The context that was current before is again.
    assert gpu.current == [0]


def test_a_process_ends_without_a_word_to_the_driver():
    """The driver's module may be gone by then."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=False, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr, done.returncode) == (f"{0x10000000}\n", "", 0)


def test_it_can_be_made_while_a_stream_is_captured(gpu):
    memory = DeviceMemory(CONTEXT, 16)
    assert gpu.modes == ["CU_STREAM_CAPTURE_MODE_RELAXED", "CU_STREAM_CAPTURE_MODE_GLOBAL"]
    assert memory.size == 16


def test_a_gpu_without_memory(gpu):
    gpu.refusals["allocate"] = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(LaunchError) as error:
        DeviceMemory(CONTEXT, 2**40)
    assert str(error.value) == (
        "the GPU has no 1099511627776 bytes for a kernel's scratch memory: cuMemAlloc: "
        "CUDA_ERROR_INVALID_VALUE"
    )
    assert gpu.current == [0]
    assert gpu.modes[-1] == "CU_STREAM_CAPTURE_MODE_GLOBAL"


def test_a_stream_keeps_its_memory(gpu):
    scratch = Scratch()
    first = scratch.address(CONTEXT, 1, 1000)
    assert scratch.address(CONTEXT, 1, 1000) == scratch.address(CONTEXT, 1, 10) == first
    other_stream, other_gpu = scratch.address(CONTEXT, 2, 10), scratch.address(CONTEXT + 1, 1, 10)
    assert len({first, other_stream, other_gpu}) == 3
    assert gpu.allocated == [1000, 10, 10]


def test_more_memory_is_made_and_the_old_is_kept(gpu):
    scratch = Scratch()
    sizes = (100, 101, 150, 1000)
    addresses = [scratch.address(CONTEXT, 1, size) for size in sizes]
    assert gpu.allocated == [100, 200, 1000]
    assert addresses[1] == addresses[2] and len(set(addresses)) == 3
    gc.collect()
    assert gpu.freed == []
