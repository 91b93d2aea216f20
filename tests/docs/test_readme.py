"""The first example of the README: it compiles to the PTX that is shown, and its result is right."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np

from mlir_smem import compile as compile_module
from mlir_smem.runtime import run_on_cpu

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
EXAMPLE = (ROOT / "examples" / "mma.mlir").read_text()


def fenced(language):
    """Return the code blocks of a language."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in blocks if name == language]


def test_kernel_is_the_example():
    assert fenced("mlir") == [EXAMPLE]


def test_the_kernel_in_python_is_the_example():
    shown = next(block for block in fenced("python") if "@sl.kernel" in block)
    kernel = shown[shown.index("@sl.kernel") :]
    assert (ROOT / "examples" / "matmul.py").read_text().endswith(kernel)


def test_ptx_is_what_the_example_compiles_to():
    ptx = compile_module(EXAMPLE).ptx
    shown = next(block for block in fenced("") if block.startswith("or.b64")).splitlines()
    for line in shown:
        code = re.escape(line.split(";")[0]).replace(r"\{\.\.\.\}", r"\{[^}]*\}")
        assert re.search(re.sub(r"(\\ )+", r"\\s+", code), ptx), line


def test_example_is_right():
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, (64, 64)).astype(ml_dtypes.bfloat16) for _ in "AB")
    inputs = {"arg0": a, "arg1": b}
    found = run_on_cpu(compile_module(EXAMPLE, emit="nvvm"), "mma", inputs, ["arg2"], (1,))["arg2"]
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32))
