"""The CUDA C++ that `smem-layout choose --emit cuda` prints, in kernels on the chip.

The kernels fill tiles at the printed offsets and multiply them by the printed descriptors; with integers
every sum is exact.
"""

import numpy as np
import pytest
from emitted_kernels import emitted_cases

from mlir_smem.runtime.gpu import Buffer


def run_case(case):
    """Return the chip's D, by a kernel that NVRTC compiles."""
    from cuda.bindings import driver
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device(0)
    device.set_current()
    program = Program(case.source, "c++", ProgramOptions(arch="sm_90a", std="c++17"))
    code = program.compile("cubin")
    kernel = code.get_kernel("product")
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    size = case.shared_bytes
    error, *_ = driver.cuKernelSetAttribute(attribute, size, kernel.handle, device.device_id)
    assert error == driver.CUresult.CUDA_SUCCESS, f"{size} bytes of shared memory: {error}"
    # Elements that the kernel does not write differ from any result.
    blank = np.full_like(case.expected_product(), -(2**20) - 1)
    buffers = [
        Buffer(device, np.ascontiguousarray(array)) for array in (*case.packed_inputs(), blank)
    ]
    device.sync()
    stream = device.create_stream()
    config = LaunchConfig(grid=1, block=128, shmem_size=size)
    launch(stream, config, kernel, *(buffer.matrix.pointer for buffer in buffers))
    stream.sync()
    return buffers[2].read()


@pytest.mark.parametrize("case", emitted_cases(), ids=str)
def test_the_product_is_exact(case):
    np.testing.assert_array_equal(run_case(case), case.expected_product())
