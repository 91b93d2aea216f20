"""The generator needs only layouts, the dialect, the passes and the language."""

import subprocess
import sys

import pytest
from bindings_at_hand import IMPORTS_CUDA

from mlir_smem.kernels.gemm.generator.problem import Problem, ProblemError, item_bytes
from mlir_smem.runtime.arguments import DTYPES

BUILD = """
import sys
from mlir_smem.kernels.gemm import Config, Problem, candidates
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.kernels.transpose import build_transpose

assert "gpu.func @gemm" in text(Problem(), candidates(Problem(), 512, 512, 512)[0])
parts = [module.split(".") for module in sys.modules]
print(*{name[1] for name in parts if name[0] == "mlir_smem" and len(name) > 1})
print(*{"cuda", "torch", "cupy", "jax"} & {name[0] for name in parts})
"""


def test_a_kernel_is_built_without_the_runtime():
    ran = subprocess.run([sys.executable, "-c", BUILD], capture_output=True, text=True, check=True)
    folders, libraries = ran.stdout.split("\n")[:2]
    needed = {"bindings", "dialect", "ir", "kernels", "language", "layout", "passes"}
    assert set(folders.split()) <= needed
    assert libraries == ("cuda" if IMPORTS_CUDA else "")


@pytest.mark.parametrize(
    "element", ["bf16", "f16", "f32", "f8E4M3FN", "f8E5M2", "i8", "ui8", "i32"]
)
def test_item_bytes_are_those_of_numpy(element):
    assert item_bytes(element) == DTYPES[element].itemsize


def test_an_exchanged_problem_is_exchanged_back():
    problem = Problem(a="f8E5M2", b="f8E4M3FN", a_major="k", b_major="k")
    assert (problem.exchanged.a, problem.exchanged.c_major) == ("f8E4M3FN", "m")
    assert problem.exchanged.exchanged == problem


def test_a_result_is_row_or_column_major():
    with pytest.raises(ProblemError) as error:
        Problem(c_major="k")
    assert str(error.value) == "C is k-major; expected n or m"


def test_only_public_names_are_attributes():
    from mlir_smem.kernels import gemm

    assert all(getattr(gemm, name) for name in gemm.__all__)
    assert gemm.ProblemError is ProblemError
    with pytest.raises(AttributeError, match=r"^module '.*gemm' has no attribute 'divide'$"):
        gemm.divide  # noqa: B018
    assert gemm.Problem is Problem
