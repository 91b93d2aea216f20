"""Mutations of the text of a GEMM with pipelines and partitions, and what checker and emulator report."""

import re

import ml_dtypes
import numpy as np

from fuzz.generated import kernels
from fuzz.generated.kernels import CheckResult, KernelCase
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.kernels.gemm.generator.kernel import build
from mlir_smem.kernels.gemm.generator.problem import Problem


def text_of(config):
    """Return the kernel of `kernels/gemm` with one op on each line."""
    with new_context(), ir.Location.unknown():
        return str(build(Problem(), config))


def run_checker(text) -> CheckResult:
    """Return what `smem-check-async` reports about a module."""
    with new_context():
        return kernels.run_checker(ir.Module.parse(text))


def emulate_text(text, config, extents):
    """Return what the emulator reports about a module: the rules that it breaks, "wrong result", or "".

    The module is run also if the checker rejects it.
    """
    m, n, k = extents
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
    product = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    exact = product.astype(np.float64)
    inputs = {"A": a, "B": b, "C": np.zeros((m, n), ml_dtypes.bfloat16)}
    kernel = KernelCase(text, "gemm", inputs, "C", config.cluster, exact, np.zeros_like(exact))
    return kernels.emulate_kernel(kernels.check_and_lower(kernel).compiled, kernel)


def lines_with(text, pattern):
    """Return the numbers of the lines that match a pattern."""
    return [i for i, line in enumerate(text.splitlines()) if re.search(pattern, line)]


def without_line(text, number):
    """Replace a line by one that does nothing."""
    lines = text.splitlines()
    lines[number] = f"%nothing{number} = arith.constant 0 : index"
    return "\n".join(lines)


def with_number(text, number, name, by):
    """Change an attribute of a line; return None if there is none, or it would be too small."""
    lines = text.splitlines()
    match = re.search(rf"{name} = (\d+)", lines[number])
    if not match or int(match[1]) + by < (name != "pending"):
        return None
    lines[number] = lines[number].replace(match[0], f"{name} = {int(match[1]) + by}")
    return "\n".join(lines)


def with_line_moved(text, number, pattern):
    """Move a line after the next one of its block that matches a pattern; return None if none does."""
    lines = text.splitlines()
    for other in range(number + 1, len(lines)):
        if lines[other].strip().startswith("}") or lines[other].endswith("{"):
            return None
        if re.search(pattern, lines[other]):
            lines.insert(other, lines.pop(number))
            return "\n".join(lines)
    return None


def is_valid(text):
    """Whether a module can be parsed."""
    with new_context():
        try:
            ir.Module.parse(text)
        except ir.MLIRError:
            return False
    return True
