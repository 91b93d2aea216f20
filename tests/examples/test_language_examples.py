"""The examples in the kernel language: on the emulator, against float64 and against the IR by hand."""

import re
from pathlib import Path

import attention_example as reference
import ml_dtypes
import numpy as np
import pytest
from kernel_lines import kernel_lines
from scaled_gemm import FORMATS

import mlir_smem
import mlir_smem.language as sl
from mlir_smem.examples.attention import attention
from mlir_smem.examples.gemm import gemm
from mlir_smem.examples.matmul import matmul
from mlir_smem.examples.nvfp4 import nvfp4
from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.kernel import text

EXAMPLES = Path(__file__).parents[2] / "examples"

_ATTENTION = (sl.f16, sl.f16, sl.f16, sl.f32, sl.f32, sl.f32)


def renumber_registers(ptx: str) -> list[str]:
    """The instructions of PTX; registers of a kind are numbered in the order in which they appear."""
    numbers: dict[str, str] = {}

    def number(register: re.Match[str]) -> str:
        return numbers.setdefault(register[0], f"%{register[1]}{len(numbers)}")

    lines = [line for line in ptx.splitlines() if not line.strip().startswith((".reg", "//"))]
    return [re.sub(r"%([a-z]+)\d+\b", number, line) for line in lines]


@pytest.mark.parametrize("kernel, most", [(matmul, 20), (attention, 60), (gemm, 60)])
def test_a_kernel_is_short(kernel, most):
    name = kernel.__name__
    lines = kernel_lines((EXAMPLES / f"{name}.py").read_text(), name)
    assert len(lines) <= most
    assert max(map(len, lines)) <= 106


@pytest.mark.parametrize("kernel", [matmul, attention, gemm])
def test_the_page_of_comparisons_counts_the_lines(kernel):
    name = kernel.__name__
    page = (EXAMPLES.parent / "docs" / "language_compared.md").read_text()
    lines = kernel_lines((EXAMPLES / f"{name}.py").read_text(), name)
    assert f"(../examples/{name}.py) | {len(lines)} |" in page


@pytest.mark.parametrize("t", [64, 192])
@pytest.mark.parametrize("keys", [64, 32])
def test_attention(t, keys):
    inputs = reference.inputs(t)
    outputs = {"O": np.zeros((t, 64), np.float32), "L": np.zeros(t, np.float32)}
    arrays = [inputs[name] for name in "QKV"]
    scale = float(inputs["Scale"][0])
    attention(*arrays, scale, *outputs.values(), keys=keys, on="cpu")
    reference.check(outputs, inputs)


def test_attention_of_wider_heads():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((128, 128)).astype(ml_dtypes.bfloat16) for _ in range(3))
    o, log = np.zeros((128, 128), np.float32), np.zeros(128, np.float32)
    attention(q, k, v, 0.125, o, log, d=128, on="cpu")
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.where(np.tri(128, dtype=bool), 0.125 * q @ k.T, -np.inf)
    weights = np.exp2(scores - scores.max(axis=1, keepdims=True))
    expected = weights / weights.sum(axis=1, keepdims=True) @ v
    # A weight is rounded to 8 bits.
    assert np.abs(o - expected).max() <= 2.0**-8 * np.abs(v).max()


@pytest.mark.parametrize(
    "name, constants",
    [
        ("nvfp4", {}),
        ("mxfp4", {"factor": sl.e8m0, "factors": 8}),
        ("mxfp8", {"element": sl.e4m3, "factor": sl.e8m0, "step": 128, "factors": 4}),
    ],
)
def test_block_scaled_formats(name, constants):
    form = FORMATS[name]
    for rows, columns, k_blocks in ((256, 128, 1), (128, 256, 9)):
        values = form.values(rows, columns, k_blocks * form.k)
        inputs = form.inputs(values)
        c = np.zeros((rows, columns), ml_dtypes.bfloat16)
        operands = [inputs[operand] for operand in ("A", "B", "SA", "SB")]
        nvfp4(*operands, float(values["Alpha"][0]), c, on="cpu", arch="sm_100a", **constants)
        assert np.array_equal(c, form.expected_c(values))


@pytest.mark.parametrize("kernel, types", [(attention, _ATTENTION), (gemm, (sl.bf16,) * 3)])
def test_a_kernel_is_proven(kernel, types):
    assert not kernel.check(*types)


@pytest.mark.parametrize(
    "m, n, k, grid, constants",
    [
        (128, 256, 64, (1,), {}),
        (200, 328, 200, (2,), {}),
        (264, 136, 72, (2,), {"bn": 128, "width": 64, "stages": 2, "group": 1}),
        (120, 64, 320, (1,), {"bn": 64, "width": 64, "stages": 3}),
    ],
)
@pytest.mark.parametrize("element", ["bfloat16", "float16"])
def test_gemm(m, n, k, grid, constants, element):
    dtype = np.dtype(getattr(ml_dtypes, element, element))
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), dtype)
    gemm[grid](a, b, c, on="cpu", **constants)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(c, expected.astype(dtype))


def test_the_gemm_is_that_of_the_generator():
    """The generator's kernel waits for the kernel before it; the example has no dependent launch."""
    by_hand = text(Problem(a="bf16", b="bf16", c="bf16", a_major="k", b_major="n"), Config())
    by_hand = re.sub(r"\n *nvvm\.griddepcontrol[^\n]*", "", by_hand)
    expected = renumber_registers(mlir_smem.compile(by_hand).ptx)
    assert renumber_registers(gemm.ptx(sl.bf16, sl.bf16, sl.bf16)) == expected
