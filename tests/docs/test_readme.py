"""The README: its length, what its blocks compute and print, and the examples that it shows."""

import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

from mlir_smem import compile as compile_module
from mlir_smem.runtime import run_on_cpu

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
EXAMPLE = (ROOT / "examples" / "mma.mlir").read_text()


def blocks(language):
    """Return the code blocks of a language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in fenced if name == language]


def test_the_first_screen_is_short():
    lines = README.splitlines()
    assert len(lines) <= 110
    assert [line for line in lines if len(line) > 120] == []


def test_the_first_kernel_prints_what_is_shown(tmp_path):
    (tmp_path / "first.py").write_text(blocks("python")[0])
    command = [sys.executable, "first.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == blocks("text")[0]


def test_the_kernel_in_ir_is_the_example():
    def ops(text):
        code = (line.partition("//")[0] for line in text.splitlines())
        return [" ".join(line.split()) for line in code if line.strip()]

    (shown,) = blocks("mlir")
    lines = ops(EXAMPLE)
    first = lines.index(ops(shown)[0])
    assert lines[first : first + len(ops(shown))] == ops(shown)


def test_ptx_is_what_the_example_compiles_to():
    ptx = compile_module(EXAMPLE).ptx
    for line in blocks("text")[1].splitlines():
        code = re.escape(line.split(";")[0]).replace(r"\{\.\.\.\}", r"\{[^}]*\}")
        assert re.search(re.sub(r"(\\ )+", r"\\s+", code), ptx), line


def test_example_is_right():
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, (64, 64)).astype(ml_dtypes.bfloat16) for _ in "AB")
    inputs = {"arg0": a, "arg1": b}
    product = run_on_cpu(compile_module(EXAMPLE, emit="nvvm"), "mma", inputs, ["arg2"], (1,))[
        "arg2"
    ]
    np.testing.assert_array_equal(product, a.astype(np.float32) @ b.astype(np.float32))
