"""compute-sanitizer names the lines of a kernel that was compiled with them.

pytest tests/gpu/test_line_tables_on_chip.py
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

COMMAND = (sys.executable, "-c", "from mlir_smem.tools.entry import smem_run; smem_run()")

#: Each thread writes to its own element, if %first is 0; `LINE` is in front of the write.
KERNEL = """gpu.module @kernels {
  gpu.func @write(%D: memref<128xf32> {smem.name = "D"})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %thread = gpu.thread_id x
    %first = arith.constant FIRST : index
    %at = arith.addi %thread, %first : index
    %one = arith.constant 1.0 : f32
    // LINE
    memref.store %one, %D[%at] : memref<128xf32>
    gpu.return
  }
}
"""


@pytest.fixture
def run(tmp_path):
    """Run the kernel under a tool; return the command's output, the file and the line of the write."""

    def run_under(*tool, first):
        if shutil.which(tool[0]) is None:
            pytest.skip(f"{tool[0]} is not installed")
        path = tmp_path / "write.mlir"
        text = KERNEL.replace("FIRST", str(first))
        path.write_text(text)
        arguments = (str(path), "--debug-info=lines", "--out", f"D={tmp_path}/d.npy")
        command = [*tool, *COMMAND, *arguments, "--grid=1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        line = text.splitlines().index("    // LINE") + 2
        return done.stdout + done.stderr, str(path), line

    return run_under


def test_compute_sanitizer_names_the_line_of_an_access_out_of_bounds(run):
    output, file, line = run("compute-sanitizer", first=1 << 24)
    assert "Invalid __global__ write of size 4 bytes" in output
    assert f"in {file}:{line}" in output or f"in {Path(file).name}:{line}" in output


def test_compute_sanitizer_finds_nothing_in_the_correct_kernel(run, tmp_path):
    output, _, _ = run("compute-sanitizer", first=0)
    assert "ERROR SUMMARY: 0 errors" in output
    assert (np.load(tmp_path / "d.npy") == 1).all()
