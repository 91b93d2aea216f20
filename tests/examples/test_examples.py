"""Every example on the emulator, compared with NumPy."""

import subprocess
import sys
from pathlib import Path

import attention_example
import ml_dtypes
import numpy as np
import pytest
from scaled_gemm import FORMATS, TILES

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.runtime import run_on_cpu

EXAMPLES = Path(__file__).parents[2] / "examples"


def matmul(text, m, n, k, element="bf16"):
    """Return the example's C, and the exact one."""
    random = np.random.default_rng(m + n + k)
    dtype = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}[element]
    a = random.standard_normal((m, k)).astype(dtype)
    b = random.standard_normal((k, n)).astype(dtype)
    compiled = mlir_smem.compile(text, emit="nvvm")
    c = run_on_cpu(compiled, "matmul", {"A": a, "B": b}, ["C"])["C"].astype(np.float64)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    return c, exact


def assert_close(c, exact):
    """Check C: sums are exact to 2^-20 of their size here; the result is rounded to bf16."""
    assert (np.abs(c - exact) <= 2.0**-8 * np.abs(exact) + 2.0**-12).all()


@pytest.mark.parametrize("m, n, k", [(128, 256, 64), (256, 256, 256), (128, 512, 320)])
def test_matmul(m, n, k):
    assert_close(*matmul((EXAMPLES / "matmul.mlir").read_text(), m, n, k))


@pytest.mark.parametrize("element, output, tile_n", [("bf16", "f32", 128), ("f16", "bf16", 64)])
def test_the_kernel_that_python_builds(element, output, tile_n):
    sys.path.insert(0, str(EXAMPLES))
    import build_matmul

    with mlir_smem.register(ir.Context()), ir.Location.unknown():
        text = str(build_matmul.matmul(element, output, tile_n))
    assert_close(*matmul(text, 128, 256, 192, element))


@pytest.mark.parametrize("t", [64, 192])
def test_attention(t):
    inputs = attention_example.inputs(t)
    compiled = mlir_smem.compile(attention_example.TEXT, emit="nvvm")
    attention_example.check(run_on_cpu(compiled, "attention", inputs, ["O", "L"]), inputs)


@pytest.mark.parametrize("example", TILES)
@pytest.mark.parametrize("name", FORMATS)
def test_block_scaled_examples(name, example):
    form, (m, n) = FORMATS[name], TILES[example]
    for arch in ("sm_100a", "sm_103a") if form.is_long else ("sm_100a",):
        compiled = mlir_smem.compile(form.text(example), arch=arch, emit="nvvm")
        # Fewer K blocks than stages, and more.
        for rows, columns, k_blocks in ((2 * m, n, 1), (m, 2 * n, 2 * form.stages + 1)):
            values = form.values(rows, columns, k_blocks * form.k)
            c = run_on_cpu(compiled, example, form.inputs(values), ["C"])["C"]
            assert np.array_equal(c, form.expected_c(values)), (arch, k_blocks)


def test_no_example_is_forgotten():
    tracked = subprocess.run(
        ["git", "ls-files", EXAMPLES], capture_output=True, text=True, check=True, cwd=EXAMPLES
    )
    files = {Path(file).parts[0] for file in tracked.stdout.split()}
    examples = files - {"__init__.py", "__main__.py"}
    assert examples == {
        "attention.mlir",
        "attention.py",
        "attention_backward.py",
        "build_matmul.py",
        "convolution.py",
        "gemm.py",
        "hosts",
        "int4_matmul.py",
        "manual_sync",
        "matmul.mlir",
        "matmul.py",
        "mma.mlir",
        "nvfp4.mlir",
        "nvfp4.py",
        "nvfp4_pair.mlir",
        "plain_loops.py",
        "softmax.py",
        "ssd.py",
    }
