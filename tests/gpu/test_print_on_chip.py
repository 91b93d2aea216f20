"""`sl.print` on a chip: the lines of the emulator, in any order."""

import subprocess
import sys

import pytest

#: Prints from uniform code, of one thread, and of the elements of a fragment and of a slice.
PROGRAM = """
import sys
import numpy as np
import mlir_smem.language as sl

@sl.kernel("(64,64), ()")
def kernel(A, n):
    x = sl.load(A[:, :])
    sl.print("100% n", n, A[0, 3], n < 3, 7)
    for k in sl.range(sl.block_id(0) + 1):
        sl.print("k", k)
    if sl.thread_id() == 5:
        sl.print("thread")
    sl.print("x", x[:, 0:8], x.max(axis=1))
    sl.print("columns", x.max(axis=0))

array = np.arange(4096, dtype=np.float32).reshape(64, 64) / 8
if sys.argv[1] == "cpu":
    kernel[2](array, 2, on="cpu")
else:
    import torch
    kernel[2](torch.from_numpy(array).cuda(), 2)
    torch.cuda.synchronize()
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("print") / "program.py"
    path.write_text(PROGRAM)
    return path


def lines(program, machine):
    """What the program prints; the driver writes the lines of a GPU to the process's own output."""
    command = [sys.executable, str(program), machine]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return sorted(run.stdout.splitlines())


def test_a_chip_prints_what_the_emulator_prints(program):
    emulated = lines(program, "cpu")
    assert len(emulated) == 2 * (1 + 1 + 512 + 64) + 3
    assert lines(program, "gpu") == emulated
