"""A GEMM with pipelines and partitions, damaged in its text: what the checker and the emulator say of it."""

import re

import ml_dtypes
import numpy as np

from fuzz.generated import kernels
from fuzz.generated.kernels import CheckResult, Kernel
from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir
from mlir_smem.kernels.gemm.generator.kernel import build
from mlir_smem.kernels.gemm.generator.problem import Problem


def text_of(config):
    """The kernel of `kernels/gemm`, each op on a line of its own."""
    with new_context(), ir.Location.unknown():
        return str(build(Problem(), config))


def checked(text) -> CheckResult:
    """What `smem-check-async` says of a module."""
    with new_context():
        return kernels.checked(ir.Module.parse(text))


def emulated(text, config, extents):
    """What the emulator says of a module, whatever the checker says: the rules that it breaks, "wrong
    result", or nothing."""
    m, n, k = extents
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
    right = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    exact = right.astype(np.float64)
    inputs = {"A": a, "B": b, "C": np.zeros((m, n), ml_dtypes.bfloat16)}
    kernel = Kernel(text, "gemm", inputs, "C", config.cluster, exact, np.zeros_like(exact))
    return kernels.emulated(kernels.evaluated(kernel).compiled, kernel)


def lines_with(text, pattern):
    """The numbers of the lines in which a pattern is found."""
    return [i for i, line in enumerate(text.splitlines()) if re.search(pattern, line)]


def without_line(text, number):
    """The text with a line that does nothing in the place of another."""
    lines = text.splitlines()
    lines[number] = f"%nothing{number} = arith.constant 0 : index"
    return "\n".join(lines)


def with_number(text, number, name, by):
    """The text with an attribute of a line changed; None if it has none, or it would be negative."""
    lines = text.splitlines()
    found = re.search(rf"{name} = (\d+)", lines[number])
    if not found or int(found[1]) + by < (name != "pending"):
        return None
    lines[number] = lines[number].replace(found[0], f"{name} = {int(found[1]) + by}")
    return "\n".join(lines)


def with_line_moved(text, number, pattern):
    """The text with a line behind the next one of its block that has a pattern; None if none has."""
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
