"""The names of the package: each is there, and only what compiles and calls kernels loads the runtime."""

import subprocess
import sys

import pytest

import mlir_smem.language as sl
from mlir_smem.language.call.errors import CallError

TRACE = """
import sys
import mlir_smem.language as sl

sl.Fragment, sl.range, sl.zeros
print(*{name.split(".")[1] for name in sys.modules if name.startswith("mlir_smem.")})
sl.kernel
print(*{name.split(".")[1] for name in sys.modules if name.startswith("mlir_smem.")})
"""


def test_what_traces_a_kernel_needs_no_runtime():
    ran = subprocess.run([sys.executable, "-c", TRACE], capture_output=True, text=True, check=True)
    before, after = ({*line.split()} for line in ran.stdout.splitlines())
    assert not before & {"runtime", "codegen", "passes", "emulator"}
    assert after >= {"runtime", "codegen", "passes"}


@pytest.mark.parametrize("name", sl.__all__)
def test_every_public_name_is_an_attribute(name):
    assert getattr(sl, name) is not None
    assert name in dir(sl)


def test_names_that_are_loaded_later_are_the_same_each_time():
    assert sl.CallError is CallError
    assert sl.kernel is sl.kernel and callable(sl.kernel)
    assert isinstance(sl.kernel("(M,64)")(zero_tile), sl.Kernel)


def zero_tile(A):
    sl.store(sl.zeros((64, 64), sl.f32), A[0:64, 0:64])


def test_another_name_is_refused():
    with pytest.raises(AttributeError, match=r"^module '.*language' has no attribute 'triton'$"):
        sl.triton
